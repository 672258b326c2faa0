"""A transaction of ten keys applied to few keys and to many, on a follower's path except for the broker.

    apply FEW MANY TRANSACTIONS [FOLDER]

The path is: batch -> delta builder -> store -> publisher. The two sizes take turns, so that fluctuations of the machine
affect both; keys are random. With a folder, both stores are on disk.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.programs.common import key_of, percentile, tell
from kafka_replica.publication.health import Health
from kafka_replica.publication.publisher import Publisher
from kafka_replica.records import Partition, Position
from kafka_replica.replication.delta_builder import DeltaBuilder
from kafka_replica.stores import MemoryStore, RocksStore, Store
from kafka_replica.transactions import Batch, Kind, ParsedContent

_WHERE = Partition("bench", 0)
_VALUE_BYTES = 200
_A_TRANSACTION = 10


class ReplicationPath:
    """The delta builder, store and publisher, connected as by a follower of one partition."""

    def __init__(self, keys: int, folder: str | None = None) -> None:
        self._store: Store = MemoryStore() if folder is None else RocksStore(Path(folder) / str(keys))
        self._publisher = Publisher(Health(stalled_after_s=10, blocked_after_s=1))
        self._delta_builder = DeltaBuilder(self._store.newest, {"bench": b""}, {"bench": 0})
        self._delta_builder.add(_WHERE)
        self._keys = keys
        self._offset = 0
        self._dice = random.Random(keys)
        self.apply(self.batch(range(keys)))

    def batch(self, numbers: Sequence[int]) -> Batch:
        """Return a batch of new records with these keys."""
        first = self._offset
        records = [
            (key_of(number), self._dice.randbytes(_VALUE_BYTES), first + at, 0, ()) for at, number in enumerate(numbers)
        ]
        self._offset = end = first + len(records) + 1  # the marker of the transaction
        return Batch(_WHERE, Kind.DATA, first, end - 1, len(records), 1, 0, ParsedContent(records))

    def some(self) -> Batch:
        """Return a transaction of random keys."""
        return self.batch([self._dice.randrange(self._keys) for _ in range(_A_TRANSACTION)])

    def apply(self, batch: Batch) -> float:
        """Apply a batch as the follower does at a consistent point; return the time it took, in microseconds."""
        began_s = time.perf_counter()
        self._delta_builder.add_committed([batch])
        position = Position({_WHERE: batch.end + 1})
        applied = self._store.apply(self._delta_builder.take(position), position)
        self._publisher.published(self._store.snapshot(), applied, 1)
        return (time.perf_counter() - began_s) * 1e6


def main() -> None:
    """Build both states, then apply transactions in turn."""
    few, many, transactions = map(int, sys.argv[1:4])
    folder = next(iter(sys.argv[4:]), None)
    roads = {few: ReplicationPath(few, folder), many: ReplicationPath(many, folder)}
    took_us: dict[int, list[float]] = {few: [], many: []}
    for _ in range(transactions):
        for keys, road in roads.items():
            took_us[keys].append(road.apply(road.some()))
    few_us, many_us = (percentile(took_us[keys][transactions // 10 :], 0.5) for keys in (few, many))
    tell(what="applying 10 keys", few=few, few_p50_us=few_us, many=many, many_p50_us=many_us)


if __name__ == "__main__":
    main()
