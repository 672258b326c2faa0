"""The searchable texts of an artefact: names, descriptions, annotations and items, in all languages."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple

import msgspec

from kafka_replica.sdmx import InternationalString
from kafka_replica.sdmx.containers import Items, StubTuple
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.model.base import Annotation, Identifiable
from kafka_replica.sdmx.model.codelists import ValueItem

_PLAIN: Final = frozenset({"id", "title", "type", "value"})
"""The fields with texts without a language that are searchable, at any depth."""
_LABELS: Final = {"names": "name", "descriptions": "description"}
_SKIPPED: Final = frozenset({"urn", "uri", "links", "parent", "urls"})


class ArtefactText(NamedTuple):
    """A text, its language, its kind, and the item that has it; ``item`` is empty for the artefact itself."""

    item: str
    kind: str
    language: str
    text: str


def texts_of(artefact: Artefact) -> Iterator[ArtefactText]:
    """Yield all texts of an artefact in the order of its fields, without its own id; without recursion."""
    return texts_of_part(artefact)


def texts_of_part(part: msgspec.Struct) -> Iterator[ArtefactText]:
    """Yield all texts of a part of an artefact; the part's own id is left out if the part has a URN."""
    stack = list(_parts("", part))
    while stack:
        item, label, value = stack.pop()
        if type(value) is str:
            yield ArtefactText(item, label, "", value)
        elif isinstance(value, InternationalString):
            for language, text in value.texts:
                yield ArtefactText(item, label, language, text)
        elif isinstance(value, msgspec.Struct):
            if isinstance(value, Identifiable):
                item = value.urn.item or item
                yield ArtefactText(item, "id", "", value.id)
            elif isinstance(value, ValueItem):
                item = value.id
            stack += _parts(item, value)
        else:
            stack += ((item, label, element) for element in _elements(value))


def _parts(item: str, owner: msgspec.Struct) -> Iterator[tuple[str, str, Any]]:
    """Yield the fields that may hold texts with item and label, in reverse order, as the stack needs them."""
    for name, label in _fields(type(owner)):
        held = getattr(owner, name)
        if held is not None and (type(held) is not str or name in _PLAIN):
            yield item, label, held


def _elements(value: object) -> list[Any]:
    """Return the parts in a container in reverse order; a stub has none."""
    if isinstance(value, Items):
        return [] if value.is_stub else list(value.values())[::-1]
    if isinstance(value, tuple) and not isinstance(value, StubTuple):
        return [part for part in reversed(value) if isinstance(part, msgspec.Struct)]
    return []


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[tuple[str, str], ...]:
    """Return the fields of a class that may hold texts, each with its label, in reverse order."""
    names = [name for name in kind.__struct_fields__ if name not in _SKIPPED]
    is_annotation = issubclass(kind, Annotation)
    return tuple((name, "annotation" if is_annotation else _LABELS.get(name, name)) for name in reversed(names))
