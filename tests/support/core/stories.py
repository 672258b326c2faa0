"""How a story is told twice: with all rules, and with one switched off."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafka_replica.transactions import MarkerDetector, QuiescenceDetector
from support.core.model_follower import Parts
from support.core.model_oracle import BrokenError

Story = Callable[[Parts], None]
MARKERS, QUIET = Parts(rule=MarkerDetector), Parts(rule=QuiescenceDetector)


def check_needed(story: Story, parts: Parts, off: Parts, match: str) -> None:
    """The story passes, and with the rule off it is found broken, in the way meant."""
    story(parts)
    with pytest.raises(BrokenError, match=match):
        story(off)
