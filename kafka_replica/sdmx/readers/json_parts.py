"""What Fusion-JSON and SDMX-JSON write alike: references, ids of items, the facets of a text."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from itertools import chain
from typing import Any, Final, Protocol, TypeAlias, TypeVar

import msgspec

from kafka_replica.errors import MessageError, UrnError
from kafka_replica.sdmx.containers import Items, LazyItems, items_of, numbered
from kafka_replica.sdmx.model import Attribute, Dimension, Measure
from kafka_replica.sdmx.readers.stated import stated
from kafka_replica.sdmx.representation import Representation, TextFormat
from kafka_replica.sdmx.urn import Urn, parsed

T = TypeVar("T")
W = TypeVar("W")
Written: TypeAlias = tuple[str, W]
"""A component as it is written, after its class."""


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
    """The format of a text, made once of the same words, for formats are few. Raises MessageError.

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
    """The facets as arguments of a ``TextFormat``, but for its type. Raises MessageError."""
    found = {name: getattr(wire, name) for name in _FACETS}
    for name, value in found.items():
        if isinstance(value, Decimal) and not value.is_finite():
            raise MessageError(f"reading {where}: {name} {value} is not a number")
    return found


def item_urn(scheme: Urn, class_: str, item: str | None, taken: dict[str, Any]) -> Urn:
    """The URN of an item; it must have an id that no other has. Raises MessageError."""
    if item in taken:
        raise MessageError(f"reading {scheme}: the id {item[:80]!r} comes twice, and which one counts cannot be known")
    try:
        return scheme.with_item(class_, item or "")
    except UrnError as error:
        raise MessageError(f"reading {scheme}: {error}") from None


class Components(Protocol[W]):
    """The components of a data structure as they are written, list by list; makes each when it is asked for."""

    urn: Urn
    lists: tuple[list[Written[W]], list[Written[W]], list[Written[W]]]
    """Dimensions, measures, attributes."""

    def id_of(self, class_: str, wire: W) -> str:
        """The id of one. Raises MessageError for whatever is wrong with it."""
        ...

    def dimension(self, id_: str, number: int) -> Dimension:
        """The dimension of a number."""
        ...

    def measure(self, id_: str, number: int) -> Measure:
        """The measure of a number."""
        ...

    def attribute(self, id_: str, number: int) -> Attribute:
        """The attribute of a number."""
        ...


def lazy_components(
    written: Components[W], *, is_stub: bool
) -> tuple[Items[Dimension], Items[Measure], Items[Attribute]]:
    """Dimensions, measures and attributes, all looked at, none made yet.

    Raises:
        MessageError: something is wrong with one of them; two have the same id, in whichever lists.
    """
    urn, id_of = written.urn, written.id_of
    dimensions, measures, attributes = ids = [[id_of(class_, wire) for class_, wire in some] for some in written.lists]
    if numbered(dimensions + measures + attributes) is None:
        # One of them is wrong: this tells which, if it is not only unusual.
        taken: dict[str, None] = {}
        for (class_, _), id_ in zip(chain(*written.lists), chain(*ids), strict=True):
            item_urn(urn, class_, id_, taken)
            taken[id_] = None
    return (
        _lazily(urn, dimensions, written.dimension, is_stub=is_stub),
        _lazily(urn, measures, written.measure, is_stub=is_stub),
        _lazily(urn, attributes, written.attribute, is_stub=is_stub),
    )


def _lazily(urn: Urn, ids: list[str], make: Callable[[str, int], T], *, is_stub: bool) -> Items[T]:
    if not ids:
        return items_of(urn, {}, is_stub=is_stub)
    return LazyItems({id_: number for number, id_ in enumerate(ids)}, make)


def reference(text: str | None, where: Urn | str) -> Urn | None:
    """What a text refers to, if there is one. Raises MessageError."""
    if text is None:
        return None
    try:
        return parsed(text)
    except UrnError:
        pass
    try:
        return stated(text)
    except UrnError as error:
        raise MessageError(f"reading {where}, a reference in it: {error}") from None


def enumerated(text: str, where: Urn | str) -> Representation:
    """A representation that is a list of values and nothing more. Raises MessageError."""
    try:
        return _enumerated(text)
    except UrnError as error:
        raise MessageError(f"reading {where}, a reference in it: {error}") from None


@lru_cache(maxsize=1024)
def _enumerated(text: str) -> Representation:
    return Representation(enumeration=stated(text))


def references(texts: list[str] | None, where: Urn | str) -> tuple[Urn, ...]:
    """What all these texts refer to. Raises MessageError."""
    if not texts:
        return ()
    return tuple(found for text in texts if (found := reference(text, where)) is not None)
