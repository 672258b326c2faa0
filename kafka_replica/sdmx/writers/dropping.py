"""An artefact without some of its fields, however deep they stand."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from kafka_replica.sdmx.base import Maintainable
from kafka_replica.sdmx.containers import Items, StubTuple, is_compound

A = TypeVar("A", bound=Maintainable)

_LEAVES: Final = ("str", "bool", "int", "Urn", "InternationalString", "Decimal")


def without(artefact: A, fields: frozenset[str]) -> A:
    """The artefact with the defaults in these fields, in it and all its parts; itself where they say nothing.

    A field is ``name``, or ``Class.name`` for that of one class.
    """
    found: A = _without(artefact, fields)
    return found


def _without(value: Any, fields: frozenset[str]) -> Any:
    if is_compound(value):
        return _struct(value, fields)
    if isinstance(value, Items) and not value.is_stub:
        made = {id_: _without(item, fields) for id_, item in value.items()}
        return Items(made) if any(made[id_] is not item for id_, item in value.items()) else value
    if isinstance(value, tuple) and not isinstance(value, StubTuple) and value:
        parts = tuple(_without(part, fields) for part in value)
        return parts if any(new is not old for new, old in zip(parts, value, strict=True)) else value
    return value


def _struct(value: msgspec.Struct, fields: frozenset[str]) -> Any:
    changed: dict[str, Any] = {}
    for name, default in _plan(type(value), fields):
        found = getattr(value, name)
        if default is not msgspec.NODEFAULT and (name in fields or f"{type(value).__name__}.{name}" in fields):
            if found != default:
                changed[name] = default
            continue
        made = _without(found, fields)
        if made is not found:
            changed[name] = made
    return replace(value, **changed) if changed else value


@cache
def _plan(kind: type[msgspec.Struct], fields: frozenset[str]) -> tuple[tuple[str, Any], ...]:
    """The fields that are to be looked at, with their defaults: those to drop, and those that may hold parts."""
    found = []
    annotations = _annotations(kind)
    for field in msgspec.structs.fields(kind):
        has_parts = not all(one.strip() in {*_LEAVES, "None"} for one in annotations.get(field.name, "Any").split("|"))
        # What must be given cannot be dropped.
        can_be = field.default is not msgspec.NODEFAULT
        is_dropped = can_be and (field.name in fields or f"{kind.__name__}.{field.name}" in fields)
        if is_dropped or has_parts:
            found.append((field.name, field.default))
    return tuple(found)


def _annotations(kind: type) -> dict[str, str]:
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        found |= {name: str(one) for name, one in inspect.get_annotations(base).items()}
    return found
