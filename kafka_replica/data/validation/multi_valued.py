"""Checks of columns with several values: a row violates a rule if any of its values would violate it alone.

Conditions on the number or the absence of values, and on whether any value is allowed by a constraint (``AnyValue``),
have the same result for each value of a row.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from kafka_replica.data.validation.conditions import ComponentText, Concat, Condition, nodes_of


def components_tested_singly(condition: Condition, several: AbstractSet[str]) -> tuple[str, ...]:
    """Return, in order, the multi-valued components for which a condition is evaluated value by value."""
    return tuple(sorted(several & _read(condition))) if several else ()


def _read(condition: Condition) -> set[str]:
    """Return the components whose text a condition reads."""
    found: set[str] = set()
    for node in nodes_of(condition):
        match node:
            case ComponentText(component):
                found.add(component)
            case Concat(components):
                found.update(components)
    return found
