"""The reference of the store on disk: the reference loop, writing batches with their position to bare rocksdict.

    rocks_reference BOOTSTRAP TOPIC FOLDER

The settings are rocksdict's defaults, values unchanged, the write-ahead log on; the position is in each batch. The
program gives no guarantee.
"""

from __future__ import annotations

import gc
import sys
import time
from typing import Any

from rocksdict import Options, Rdict, WriteBatch

from benchmarks.programs.common import tell
from benchmarks.programs.reference import consumer_of

_POSITION = b"\0position"


def read(bootstrap: str, topic: str, folder: str) -> int:
    """Read the whole topic, from its beginning to its end; return the number of records."""
    database = Rdict(folder, Options(raw_mode=True))
    consumer = consumer_of(bootstrap, topic)
    count = 0
    while True:
        batch = WriteBatch(raw_mode=True)
        is_over, position = False, -1
        messages: list[Any] = [consumer.poll(60), *consumer.consume(500, 0)]
        for message in messages:
            if message.error() is not None:
                is_over = True
                break
            position = message.offset()
            batch.put(message.key(), message.value())
            count += 1
        batch.put(_POSITION, b"%d" % (position + 1))
        database.write(batch)
        if is_over:
            return count


def main() -> None:
    """Read the topic, and print how long it took."""
    gc.disable()
    began_s = time.perf_counter()
    count = read(*sys.argv[1:4])
    tell(what="reference, rocksdict", keys=count, s=time.perf_counter() - began_s, cpu_s=time.process_time())


if __name__ == "__main__":
    main()
