"""The texts of an artefact that are searched: names, descriptions, annotations and items, in all languages."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple

import msgspec

from kafka_replica.sdmx import InternationalString
from kafka_replica.sdmx.base import Annotation, Identifiable
from kafka_replica.sdmx.containers import Items, StubTuple
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.model.codelists import ValueItem

_PLAIN: Final = frozenset({"id", "title", "type", "value"})
"""The fields whose text is searched although it has no language, at any depth."""
_LABELS: Final = {"names": "name", "descriptions": "description"}
_SKIPPED: Final = frozenset({"urn", "uri", "links", "parent", "urls"})


class ArtefactText(NamedTuple):
    """A text, its language, and where it is: the item (empty: the artefact itself) and the kind of text."""

    item: str
    kind: str
    language: str
    text: str


def texts_of(artefact: Artefact) -> Iterator[ArtefactText]:
    """Yield all texts of an artefact in the order of its message, without its reference; nesting may have any depth."""
    return texts_of_part(artefact)


def texts_of_part(part: msgspec.Struct) -> Iterator[ArtefactText]:
    """Yield all texts of a part of an artefact, without its own id if it has a URN."""
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
            stack += ((item, label, one) for one in _elements(value))


def _parts(item: str, owner: msgspec.Struct) -> Iterator[tuple[str, str, Any]]:
    """Yield the values of fields that may hold texts, each with the item and a label, the last first."""
    for name, label in _fields(type(owner)):
        held = getattr(owner, name)
        if held is not None and (type(held) is not str or name in _PLAIN):
            yield item, label, held


def _elements(value: object) -> list[Any]:
    """Return the parts in a container, the last first; of a stub, none."""
    if isinstance(value, Items):
        return [] if value.is_stub else list(value.values())[::-1]
    if isinstance(value, tuple) and not isinstance(value, StubTuple):
        return [one for one in reversed(value) if isinstance(one, msgspec.Struct)]
    return []


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[tuple[str, str], ...]:
    """Return the fields of a class that may hold texts, each with its label, the last first."""
    names = [name for name in kind.__struct_fields__ if name not in _SKIPPED]
    is_annotation = issubclass(kind, Annotation)
    return tuple((name, "annotation" if is_annotation else _LABELS.get(name, name)) for name in reversed(names))
