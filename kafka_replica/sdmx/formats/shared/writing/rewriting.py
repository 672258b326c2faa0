"""Change or leave out fields of an artefact at any depth."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final, TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from kafka_replica.sdmx.containers import InternationalString, Items, StubTuple, is_compound
from kafka_replica.sdmx.model.base import Maintainable
from kafka_replica.sdmx.urns.urn import Urn

A = TypeVar("A", bound=Maintainable)
Change: TypeAlias = Callable[[Any, Any], Any]
"""A function from the old value of a field and its owner to the new value; the same object if nothing changes."""
_Steps: TypeAlias = tuple[tuple[str, tuple[Change, ...], bool], ...]
"""Field, its changes, and a flag: its parts may have fields to change."""
_NO_PARTS: Final[tuple[()]] = ()
_LEAVES: Final = (Urn, InternationalString)


class FieldChanges:
    """The changes of fields, by ``field``, or by ``Class.field`` for a class and its subclasses.

    Args:
        changes: fields with their changes; a field is changed in this order, and before its parts are changed.
        left_out: fields that get their default.
    """

    def __init__(self, changes: Iterable[Mapping[str, Change]], left_out: Iterable[str] = ()) -> None:
        self._changes = tuple(changes)
        self._left_out = frozenset(left_out)
        self._steps: dict[type, _Steps] = {}

    def apply(self, artefact: A) -> A:
        """Return the artefact with the changes in it and in all its parts; the same object if nothing changes."""
        found: A = self._apply(artefact)
        return found

    def _apply(self, value: Any) -> Any:
        if is_compound(value):
            return self._apply_to_struct(value)
        if isinstance(value, Items) and not value.is_stub:
            made = {id_: self._apply(item) for id_, item in value.items()}
            return Items(made) if any(made[id_] is not item for id_, item in value.items()) else value
        if isinstance(value, tuple) and not isinstance(value, StubTuple) and value:
            parts = tuple([self._apply(part) for part in value])
            return parts if any(new is not old for new, old in zip(parts, value, strict=True)) else value
        return value

    def _apply_to_struct(self, value: msgspec.Struct) -> Any:
        kind = type(value)
        steps = self._steps.get(kind)
        if steps is None:
            steps = self._steps[kind] = tuple(self._steps_of(kind))
        changed: dict[str, Any] = {}
        for name, changes, has_parts in steps:
            found = made = getattr(value, name)
            for change in changes:
                made = change(made, value)
            if has_parts and made is not None and made is not _NO_PARTS:  # as in most codes, which are many
                made = self._apply(made)
            if made is not found:
                changed[name] = made
        return replace(value, **changed) if changed else value

    def _steps_of(self, kind: type[msgspec.Struct]) -> Iterator[tuple[str, tuple[Change, ...], bool]]:
        """Yield the fields with a rule, and the fields whose parts may have a rule."""
        for field, parts in _fields_of(kind):
            changes = tuple(self._changes_of(kind, field))
            has_parts = any(self._matters(part) for part in parts)
            if changes or has_parts:
                yield field.name, changes, has_parts

    def _changes_of(self, kind: type, field: msgspec.structs.FieldInfo) -> Iterator[Change]:
        names = [*(f"{one.__name__}.{field.name}" for one in kind.__mro__), field.name]
        # A required field cannot be left out.
        if field.default is not msgspec.NODEFAULT and not self._left_out.isdisjoint(names):
            yield _always(field.default)
        for changes in self._changes:
            found = next((changes[name] for name in names if name in changes), None)
            if found is not None:
                yield found

    def _matters(self, kind: type[msgspec.Struct], seen: frozenset[type] = frozenset()) -> bool:
        """Return True if a rule applies to a field of a class, of a subclass, or of one of its parts."""
        if kind in seen:
            return False
        seen |= {kind}
        fields = _fields_of(kind)
        return (
            any(True for field, _ in fields for _ in self._changes_of(kind, field))
            or any(self._matters(derived, seen) for derived in kind.__subclasses__())
            or any(self._matters(part, seen) for _, parts in fields for part in parts)
        )


def of_value(change: Callable[[Any], Any]) -> Change:
    """Return a change that does not depend on the owner of the value."""
    return lambda found, _: change(found)


def _always(value: Any) -> Change:
    return lambda found, _: found if found == value else value


@cache
def _fields_of(
    kind: type[msgspec.Struct],
) -> tuple[tuple[msgspec.structs.FieldInfo, tuple[type[msgspec.Struct], ...]], ...]:
    """Return the fields of a class, each with the classes of its parts."""
    hints = typing.get_type_hints(kind)
    return tuple((field, tuple(_structs_in(hints[field.name]))) for field in msgspec.structs.fields(kind))


def _structs_in(hint: Any) -> Iterator[type[msgspec.Struct]]:
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        if not issubclass(hint, _LEAVES):
            yield hint
    elif hint is Any:
        yield msgspec.Struct
    for inner in typing.get_args(hint):
        yield from _structs_in(inner)
