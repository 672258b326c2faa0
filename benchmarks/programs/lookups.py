"""``snapshot.get`` against ``dict.get``: the same keys, all of them, in random order.

    lookups KEYS VALUE_BYTES PASSES

The dict has key and value. The keys of queries are equal to the stored keys but are not the same objects, and are new
for each pass, like keys that arrive with requests. The records are those that a reader makes of batches. Where they are
parsed in Python, the first pass of the snapshot creates a ``Record`` for each key; later passes find it.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable

from aiokafka.record.default_records import DefaultRecordBatchBuilder

from benchmarks.programs.common import key_of, tell
from kafka_replica.broker.reading.record_parsing import parse_records
from kafka_replica.records import Partition, Position
from kafka_replica.stores import MemoryStore, Snapshot
from kafka_replica.stores.delta import Delta

_WHERE = Partition("bench", 0)
_BATCH_RECORDS = 100


def kept(keys: int, value_bytes: int) -> tuple[dict[bytes, bytes], Snapshot]:
    """Store the same keys and values in both; the objects differ."""
    dice = random.Random(1)
    mapping = {key_of(number): dice.randbytes(value_bytes) for number in range(keys)}
    delta = Delta(source=_WHERE)
    for first in range(0, keys, _BATCH_RECORDS):
        batch = DefaultRecordBatchBuilder(2, 0, 0, -1, -1, -1, 1 << 30)
        for at, number in enumerate(range(first, min(first + _BATCH_RECORDS, keys))):
            key = key_of(number)
            batch.append(at, 0, key, mapping[key], [])
        delta.add(parse_records(first.to_bytes(8, "big") + bytes(batch.build())[8:], _WHERE))
    store = MemoryStore()
    store.apply(delta, Position({_WHERE: keys}))
    return mapping, store.snapshot()


def seconds(get: Callable[[bytes], object], order: list[int]) -> float:
    """Return the time to query all keys, in seconds."""
    requested_keys = [key_of(number) for number in order]
    began_s = time.perf_counter()
    for key in requested_keys:
        get(key)
    return time.perf_counter() - began_s


def main() -> None:
    """Query both in turn."""
    keys, value_bytes, passes = map(int, sys.argv[1:4])
    mapping, snapshot = kept(keys, value_bytes)
    order = list(range(keys))
    random.Random(2).shuffle(order)
    ratios, rates = [], []
    for _ in range(passes + 1):
        plain_s, ours_s = seconds(mapping.get, order), seconds(snapshot.get, order)
        ratios.append(plain_s / ours_s)
        rates.append((keys / plain_s, keys / ours_s))
    repeated = list(zip(*rates[1:], strict=True))
    tell(
        what="look-ups",
        keys=keys,
        value_bytes=value_bytes,
        first=ratios[0],
        repeated=statistics.median(ratios[1:]),
        dict_per_s=statistics.median(repeated[0]),
        first_per_s=rates[0][1],
        repeated_per_s=statistics.median(repeated[1]),
    )


if __name__ == "__main__":
    main()
