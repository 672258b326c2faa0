"""The content of an artefact of any class as lines, each with a label and a text or a reference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import msgspec

from kafka_replica.sdmx import InternationalString, Urn
from kafka_replica.sdmx.containers import Items, StubTuple
from kafka_replica.sdmx.model import Artefact, OpaqueArtefact
from kafka_replica.sdmx.model.base import Annotation, ItemScheme, Maintainable

_OF_ARTEFACTS: Final = frozenset(Maintainable.__struct_fields__)
_OF_ITEMS: Final = frozenset({"id", "annotations"})
_HIDDEN: Final = frozenset({"urn", "uri", "links", "names", "descriptions", "parent"})
"""The fields without lines of their own, at any depth; names become the text of their part's line."""


class OutlineLine(NamedTuple):
    """A line: its depth, a label, and either a text with its language, or a reference."""

    depth: int
    label: str
    text: str | None = None
    language: str = ""
    target: Urn | None = None


def outline_of_artefact(artefact: Artefact) -> Iterator[OutlineLine]:
    """Yield the lines of an artefact, without its items and the fields that all artefacts have, such as names."""
    if isinstance(artefact, OpaqueArtefact):
        yield OutlineLine(0, "message", artefact.content_type)
        return
    items = artefact.items_field if isinstance(artefact, ItemScheme) else "value_items"
    yield from _lines(artefact, _OF_ARTEFACTS | {items})


def outline_of_item(item: Any, children_field: str | None) -> list[OutlineLine]:
    """Return the lines of an item, without the items below it."""
    return list(_lines(item, _OF_ITEMS | {children_field or ""}))


def _lines(part: Any, skipped: frozenset[str]) -> Iterator[OutlineLine]:
    stack = _values(part, 0, skipped)
    while stack:
        depth, label, value = stack.pop()
        if isinstance(value, Urn):
            yield OutlineLine(depth, label, target=value)
        elif isinstance(value, InternationalString):
            for language, text in value.texts:
                yield OutlineLine(depth, label, text, language)
        elif isinstance(value, msgspec.Struct):
            yield OutlineLine(depth, label, _name_of(value))
            stack += _values(value, depth + 1, frozenset())
        elif isinstance(value, (Items, tuple)):
            parts = list(value.values()) if isinstance(value, Items) else list(value)
            if all(isinstance(each, (str, int, float)) for each in parts):
                yield OutlineLine(depth, label, ", ".join(map(str, parts)))
            else:
                yield OutlineLine(depth, label)
                named = [(depth + 1, _label_of(each, number), each) for number, each in enumerate(parts, 1)]
                stack += reversed(named)
        elif isinstance(value, bool):
            yield OutlineLine(depth, label, "yes" if value else "no")
        else:
            yield OutlineLine(depth, label, value.decode(errors="replace") if isinstance(value, bytes) else str(value))


def _values(part: Any, depth: int, skipped: frozenset[str]) -> list[tuple[int, str, Any]]:
    """Return the non-empty fields with depth and label, in reverse order, as the stack needs them."""
    names = [name for name in part.__struct_fields__ if name not in skipped | _HIDDEN]
    found = [(depth, name.replace("_", " "), getattr(part, name)) for name in reversed(names)]
    return [line for line in found if line[2] is not None and line[2] is not False and not _is_empty(line[2])]


def _is_empty(value: object) -> bool:
    if isinstance(value, StubTuple) or (isinstance(value, Items) and value.is_stub):
        return True  # a part of a stub; the page states that the artefact is a stub
    if isinstance(value, InternationalString):
        return not value.texts
    return isinstance(value, (Items, tuple, str, bytes)) and not len(value)


def _label_of(part: object, number: int) -> str:
    if isinstance(part, Annotation):
        return "annotation"
    id_ = getattr(part, "id", None)
    return id_ if isinstance(id_, str) and id_ else str(number)


def _name_of(part: msgspec.Struct) -> str | None:
    names = getattr(part, "names", None)
    return names.in_language() if isinstance(names, InternationalString) else None
