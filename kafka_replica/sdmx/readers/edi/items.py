"""Codelists and concepts of SDMX-EDI."""

from __future__ import annotations

from typing import TypeVar

from kafka_replica.sdmx.containers import NO_TEXT, InternationalString, Items
from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.formats.shared.reading.standalone import synthetic_name
from kafka_replica.sdmx.model import Code, Codelist, Concept, ConceptScheme
from kafka_replica.sdmx.readers.edi.messages import part
from kafka_replica.sdmx.readers.edi.syntax import Segment, fail
from kafka_replica.sdmx.readers.edi.texts import Texts
from kafka_replica.sdmx.urn import Urn

T = TypeVar("T", Code, Concept)


def codelist(urn: Urn, body: list[Segment]) -> Codelist:
    """Read a codelist: VLI, then CDV and FTX for each code. Raises MessageError."""
    elements = body[0].elements()
    name = "".join(elements[3]) if len(elements) > 3 else ""
    codes, texts = _items(urn, "Code", Code, body[1:], "CDV")
    return Codelist(
        urn=urn,
        names=InternationalString([("en", name)]) if name else texts,
        descriptions=texts if name else NO_TEXT,
        codes=codes,
    )


def concept_scheme(urn: Urn, body: list[Segment]) -> ConceptScheme:
    """Read the concepts of an agency: STC and FTX for each. Raises MessageError."""
    concepts, _ = _items(urn, "Concept", Concept, body, "STC")
    return ConceptScheme(urn=urn, names=synthetic_name(urn), concepts=concepts)


def _items(
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
        elif segment.tag in {"CDV", "SCD", "ATT"}:
            fail(segment.number, f"{segment.tag} has no place here")
    _keep(items, own, texts, make, body[-1].number if body else 0)
    return Items(items), before.together()


def _keep(items: dict[str, T], own: Urn | None, texts: Texts, make: type[T], number: int) -> None:
    """Add an item that was read. Several messages may repeat the concepts they need if all definitions agree."""
    if own is None:
        return
    made = make(urn=own, names=texts.together())
    id_ = own.item or ""
    if id_ in items and (own.cls == "Code" or items[id_] != made):
        fail(number, f"the id {id_[:80]!r} comes twice, and which one counts cannot be known")
    items[id_] = made


def _item_urn(scheme: Urn, class_: str, segment: Segment) -> Urn:
    try:
        return scheme.with_item(class_, part(segment.elements(), 0))
    except UrnError as error:
        fail(segment.number, str(error))
