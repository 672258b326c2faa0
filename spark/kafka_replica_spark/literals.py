"""Maps of texts as one literal of the plan.

A literal with thousands of elements delays the query by seconds if each element is a node of the plan. Here the map is
built from one text, which Spark splits once; since 4.3 Spark looks large maps up by hash, in compiled code.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count as naturals
from itertools import islice
from typing import Final

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - everyone calls it so

_HASHED_SINCE: Final = (4, 3)
"""The first Spark known to look a map literal up by hash; earlier versions may scan it from the beginning."""
_HASHED_FROM: Final = 1000
"""Maps with fewer entries are not looked up by hash (``spark.sql.optimizer.mapLookupHashThreshold``)."""
MOST_IN_MAPS: Final = 100_000
"""If all maps of a plan have more entries together, they cost each task more than they save."""
SHORT: Final = 2
"""Up to this number of entries, a search without a hash is as fast."""


def maps_are_hashed(session: SparkSession | None) -> bool:
    """Return whether this Spark looks map literals up by hash; False without a session, which is always safe."""
    if session is None:
        return False
    major, minor, *_ = session.version.split(".")
    return (int(major), int(minor)) >= _HASHED_SINCE


def found_in(text: Column, keys: Sequence[str], values: Sequence[str], separator: str) -> Column:
    """Return the value of a text in a map literal; NULL if the map has none, or for NULL.

    Args:
        text: the text to look up.
        keys: the keys, at least one, each once.
        values: the values of the keys.
        separator: a character in none of the keys and values.
    """
    # The fillers of a small map lead to NULL, like keys that are not in the map.
    fill = _fillers(keys)
    found = _array(values, separator)
    if fill:
        found = F.concat(found, F.array_repeat(F.lit(None).cast("string"), len(fill)))
    return _looked_up(text, _array([*keys, *fill], separator), found)


def is_missing_from(text: Column, keys: Sequence[str], separator: str) -> Column:
    """Return whether a map literal lacks a text; true for NULL.

    Args:
        text: the text to look up.
        keys: the keys, at least one, each once.
        separator: a character in none of the keys.
    """
    fill = _fillers(keys)
    # Consecutive numbers are one run of bytes, while texts are an object each.
    number = _looked_up(text, _array([*keys, *fill], separator), F.sequence(F.lit(1), F.lit(len(keys) + len(fill))))
    return ~F.coalesce(number <= len(keys), F.lit(False)) if fill else number.isNull()


def entries(keys: int) -> int:
    """Return the number of entries of a map with this number of keys."""
    return max(keys, _HASHED_FROM) if keys > SHORT else keys


def _looked_up(text: Column, keys: Column, values: Column) -> Column:
    # Not ``map[text]``: Spark would compute it again wherever it is used.
    return F.try_element_at(F.map_from_arrays(keys, values), text)


def _array(texts: Sequence[str], separator: str) -> Column:
    return F.split(F.lit(separator.join(texts)), separator)


def _fillers(keys: Sequence[str]) -> list[str]:
    """Return additional keys, enough for Spark to look the map up by hash."""
    taken = frozenset(keys)
    return list(islice((one for one in map(str, naturals()) if one not in taken), entries(len(keys)) - len(keys)))
