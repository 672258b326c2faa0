"""What Fusion-JSON and SDMX-JSON write alike: references, ids of items, the facets of a text."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

import msgspec

from kafka_replica.errors import MessageError, UrnError
from kafka_replica.sdmx.readers.stated import stated
from kafka_replica.sdmx.representation import Representation
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


def reference(text: str | None, where: Urn | str) -> Urn | None:
    """What a text refers to, if there is one. Raises MessageError."""
    if text is None:
        return None
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
