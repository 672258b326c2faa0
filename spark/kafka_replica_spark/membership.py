"""Whether a text is in a set, as native expressions that plan and run fast.

A list of 20,000 codes as ``isin`` costs ten seconds before the query starts, for each value becomes a node of
the plan, and a map literal is slower to run. Here a larger set is one literal: codes in buckets by
CRC-32, which Python and Spark compute alike, a few codes a bucket, each bucket one text for ``find_in_set``.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Final
from zlib import crc32

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - everyone calls it so

_FEW: Final = 16
_IN_A_BUCKET: Final = 4


def is_in(text: Column, values: Iterable[str]) -> Column:
    """Whether a text is one of the values, exactly; NULL where the text is."""
    every = sorted(set(values))
    # Those with a separator in them (only value lists have such) cannot go into a bucket.
    plain = [value for value in every if not set(value) & {",", "|"} and value]
    if len(plain) <= _FEW:
        return text.isin(every) if every else F.when(text.isNotNull(), F.lit(False))
    odd = sorted(set(every) - set(plain))
    tests = [_in_buckets(text, plain), *([text.isin(odd)] if odd else [])]
    return reduce(or_, tests)


def _in_buckets(text: Column, values: list[str]) -> Column:
    count = -(-len(values) // _IN_A_BUCKET)
    buckets: list[list[str]] = [[] for _ in range(count)]
    for value in values:
        buckets[crc32(value.encode()) % count].append(value)
    # find_in_set says that "" is in "": an empty bucket gets a value that no text of its own number equals.
    texts = [",".join(bucket or values[:1]) for bucket in buckets]
    number = F.pmod(F.crc32(text.cast("binary")), F.lit(count)).cast("int")
    return F.find_in_set(text, F.get(F.split(F.lit("|".join(texts)), r"\|"), number)) > 0
