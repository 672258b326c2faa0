"""Conditions on columns that hold several values: what is asked of each value, and what of the row."""

from __future__ import annotations

from kafka_replica.rules.conditions import (
    All,
    Compared,
    Condition,
    Count,
    Missing,
    Not,
    Some,
    components_of,
    every,
)


def parted(condition: Condition, component: str) -> tuple[Condition | None, Condition]:
    """A condition as one on each value of a component and one on the row; both must be true.

    The first is None where nothing is asked of single values.
    """
    parts = condition.conditions if isinstance(condition, All) else (condition,)
    inner = [part for part in parts if _is_of_values(part, component)]
    outer = [part for part in parts if not _is_of_values(part, component)]
    return (every(*inner) if inner else None), every(*outer)


def _is_of_values(condition: Condition, component: str) -> bool:
    return components_of(condition) == {component} and not _is_of_row(condition)


def _is_of_row(condition: Condition) -> bool:
    match condition:
        case Missing() | Compared(Count()):
            return True
        case Not(inner):
            return _is_of_row(inner)
        case All(parts) | Some(parts):
            return any(_is_of_row(part) for part in parts)
    return False
