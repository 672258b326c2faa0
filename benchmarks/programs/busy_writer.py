"""A writer that never pauses: transactions of ten records, one after the other, for some seconds.

    busy_writer BOOTSTRAP TOPIC NAME SECONDS

The program's output line has, for each transaction, the time when its commit returned, on the clock that all processes
share. The first key of a transaction holds the transaction's number.
"""

from __future__ import annotations

import random
import sys
import time

from benchmarks.programs.common import SAME_WRITER, key_of, tell
from kafka_replica.producer import TransactionalProducer

_KEYS, _VALUE_BYTES = 10_000, 1024


def main() -> None:
    """Write transactions until the time is over."""
    bootstrap, topic, name, lasts_s = *sys.argv[1:4], float(sys.argv[4])
    producer = TransactionalProducer({"bootstrap.servers": bootstrap, **SAME_WRITER}, topic, f"busy {name}")
    dice = random.Random(name)
    returned_ns: list[int] = []
    ends_s = time.monotonic() + lasts_s
    while time.monotonic() < ends_s:
        with producer.transaction() as transaction:
            transaction.put(f"writer {name}", b"%d" % len(returned_ns))
            for _ in range(9):
                transaction.put(key_of(dice.randrange(_KEYS)), dice.randbytes(_VALUE_BYTES))
        returned_ns.append(time.monotonic_ns())
    tell(what="busy writer", name=name, returned_ns=returned_ns)


if __name__ == "__main__":
    main()
