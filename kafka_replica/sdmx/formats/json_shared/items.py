"""Items in JSON: their ids, which make up their URNs, and items in items."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import Final, Protocol, TypeVar

from kafka_replica.sdmx.errors import MessageError, UrnError
from kafka_replica.sdmx.formats.json_shared.values import fail
from kafka_replica.sdmx.urns.urn import Urn


class WithId(Protocol):
    """An object with an id, as decoded."""

    id: str | None


T = TypeVar("T")
W = TypeVar("W", bound=WithId)

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
        raise MessageError(f"reading {scheme}: the id {item[:80]!r} is duplicated, so its meaning is ambiguous")
    try:
        return scheme.with_item(class_, item or "")
    except UrnError as error:
        raise MessageError(f"reading {scheme}: {error}") from None


MAX_DEPTH: Final = 256
"""The maximum depth of nested items (categories, hierarchical codes, steps), the same as that of XML elements."""


def read_items(
    urn: Urn, class_: str, wires: Iterable[W] | None, make: Callable[[Urn, W], T], inside: str | None = None
) -> dict[str, T]:
    """Build items by id; ``inside`` is the path of their parent.

    Raises:
        MessageError: an item has no id, its id is repeated, or the items are nested too deep.
    """
    found: dict[str, T] = {}
    if inside is not None and inside.count(".") > MAX_DEPTH:
        fail(urn, f"items are nested more than {MAX_DEPTH} levels deep")
    for wire in wires or ():
        own = wire.id or ""
        if own in found:
            fail(urn, f"the id {own[:80]!r} is duplicated, so its meaning is ambiguous")
        found[own] = make(item_urn(urn, class_, own if inside is None or not own else f"{inside}.{own}", {}), wire)
    return found
