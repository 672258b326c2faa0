"""A writer of large values in a separate process, which kills itself.

``large_value_writer.py BOOTSTRAP TOPIC RUN DIES`` is not a test but a program that tests start. It writes
transactions; if DIES is above 0 it ends by SIGKILL after that many chunks are in the log, in the middle of a value;
otherwise after some transactions.
"""

from __future__ import annotations

import os
import random
import signal
import sys
from typing import Any

from kafka_replica import Replica
from kafka_replica.large_values import WITHOUT_CHUNKS, is_chunk_key
from kafka_replica.producer import LargeValueProducer, Transaction, TransactionalProducer
from kafka_replica.records import Headers, Key, key_bytes

CHUNK_BYTES = 1000
PAIRS = 4
TRANSACTIONS = 12


def value_of(token: bytes, size: int) -> bytes:
    """Return a value of a size whose every part names its write."""
    return (token * (size // len(token) + 1))[:size]


class CrashAfterChunks:
    """Kills the process after a number of chunks."""

    def __init__(self, chunks: int) -> None:
        self.left = chunks

    def count(self, transaction: Transaction, key: Key) -> None:
        """Count a record; at the last chunk, wait until all are in the log, and end."""
        if not is_chunk_key(key_bytes(key)):
            return
        self.left -= 1
        if self.left == 0:
            transaction._writer._producer.flush()
            os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Write until the end or until it dies."""
    bootstrap, topic, run, dies = sys.argv[1:]
    chance, dying = random.Random(int(run)), CrashAfterChunks(int(dies))
    config: dict[str, Any] = {"bootstrap.servers": bootstrap, "log_level": 0}
    put = Transaction.put

    def put_and_count(self: Transaction, key: Key, value: bytes, headers: Headers = ()) -> None:
        put(self, key, value, headers)
        dying.count(self, key)

    Transaction.put = put_and_count  # type: ignore[method-assign]
    producer = TransactionalProducer(config, topic, topic)
    written = 0
    with Replica(config, topic, key_filter=WITHOUT_CHUNKS) as replica:
        large = LargeValueProducer(producer, replica, chunk_bytes=CHUNK_BYTES)
        number = 0
        while int(dies) or number < TRANSACTIONS:
            number += 1
            pair = chance.randrange(PAIRS)
            token = b"%d.%d;" % (int(run), number)
            with large.transaction() as transaction:
                for side in ("left", "right"):
                    size = chance.choice((chance.randint(len(token), CHUNK_BYTES), chance.randint(1001, 9000)))
                    transaction.put(f"{pair}-{side}", value_of(token, size), (("size", b"%d" % size),))
            written += transaction.committed.records
    print(written)


if __name__ == "__main__":
    main()
