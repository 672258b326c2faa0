"""Expressions that depend on the frequency of a row."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from kafka_replica.data.mapping.mapping_engine import Expression, MappingEngine

T = TypeVar("T")


def by_frequency(
    engine: MappingEngine,
    formats: Sequence[tuple[str | None, T]],
    frequency: Expression | None,
    key: Callable[[T], Hashable],
    made: Callable[[T], Expression],
) -> Expression:
    """Return the expression for the format of the row's frequency; NULL if there is no format for it.

    Args:
        engine: the engine.
        formats: formats with their frequency; a single one with None is for any frequency.
        frequency: the frequency of the row; None if it is irrelevant, so that the first format is used.
        key: the key of a format; formats with the same key have the same expression, which occurs once.
        made: creates the expression for a format.
    """
    if frequency is None or formats[0][0] is None:
        return made(formats[0][1])
    groups: dict[Hashable, tuple[list[str], T]] = {}
    for known, one in formats:
        groups.setdefault(key(one), ([], one))[0].append(known or "")
    return engine.case([(engine.is_one_of(frequency, known), made(one)) for known, one in groups.values()])
