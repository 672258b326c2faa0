"""Columns that hold several values: a row stands for one row a value, and breaks what one of these breaks.

So each value must be allowed by regions that are in, and none may be in one that is out. How many values there are, and
whether there is one at all, is asked of the row.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from kafka_replica.data.validation.conditions import Condition, Joined, Value, nodes_of


def asked_singly(condition: Condition, several: AbstractSet[str]) -> tuple[str, ...]:
    """The components with several values of which a condition asks each value, in order."""
    return tuple(sorted(several & _read(condition))) if several else ()


def _read(condition: Condition) -> set[str]:
    """The components whose text a condition reads."""
    found: set[str] = set()
    for node in nodes_of(condition):
        match node:
            case Value(component):
                found.add(component)
            case Joined(components):
                found.update(components)
    return found
