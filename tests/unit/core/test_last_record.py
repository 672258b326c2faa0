"""Reading partitions to their ends as a plain consumer, with a substituted consumer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_replica import Partition, Position
from kafka_replica.broker.reading import last_record
from kafka_replica.errors import BrokerUnavailableError

BUSY, HANGING = Partition("t", 0), Partition("t", 1)
ENDS = SimpleNamespace(last_stable=Position({BUSY: 2, HANGING: 3}), high_watermarks=Position({BUSY: 2, HANGING: 5}))


class Consumer:
    """A consumer that always has new messages of one partition, and three of another one."""

    def __init__(self) -> None:
        self.offsets = {BUSY: 0, HANGING: 0}

    def assign(self, _partitions: object) -> None:
        """Assign partitions."""

    def consume(self, _count: int, timeout_s: float) -> list[Any]:
        """Return the next message of each partition that has one."""
        time.sleep(timeout_s)
        found = [place for place in self.offsets if place == BUSY or self.offsets[place] < 3]
        messages = [_message(place, self.offsets[place]) for place in found]
        for place in found:
            self.offsets[place] += 1
        return messages

    def position(self, partitions: list[Any]) -> list[Any]:
        """Return the positions."""
        offsets = {place.partition: offset for place, offset in self.offsets.items()}
        return [
            SimpleNamespace(topic=each.topic, partition=each.partition, offset=offsets[each.partition])
            for each in partitions
        ]


def _message(place: Partition, offset: int) -> Any:
    values = {"error": None, "topic": place.topic, "partition": place.partition, "offset": offset, "key": b"k"}
    return SimpleNamespace(**{name: lambda value=value: value for name, value in values.items()}, value=lambda: b"v")


@pytest.mark.thorough
def test_an_open_transaction_is_not_waited_for_because_another_partition_is_busy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The time limit holds for the partitions that are not read to their ends yet."""

    @contextmanager
    def consumer(_config: object, _doing: str) -> Iterator[Consumer]:
        yield Consumer()

    topics = SimpleNamespace(
        beginnings=lambda *_: Position({BUSY: 0, HANGING: 0}),
        ends=lambda *_: ENDS,
    )
    monkeypatch.setattr(last_record, "Topics", lambda _: topics)
    monkeypatch.setattr(last_record, "_consumer", consumer)
    records = last_record.committed_records({}, [BUSY, HANGING], 2.0, {})
    found = [next(records).offset for _ in range(5)]
    assert sorted(found) == [0, 0, 1, 1, 2]
    with pytest.raises(BrokerUnavailableError, match="t-1 is not read to its end"):
        next(records)
