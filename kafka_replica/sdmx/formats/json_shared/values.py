"""Parts that Fusion-JSON and SDMX-JSON write in the same way: references, ids of items, the facets of a text."""

from __future__ import annotations

from collections.abc import Callable, Container
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, TypeVar

import msgspec

from kafka_replica.sdmx.errors import MessageError, UrnError
from kafka_replica.sdmx.formats.shared.reading.parse_lenient import parse_lenient
from kafka_replica.sdmx.representation import Representation, TextFormat
from kafka_replica.sdmx.urn import Urn


class WireFacets(msgspec.Struct, rename="camel", gc=False):
    """The facets of a text except for flags, which have several spellings."""

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


def cached_text_format(wire: F, where: Urn, make: Callable[[F, Urn], TextFormat], *, is_whole: bool) -> TextFormat:
    """Return the format of a text. Equal formats are built once, because there are few. Raises MessageError.

    ``make`` builds the format; ``is_whole`` is True if its fields are plain values that describe it completely.
    """
    # Equal decimals may be written in several ways, and patterns may be as long as a message.
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
    """Return the facets as arguments of a ``TextFormat``, except for its type. Raises MessageError."""
    found = {name: getattr(wire, name) for name in _FACETS}
    for name, value in found.items():
        if isinstance(value, Decimal) and not value.is_finite():
            raise MessageError(f"reading {where}: {name} {value} is not a number")
    return found


_USUAL: Final = 256


def component_urn(structure: Urn, class_: str, component: str, taken: set[str]) -> Urn:
    """Return the URN of a component of a data structure, faster than ``item_urn``. Raises MessageError."""
    # Ids of components are identifiers of a programming language, with few exceptions.
    if component.isidentifier() and component.isascii() and component not in taken and len(component) < _USUAL:
        return Urn(structure.package, class_, structure.agency, structure.id, structure.version, component)
    return item_urn(structure, class_, component, taken)


def item_urn(scheme: Urn, class_: str, item: str | None, taken: Container[str]) -> Urn:
    """Return the URN of an item, which must have a unique id. Raises MessageError."""
    if item is not None and item in taken:
        raise MessageError(f"reading {scheme}: the id {item[:80]!r} comes twice, and which one counts cannot be known")
    try:
        return scheme.with_item(class_, item or "")
    except UrnError as error:
        raise MessageError(f"reading {scheme}: {error}") from None


@lru_cache(maxsize=4096)
def referred(text: str) -> Urn:
    """Return the URN that a text refers to; the last few thousand are cached. Raises UrnError."""
    return parse_lenient(text)


def reference(text: str | None, where: Urn | str) -> Urn | None:
    """Return the URN that a text refers to, or None if there is no text. Raises MessageError."""
    if text is None:
        return None
    try:
        return referred(text)
    except UrnError as error:
        raise MessageError(f"reading {where}, a reference in it: {error}") from None


@lru_cache(maxsize=1024)
def enumerated(text: str) -> Representation:
    """Return a representation that is a list of values and nothing more. Raises UrnError."""
    return Representation(enumeration=parse_lenient(text))


def references(texts: list[str] | None, where: Urn | str) -> tuple[Urn, ...]:
    """Return the URNs that these texts refer to. Raises MessageError."""
    if not texts:
        return ()
    return tuple(found for text in texts if (found := reference(text, where)) is not None)
