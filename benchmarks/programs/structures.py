"""The records of the experiments on publishing: keys like those of structures, values of 1 KB that do not compress."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

from benchmarks.programs.common import key_of

TRANSACTION_RECORDS = 100
_VALUE_BYTES = 1024


@cache
def _noise() -> bytes:
    return random.Random(7).randbytes(1 << 20)


def structures(tx_id: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield the keys and values of one transaction; each key is written only once overall."""
    noise = _noise()
    for number in range((tx_id - 1) * TRANSACTION_RECORDS, tx_id * TRANSACTION_RECORDS):
        start = number * 7919 % (len(noise) - _VALUE_BYTES)
        yield key_of(number), noise[start : start + _VALUE_BYTES]
