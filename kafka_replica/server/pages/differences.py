"""The differences between two versions of an artefact: added and removed parts, and changed values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import msgspec

from kafka_replica.sdmx import InternationalString, Urn
from kafka_replica.sdmx.containers import Items, StubTuple
from kafka_replica.sdmx.model import Artefact
from kafka_replica.server.pages.texts import texts_of_part

_MOST_TEXT: Final = 500


class PartDifference(NamedTuple):
    """A difference: the path of the part, and its content before and after; None if the part was missing."""

    part: str
    before: str | None
    after: str | None

    @property
    def kind(self) -> str:
        """The kind of the difference: added, removed or changed."""
        return "added" if self.before is None else "removed" if self.after is None else "changed"


def differences(before: Artefact, after: Artefact) -> Iterator[PartDifference]:
    """Yield the differences between two artefacts with the same URN, in the order of the later artefact's fields.

    Items and components are compared by id, texts by language, and the elements of other lists as a whole. Each part is
    compared once; only parts that differ are compared in detail.
    """
    if before == after:
        return
    if type(before) is not type(after):
        yield PartDifference("class", type(before).__name__, type(after).__name__)
        return
    stack: list[tuple[str, Any, Any]] = [("", before, after)]
    while stack:
        part, one, other = stack.pop()
        if (
            isinstance(one, msgspec.Struct)
            and type(one) is type(other)
            and not isinstance(one, (InternationalString, Urn))
        ):
            stack += _fields(part, one, other)
        elif isinstance(one, Items) and isinstance(other, Items) and not one.is_stub and not other.is_stub:
            found, common = _items(part, one, other)
            yield from found
            stack += reversed(common)
        elif isinstance(one, InternationalString) and isinstance(other, InternationalString):
            yield from _texts(part, one, other)
        elif isinstance(one, tuple) and isinstance(other, tuple) and not isinstance(one, StubTuple):
            mine, theirs = _by_id(one), _by_id(other)
            if mine is None or theirs is None:
                yield from _elements(part, one, other)
            else:
                stack.append((part, mine, theirs))
        else:
            yield PartDifference(part, _text(one), _text(other))


def _fields(part: str, struct: msgspec.Struct, other: msgspec.Struct) -> list[tuple[str, Any, Any]]:
    """Return the fields that differ, in reverse order, as the stack needs them."""
    pairs = ((name, getattr(struct, name), getattr(other, name)) for name in reversed(struct.__struct_fields__))
    return [(_joined(part, name.replace("_", " ")), mine, theirs) for name, mine, theirs in pairs if mine != theirs]


def _items(part: str, one: Items[Any], other: Items[Any]) -> tuple[list[PartDifference], list[tuple[str, Any, Any]]]:
    """Return the added, removed and reordered items, and the common items that differ."""
    found = [PartDifference(_joined(part, id_), _text(one[id_]), None) for id_ in one if id_ not in other]
    found += [PartDifference(_joined(part, id_), None, _text(other[id_])) for id_ in other if id_ not in one]
    common = [id_ for id_ in other if id_ in one]
    if common != [id_ for id_ in one if id_ in other]:
        found.append(PartDifference(_joined(part, "order"), *(_listed(each, common) for each in (one, other))))
    return found, [(_joined(part, id_), one[id_], other[id_]) for id_ in common if one[id_] != other[id_]]


def _texts(
    part: str, international_string: InternationalString, other: InternationalString
) -> Iterator[PartDifference]:
    before, after = dict(international_string.texts), dict(other.texts)
    changed = [each for each in (before | after) if before.get(each) != after.get(each)]
    for language in changed:
        yield PartDifference(_joined(part, language), before.get(language), after.get(language))
    if not changed:
        yield PartDifference(part, _text(international_string), _text(other))


def _elements(part: str, one: tuple[Any, ...], other: tuple[Any, ...]) -> Iterator[PartDifference]:
    """Yield the removed and added elements; if there are none, the changed order."""
    removed, added = _without(one, other), _without(other, one)
    for each in removed:
        yield PartDifference(part, _text(each), None)
    for each in added:
        yield PartDifference(part, None, _text(each))
    if not removed and not added:
        yield PartDifference(_joined(part, "order"), _text(one), _text(other))


def _without(one: tuple[Any, ...], other: tuple[Any, ...]) -> list[Any]:
    try:
        held = set(other)
    except TypeError:  # parts with items have no hash
        return [each for each in one if each not in other]
    return [each for each in one if each not in held]


def _by_id(elements: tuple[Any, ...]) -> Items[Any] | None:
    """Return elements by id; None if an element has no id, or an id is duplicated."""
    ids = {id_: each for each in elements if isinstance(id_ := getattr(each, "id", None), str)}
    return Items(ids) if ids and len(ids) == len(elements) else None


def _text(value: object) -> str | None:
    """Return a value as text for people; None if there is no value."""
    if value is None:
        return None
    if isinstance(value, tuple) and not isinstance(value, StubTuple):
        return _shortened(", ".join(_text(one) or "" for one in value))
    if isinstance(value, StubTuple) or (isinstance(value, Items) and value.is_stub):
        return "a stub"
    return _listed(value, list(value)) if isinstance(value, Items) else _shortened(_plain_text(value))


def _plain_text(value: object) -> str:
    if isinstance(value, Urn):
        return f"{value.cls} {value.reference}"
    if isinstance(value, InternationalString):
        return "; ".join(f"{language}: {text}" for language, text in value.texts)
    if isinstance(value, msgspec.Struct):
        return "; ".join(dict.fromkeys(each.text for each in texts_of_part(value))) or repr(value)
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _listed(items: Items[Any], ids: list[str]) -> str:
    wanted = set(ids)
    return _shortened(", ".join(id_ for id_ in items if id_ in wanted))


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]} ..."


def _joined(part: str, name: str) -> str:
    return f"{part} › {name}" if part else name
