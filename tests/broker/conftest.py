"""What tests on a real broker share."""

from __future__ import annotations

import pytest

from kafka_replica import Replica


@pytest.fixture(params=["markers", "quiet points"])
def evidence(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both kinds of evidence, one after the other: every replica of the test reads by it."""
    kind: str = request.param
    defaults = dict(Replica.__init__.__kwdefaults__ or {})
    monkeypatch.setattr(Replica.__init__, "__kwdefaults__", {**defaults, "evidence": kind})
    return kind
