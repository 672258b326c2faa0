"""``snapshot.get`` of the store on disk against bare rocksdict: the same keys, all of them, in random order.

    rocks_lookups KEYS VALUE_BYTES PASSES FOLDER

Bare rocksdict has key and value, with the same settings of RocksDB; a snapshot returns a ``Record``.
"""

from __future__ import annotations

import random
import statistics
import sys
from itertools import islice
from pathlib import Path

from benchmarks.programs.common import key_of, tell
from benchmarks.programs.lookups import seconds
from kafka_replica import Partition, Position, RocksStore, Snapshot
from kafka_replica.stores.delta import Delta
from kafka_replica.stores.rocks.database import Batch, Database
from kafka_replica.stores.rocks.tuning import Tuning

_WHERE = Partition("bench", 0)


def kept(keys: int, value_bytes: int, folder: Path) -> tuple[Database, Snapshot]:
    """Store the same keys and values in both."""
    dice = random.Random(1)
    numbers = iter(range(keys))
    bare, store = Database(folder / "bare", Tuning()), RocksStore(folder / "ours")
    while some := list(islice(numbers, 5_000)):
        batch = Batch()
        delta = Delta(source=_WHERE)
        for number in some:
            value = dice.randbytes(value_bytes)
            batch.put(key_of(number), value)
            delta.changes[key_of(number)] = (key_of(number), value, number, 0, ())
        bare.write(batch)
        store.stage(delta)
    bare.flush()
    store.apply(Delta(source=_WHERE), Position({_WHERE: keys}))
    return bare, store.snapshot()


def main() -> None:
    """Query both in turn."""
    keys, value_bytes, passes = map(int, sys.argv[1:4])
    bare, snapshot = kept(keys, value_bytes, Path(sys.argv[4]))
    order = random.Random(2).sample(range(keys), keys)
    ratios, rates = [], []
    for _ in range(passes):
        bare_s, ours_s = seconds(bare._db.get, order), seconds(snapshot.get, order)  # noqa: SLF001 - as bare as can be
        ratios.append(bare_s / ours_s)
        rates.append(keys / ours_s)
    tell(what="look-ups on disk", keys=keys, ratio=statistics.median(ratios), per_s=statistics.median(rates))


if __name__ == "__main__":
    main()
