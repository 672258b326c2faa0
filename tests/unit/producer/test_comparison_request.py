"""A comparison that is requested at the worst moment takes place."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from kafka_replica.producer.postgres import TableSource, TableSourceSettings
from kafka_replica.producer.postgres.operations import REQUESTED


class RequestedJustAfter(threading.Event):
    """An event that another thread sets just after the source has looked at it for the first time."""

    def is_set(self) -> bool:
        """Return the state, then set the event."""
        found = super().is_set()
        self.set()
        return found


class Recorded:
    """A connection and a copy in one, which note the reason for each comparison."""

    offset, tx_id = None, 0

    def __init__(self) -> None:
        self.reasons: list[str | None] = []

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Return a snapshot."""
        yield

    def step(self, _table: None, reason: str | None) -> int:
        """Note the reason."""
        self.reasons.append(reason)
        return 0


def test_no_request_is_lost() -> None:
    """A request that comes while the source looks for one is met by the next snapshot."""
    settings = TableSourceSettings("postgresql://nowhere", "public.t", "t", "id", {"bootstrap.servers": "localhost:1"})
    source = TableSource(settings)
    source._requested = RequestedJustAfter()
    recorded = cast("Any", Recorded())
    for _ in range(2):
        source._copy_snapshot(recorded, recorded)
    assert recorded.reasons == [None, REQUESTED]
