"""Put maps of texts into a plan as a single literal.

A literal with thousands of elements delays the query by seconds if each element is a node of the plan. Here, the map is
built from one text, which Spark splits once. Since version 4.3, Spark searches large maps by hash, in compiled code.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count as naturals
from itertools import islice
from typing import Final

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the usual name

_HASHED_SINCE: Final = (4, 3)
"""The first version of Spark known to search map literals by hash; earlier versions may search sequentially."""
_HASHED_FROM: Final = 1000
"""The minimum number of entries of a map that is searched by hash (``spark.sql.optimizer.mapLookupHashThreshold``)."""
MOST_IN_MAPS: Final = 100_000
"""The maximum number of entries of all maps in a plan; with more, they cost each task more than they save."""
SHORT: Final = 2
"""The number of entries up to which a sequential search is as fast."""


def maps_are_hashed(session: SparkSession | None) -> bool:
    """Return whether this version of Spark searches map literals by hash; False without a session, which is safe."""
    if session is None:
        return False
    major, minor, *_ = session.version.split(".")
    return (int(major), int(minor)) >= _HASHED_SINCE


def found_in(text: Column, keys: Sequence[str], values: Sequence[str], separator: str) -> Column:
    """Return the value of a text in a map literal; NULL if the text is not in the map or is NULL.

    Args:
        text: the text to look up.
        keys: the distinct keys, at least one.
        values: the values of the keys.
        separator: a character that occurs in none of the keys and values.
    """
    # The value of the additional keys of a small map is NULL, as for a key that is not in the map.
    fill = _fillers(keys)
    found = _array(values, separator)
    if fill:
        found = F.concat(found, F.array_repeat(F.lit(None).cast("string"), len(fill)))
    return _looked_up(text, _array([*keys, *fill], separator), found)


def is_missing_from(text: Column, keys: Sequence[str], separator: str) -> Column:
    """Return whether a map literal lacks a text; true for NULL.

    Args:
        text: the text to look up.
        keys: the distinct keys, at least one.
        separator: a character that occurs in none of the keys.
    """
    fill = _fillers(keys)
    # The values are consecutive numbers, which are stored as one array of bytes, while each text is an object.
    number = _looked_up(text, _array([*keys, *fill], separator), F.sequence(F.lit(1), F.lit(len(keys) + len(fill))))
    return ~F.coalesce(number <= len(keys), F.lit(False)) if fill else number.isNull()


def map_size(keys: int) -> int:
    """Return the number of entries of a map with this number of keys, including additional keys."""
    return max(keys, _HASHED_FROM) if keys > SHORT else keys


def _looked_up(text: Column, keys: Column, values: Column) -> Column:
    # Spark would compute ``map[text]`` again wherever it is used.
    return F.try_element_at(F.map_from_arrays(keys, values), text)


def _array(texts: Sequence[str], separator: str) -> Column:
    return F.split(F.lit(separator.join(texts)), separator)


def _fillers(keys: Sequence[str]) -> list[str]:
    """Return enough additional keys that Spark searches the map by hash."""
    taken = frozenset(keys)
    return list(islice((one for one in map(str, naturals()) if one not in taken), map_size(len(keys)) - len(keys)))
