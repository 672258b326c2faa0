"""Maps of texts as one literal of the plan.

A literal with thousands of elements costs seconds before the query starts where each is a node of the plan. Here it is
made of one text, which Spark takes apart once; since 4.3 it looks large maps up by hash, in code that is compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count as naturals
from itertools import islice
from typing import Final

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - everyone calls it so

_HASHED_SINCE: Final = (4, 3)
"""The first Spark seen to look a map literal up by hash; earlier ones may go through it from the beginning."""
_HASHED_FROM: Final = 1000
"""Maps with fewer entries are not looked up by hash (``spark.sql.optimizer.mapLookupHashThreshold``)."""
MOST_IN_MAPS: Final = 100_000
"""More entries than that in all maps of a plan cost each task more than they save."""
SHORT: Final = 2
"""So few entries are found as fast without a hash."""


def maps_are_hashed(session: SparkSession | None) -> bool:
    """Whether this Spark looks map literals up by hash; False without a session, which is right for all versions."""
    if session is None:
        return False
    major, minor, *_ = session.version.split(".")
    return (int(major), int(minor)) >= _HASHED_SINCE


def found_in(text: Column, keys: Sequence[str], values: Sequence[str], separator: str) -> Column:
    """What a map literal has for a text; NULL if nothing, or for NULL.

    Args:
        text: what is looked up.
        keys: the keys, at least one, each once.
        values: what belongs to them.
        separator: a character in none of the keys and values.
    """
    # What fills a small map up leads to NULL, as what is not there does.
    fill = _fillers(keys)
    found = _array(values, separator)
    if fill:
        found = F.concat(found, F.array_repeat(F.lit(None).cast("string"), len(fill)))
    return _looked_up(text, _array([*keys, *fill], separator), found)


def is_missing_from(text: Column, keys: Sequence[str], separator: str) -> Column:
    """Whether a map literal does not have a text; true for NULL.

    Args:
        text: what is looked up.
        keys: the keys, at least one, each once.
        separator: a character in none of the keys.
    """
    fill = _fillers(keys)
    # Numbers one after the other are one run of bytes, where texts are an object each.
    number = _looked_up(text, _array([*keys, *fill], separator), F.sequence(F.lit(1), F.lit(len(keys) + len(fill))))
    return ~F.coalesce(number <= len(keys), F.lit(False)) if fill else number.isNull()


def entries(keys: int) -> int:
    """How many entries the map of so many keys has."""
    return max(keys, _HASHED_FROM) if keys > SHORT else keys


def _looked_up(text: Column, keys: Column, values: Column) -> Column:
    # Not ``map[text]``: Spark would compute that again at each place where it is used.
    return F.try_element_at(F.map_from_arrays(keys, values), text)


def _array(texts: Sequence[str], separator: str) -> Column:
    return F.split(F.lit(separator.join(texts)), separator)


def _fillers(keys: Sequence[str]) -> list[str]:
    """Other keys, so many that the map is looked up by hash."""
    taken = frozenset(keys)
    return list(islice((one for one in map(str, naturals()) if one not in taken), entries(len(keys)) - len(keys)))
