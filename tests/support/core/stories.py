"""A comparison of a story with all rules and with one rule switched off."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafka_replica.transactions import MarkerDetector, QuiescenceDetector
from support.core.model_follower import Parts
from support.core.model_oracle import BrokenError

Story = Callable[[Parts], None]
MARKERS, QUIET = Parts(rule=MarkerDetector), Parts(rule=QuiescenceDetector)


def check_needed(story: Story, parts: Parts, off: Parts, match: str) -> None:
    """Check that the story passes, and that with the rule off it is found broken, in the intended way."""
    story(parts)
    with pytest.raises(BrokenError, match=match):
        story(off)
