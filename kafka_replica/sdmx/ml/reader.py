"""Reading a structure message of SDMX-ML 2.1, 3.0 or 3.1 into the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from lxml import etree

from kafka_replica.sdmx.formats import Format
from kafka_replica.sdmx.message import Header, Message
from kafka_replica.sdmx.ml.cut import Cutter
from kafka_replica.sdmx.ml.items import codelist, concept_scheme, value_list
from kafka_replica.sdmx.ml.structures import data_structure, dataflow
from kafka_replica.sdmx.ml.tree import Names, artefacts_of, header_of, parse
from kafka_replica.sdmx.ml.values import Child, boolean, named, text_of
from kafka_replica.sdmx.model import Artefact, OpaqueArtefact
from kafka_replica.sdmx.urn import Urn

_READERS: Final[dict[str, Callable[[Urn, dict[str, Any], list[Child], Names], Artefact]]] = {
    "Codelist": codelist,
    "ValueList": value_list,
    "ConceptScheme": concept_scheme,
    "DataStructure": data_structure,
    "Dataflow": dataflow,
}


def read_message(data: bytes) -> Message:
    """The message in these bytes. Raises MessageError, UnreadableContentError."""
    format_, root = parse(data)
    names = Names(format_)
    cutter = Cutter(names, len(data))
    artefacts = [_artefact(urn, element, names, cutter, format_) for urn, element in artefacts_of(root, names)]
    return Message(format_, _header(header_of(root, names), names), artefacts)


def _artefact(urn: Urn, element: etree._Element, names: Names, cutter: Cutter, format_: Format) -> Artefact:
    arguments, rest = named(element, names)
    arguments.update(
        valid_from=element.get("validFrom"),
        valid_to=element.get("validTo"),
        is_final=boolean(element, "isFinal") or False,
        is_partial=boolean(element, "isPartial") or False,
        is_external_reference=boolean(element, "isExternalReference") or False,
        service_url=element.get("serviceURL"),
        structure_url=element.get("structureURL"),
    )
    read = _READERS.get(urn.cls)
    if read is None or not names[element.tag]:
        return OpaqueArtefact(urn=urn, content=cutter.message_of(element), content_type=format_, **arguments)
    return read(urn, arguments, rest, names)


def _header(element: etree._Element | None, names: Names) -> Header:
    if element is None:
        return Header()
    parts = {names[child.tag]: child for child in reversed(element)}
    texts = {kind: text_of(child).strip() for kind, child in parts.items() if kind in {"ID", "Prepared", "Test"}}
    sender = parts.get("Sender")
    return Header(
        id=texts.get("ID"),
        sender=sender.get("id") if sender is not None else None,
        prepared=texts.get("Prepared"),
        test=texts.get("Test") in {"true", "1"},
    )
