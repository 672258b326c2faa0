"""The items of a codelist or a scheme of concepts in SDMX-EDI."""

from __future__ import annotations

from typing import TypeVar

from kafka_replica.sdmx.containers import InternationalString, Items
from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.formats.edi.reading.messages import part, refuse_segment
from kafka_replica.sdmx.formats.edi.reading.syntax import Segment, fail
from kafka_replica.sdmx.formats.edi.reading.texts import Texts
from kafka_replica.sdmx.model import Code, Concept
from kafka_replica.sdmx.urns.urn import Urn

T = TypeVar("T", Code, Concept)


def items_in(
    scheme: Urn, class_: str, make: type[T], body: list[Segment], start: str
) -> tuple[Items[T], InternationalString]:
    """Return the items, and the texts that precede the first item."""
    items: dict[str, T] = {}
    own: Urn | None = None
    texts = before = Texts()
    for segment in body:
        if segment.tag == start:
            _keep(items, own, texts, make, segment.number - 1)
            own, texts = _item_urn(scheme, class_, segment), Texts()
        elif segment.tag == "FTX":
            texts.add(segment)
        else:
            refuse_segment(segment, scheme)
    _keep(items, own, texts, make, body[-1].number if body else 0)
    return Items(items), before.together()


def _keep(items: dict[str, T], own: Urn | None, texts: Texts, make: type[T], number: int) -> None:
    """Add an item that was read. Several messages may repeat the concepts they need if all definitions agree."""
    if own is None:
        return
    made = make(urn=own, names=texts.together())
    id_ = own.item or ""
    if id_ in items and (own.cls == "Code" or items[id_] != made):
        fail(number, f"the id {id_[:80]!r} is duplicated, so its meaning is ambiguous")
    items[id_] = made


def _item_urn(scheme: Urn, class_: str, segment: Segment) -> Urn:
    try:
        return scheme.with_item(class_, part(segment.elements(), 0))
    except UrnError as error:
        fail(segment.number, str(error))
