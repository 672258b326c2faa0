"""Whether a text is in a set, as native expressions that plan and run fast.

A list of 20,000 codes as ``isin`` costs ten seconds before the query starts, for each value becomes a node of
the plan. Here a larger set is one literal: a map where Spark looks it up by hash (since 4.3), else codes in buckets by
CRC-32, which Python and Spark compute alike, a few codes a bucket, each bucket one text for ``find_in_set``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Final
from zlib import crc32

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - everyone calls it so

_FEW: Final = 16
_IN_A_BUCKET: Final = 4
_HASHED_SINCE: Final = (4, 3)
"""The first Spark seen to look a map literal up by hash; earlier ones may go through it from the beginning."""
_HASHED_FROM: Final = 1000
"""Maps with fewer entries are not looked up by hash (``spark.sql.optimizer.mapLookupHashThreshold``)."""
_BETWEEN: Final = "\x1e\x1e"


def is_in(text: Column, values: Iterable[str]) -> Column:
    """Whether a text is one of the values, exactly; NULL where the text is."""
    every = sorted(set(values))
    if len(every) <= _FEW:
        return text.isin(every) if every else F.when(text.isNotNull(), F.lit(False))
    in_map = _maps_are_hashed()
    # Those with a separator in them (only value lists have such) cannot go into the literal.
    odd = [value for value in every if (_BETWEEN[0] in value if in_map else not value or set(value) & {",", "|"})]
    apart = set(odd)
    plain = [value for value in every if value not in apart]
    tests = [text.isin(odd)] if odd else []
    if plain:
        tests.insert(0, _in_map(text, plain) if in_map else _in_buckets(text, plain))
    return reduce(or_, tests)


def _maps_are_hashed() -> bool:
    session = SparkSession.getActiveSession()
    if session is None:
        return False  # Spark Connect in another thread: what is right for all versions
    major, minor, *_ = session.version.split(".")
    return (int(major), int(minor)) >= _HASHED_SINCE


def _in_map(text: Column, values: Sequence[str]) -> Column:
    """A look-up in a map, which Spark folds into a literal before the query starts."""
    # Spark goes through a smaller map from the beginning: what fills it up leads to NULL, as what is not there does.
    fill = [f"{_BETWEEN[0]}{number}" for number in range(len(values), _HASHED_FROM)]
    marks = F.array_repeat(F.lit(""), len(values))
    if fill:
        marks = F.concat(marks, F.array_repeat(F.lit(None).cast("string"), len(fill)))
    known = F.map_from_arrays(F.split(F.lit(_BETWEEN.join([*values, *fill])), _BETWEEN), marks)
    return F.when(text.isNotNull(), known[text].isNotNull())


def _in_buckets(text: Column, values: Sequence[str]) -> Column:
    count = -(-len(values) // _IN_A_BUCKET)
    buckets: list[list[str]] = [[] for _ in range(count)]
    for value in values:
        buckets[crc32(value.encode()) % count].append(value)
    # find_in_set says that "" is in "": an empty bucket gets a value that no text of its own number equals.
    texts = [",".join(bucket or values[:1]) for bucket in buckets]
    number = F.pmod(F.crc32(text.cast("binary")), F.lit(count)).cast("int")
    return F.find_in_set(text, F.get(F.split(F.lit("|".join(texts)), r"\|"), number)) > 0
