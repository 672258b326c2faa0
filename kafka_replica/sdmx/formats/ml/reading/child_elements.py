"""Shared parts of the readers of artefacts: references, texts and items among the children of an element."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from lxml import etree

from kafka_replica.sdmx.containers import NO_TEXT, InternationalString, Items, items_of
from kafka_replica.sdmx.formats.ml.reading.items import id_of, item_urn
from kafka_replica.sdmx.formats.ml.reading.tree import Names, fail
from kafka_replica.sdmx.formats.ml.reading.values import Child, Item, language_of, reference, text_of
from kafka_replica.sdmx.urns.urn import Urn

T = TypeVar("T")


def pick(rest: Iterable[Child], *kinds: str) -> Iterator[etree._Element]:
    """Yield the children with these names."""
    return (element for kind, element in rest if kind in kinds)


def first(rest: Iterable[Child], *kinds: str) -> etree._Element | None:
    """Return the child with one of these names, if any. Raises MessageError if there are several."""
    found: etree._Element | None = None
    for element in pick(rest, *kinds):
        if found is not None:
            fail(element, "it is duplicated, so its meaning is ambiguous")
        found = element
    return found


def text(rest: Iterable[Child], kind: str) -> str | None:
    """Return the text of a child with this name, as written; None if there is none."""
    found = first(rest, kind)
    return None if found is None else text_of(found)


def texts(rest: Iterable[Child], kind: str) -> tuple[str, ...]:
    """Return the texts of all children with this name, without blanks around them."""
    return tuple(text_of(element).strip() for element in pick(rest, kind))


def international(rest: Iterable[Child], kind: str) -> InternationalString:
    """Return the texts of all children with this name, by language."""
    found = [(language_of(element), text_of(element)) for element in pick(rest, kind)]
    return InternationalString(found) if found else NO_TEXT


def ref(rest: Iterable[Child], kind: str, names: Names, class_: str | None = None) -> Urn | None:
    """Return the URN in a child with this name; ``class_``, by default ``kind``, applies if the child has no class."""
    found = first(rest, kind)
    return None if found is None else reference(found, names, class_ or kind)


def refs(rest: Iterable[Child], kind: str, names: Names, class_: str | None = None) -> tuple[Urn, ...]:
    """Return the URNs in all children with this name."""
    return tuple(reference(element, names, class_ or kind) for element in pick(rest, kind))


def known(element: etree._Element, names: Names) -> list[Child]:
    """Return the children of an element that belong to SDMX, by name."""
    return [(kind, child) for child in element if (kind := names[child.tag])]


def read_items(
    scheme: Urn,
    class_: str,
    elements: Iterable[etree._Element],
    names: Names,
    make: Callable[[Item], T],
    path: str | None = None,
    default_id: Callable[[etree._Element, Names], str | None] | None = None,
) -> dict[str, T]:
    """Return items by id. Raises MessageError for a repeated id.

    ``path`` is the path of their parent; ``default_id`` returns the id of an element that states none.
    """
    found: dict[str, T] = {}
    for element in elements:
        default = default_id(element, names) if default_id is not None and not element.get("id") else None
        id_ = id_of(element, found, default)
        urn = item_urn(scheme, class_, element, f"{path}.{id_}" if path else id_)
        found[id_] = make(Item(element, urn, names))
    return found


def nested(item: Item, kind: str, make: Callable[[Item], T], class_: str | None = None) -> Items[T]:
    """Return the items below an item."""
    found = read_items(item.urn, class_ or item.urn.cls, pick(item.rest, kind), item.names, make, path=item.urn.item)
    return Items(found)


def scheme_items(
    urn: Urn, base: dict[str, Any], class_: str, elements: Iterable[etree._Element], names: Names,
    make: Callable[[Item], T],
) -> Items[T]:  # fmt: skip
    """Return the items of a scheme, or those of a stub."""
    return items_of(urn, read_items(urn, class_, elements, names, make), is_stub=base["is_external_reference"])
