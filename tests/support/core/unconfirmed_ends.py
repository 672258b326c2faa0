"""Fake brokers that cannot confirm the ends of partitions."""

from __future__ import annotations

import pytest

from kafka_replica import Partition
from kafka_replica.testing.fake_reader import FakeReader


def set_unconfirmed(monkeypatch: pytest.MonkeyPatch) -> set[Partition]:
    """Return a set, empty at first, of the partitions whose ends fake brokers do not confirm from now on."""
    opened, queried = FakeReader.open, FakeReader.ends
    partitions: set[Partition] = set()
    monkeypatch.setattr(
        FakeReader, "open", lambda reader, point=None: opened(reader, point)._replace(unconfirmed=frozenset(partitions))
    )
    monkeypatch.setattr(FakeReader, "ends", lambda reader: queried(reader)._replace(unconfirmed=frozenset(partitions)))
    return partitions
