"""What Fusion-JSON and SDMX-JSON write alike: references, ids of items, the facets of a text."""

from __future__ import annotations

from collections.abc import Callable, Container
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, TypeVar

import msgspec

from kafka_replica.errors import MessageError, UrnError
from kafka_replica.sdmx.readers.stated import stated
from kafka_replica.sdmx.representation import Representation, TextFormat
from kafka_replica.sdmx.urn import Urn


class WireFacets(msgspec.Struct, rename="camel", gc=False):
    """The facets of a text, but for flags, which are spelled in several ways."""

    text_type: str | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_value: Decimal | None = None
    max_value: Decimal | None = None
    start_value: Decimal | None = None
    end_value: Decimal | None = None
    interval: Decimal | None = None
    start_time: str | None = None
    end_time: str | None = None
    time_interval: str | None = None
    decimals: int | None = None
    pattern: str | None = None


F = TypeVar("F", bound=WireFacets)
_known_formats: Final[dict[tuple[Any, ...], TextFormat]] = {}
_MANY_FORMATS: Final = 1024


def text_format(wire: F, where: Urn, make: Callable[[F, Urn], TextFormat], *, is_whole: bool) -> TextFormat:
    """Return the format of a text, made once of the same words, for formats are few. Raises MessageError.

    ``make`` makes it, ``is_whole`` tells whether its fields are plain values that say all.
    """
    # Decimals that are equal may be written in several ways; patterns may be as long as a message.
    has_numbers = not (wire.min_value is wire.max_value is wire.start_value is wire.end_value is wire.interval is None)
    if not is_whole or has_numbers or wire.pattern is not None:
        return make(wire, where)
    fields = (type(wire), msgspec.structs.astuple(wire))
    found = _known_formats.get(fields)
    if found is None:
        found = make(wire, where)
        if len(_known_formats) < _MANY_FORMATS:
            _known_formats[fields] = found
    return found


_FACETS: Final = tuple(name for name in WireFacets.__struct_fields__ if name != "text_type")


def facets(wire: WireFacets, where: Urn) -> dict[str, Any]:
    """Return the facets as arguments of a ``TextFormat``, but for its type. Raises MessageError."""
    found = {name: getattr(wire, name) for name in _FACETS}
    for name, value in found.items():
        if isinstance(value, Decimal) and not value.is_finite():
            raise MessageError(f"reading {where}: {name} {value} is not a number")
    return found


_USUAL: Final = 256


def component_urn(structure: Urn, class_: str, component: str, taken: set[str]) -> Urn:
    """Return the same for a component of a data structure, in less time. Raises MessageError."""
    # Ids of components are those of a programming language, with few exceptions.
    if component.isidentifier() and component.isascii() and component not in taken and len(component) < _USUAL:
        return Urn(structure.package, class_, structure.agency, structure.id, structure.version, component)
    return item_urn(structure, class_, component, taken)


def item_urn(scheme: Urn, class_: str, item: str | None, taken: Container[str]) -> Urn:
    """Return the URN of an item; it must have an id that no other has. Raises MessageError."""
    if item is not None and item in taken:
        raise MessageError(f"reading {scheme}: the id {item[:80]!r} comes twice, and which one counts cannot be known")
    try:
        return scheme.with_item(class_, item or "")
    except UrnError as error:
        raise MessageError(f"reading {scheme}: {error}") from None


@lru_cache(maxsize=4096)
def referred(text: str) -> Urn:
    """What a text refers to; the last few thousand are kept. Raises UrnError."""
    return stated(text)


def reference(text: str | None, where: Urn | str) -> Urn | None:
    """What a text refers to, if there is one. Raises MessageError."""
    if text is None:
        return None
    try:
        return referred(text)
    except UrnError as error:
        raise MessageError(f"reading {where}, a reference in it: {error}") from None


@lru_cache(maxsize=1024)
def enumerated(text: str) -> Representation:
    """A representation that is a list of values and nothing more. Raises UrnError."""
    return Representation(enumeration=stated(text))


def references(texts: list[str] | None, where: Urn | str) -> tuple[Urn, ...]:
    """What all these texts refer to. Raises MessageError."""
    if not texts:
        return ()
    return tuple(found for text in texts if (found := reference(text, where)) is not None)
