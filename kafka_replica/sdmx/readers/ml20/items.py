"""Codelists and concepts of SDMX-ML 1.0 and 2.0."""

from __future__ import annotations

from threading import Lock
from typing import Any

from lxml import etree

from kafka_replica.sdmx.containers import Items, LazyItems, collector_paused, items_of, numbered
from kafka_replica.sdmx.earlier import VersionedConcept
from kafka_replica.sdmx.formats.ml.reading.tree import Names
from kafka_replica.sdmx.formats.ml.reading.values import Child, named
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION
from kafka_replica.sdmx.formats.shared.reading.standalone import synthetic_name
from kafka_replica.sdmx.model import Code, Codelist, Concept, ConceptScheme
from kafka_replica.sdmx.readers.ml20.edition import Source
from kafka_replica.sdmx.readers.ml20.references import made
from kafka_replica.sdmx.readers.ml20.values import id_of, item_urn, maintained
from kafka_replica.sdmx.representation import Representation
from kafka_replica.sdmx.urn import Urn


def codelist(urn: Urn, elements: list[etree._Element], source: Source) -> Codelist:
    """Read a <CodeList>. The name of a code is in its Description.

    Ids are read and checked at once, the rest on access: only the id of a code can be invalid.
    """
    ids: list[str] = []
    base, _ = maintained(elements[0], source, ids)
    numbers = numbered([id_.strip() for id_ in ids]) if ids else None
    if numbers is not None:
        return Codelist(urn=urn, codes=LazyItems(numbers, _Codes(urn, elements[0], source.names).code), **base)
    codes: dict[str, Code] = {}
    for element in [one for one in elements[0] if source.names[one.tag] == "Code"] if ids else ():
        value = id_of(element, codes, "value")
        codes[value] = _code(item_urn(urn, "Code", element, value), element, source.names)
    return Codelist(urn=urn, codes=items_of(urn, codes, is_stub=base["is_external_reference"]), **base)


class _Codes:
    """The elements of the codes of a list, until the first access to a code."""

    __slots__ = ("_codelist", "_lock", "_names", "_read", "_urn")

    def __init__(self, urn: Urn, codelist: etree._Element, names: Names) -> None:
        self._urn, self._names = urn, names
        self._codelist: etree._Element | None = codelist
        self._lock = Lock()
        self._read: list[Code] = []

    def code(self, _: str, number: int) -> Code:
        """Return the code of a number; the first access builds all codes and releases the document."""
        with self._lock:
            if self._codelist is not None:
                # libxml2 reaches the hundredth child only by way of the others.
                elements = [one for one in self._codelist if self._names[one.tag] == "Code"]
                with collector_paused():
                    self._read = [_code(self._own(one), one, self._names) for one in elements]
                self._codelist = None
            return self._read[number]

    def _own(self, element: etree._Element) -> Urn:
        urn = self._urn
        return Urn(urn.package, "Code", urn.agency, urn.id, urn.version, element.get("value", "").strip())


def _code(own: Urn, element: etree._Element, names: Names) -> Code:
    arguments, _ = named(element, names)
    if "names" not in arguments and "descriptions" in arguments:
        arguments["names"] = arguments.pop("descriptions")
    parent = element.get("parentCode")
    if parent:
        arguments["parent"] = parent
    return Code(urn=own, **arguments)


def concept_scheme(urn: Urn, elements: list[etree._Element], source: Source) -> ConceptScheme:
    """Read a <ConceptScheme>, or all standalone <Concept>s of an agency."""
    if source.names[elements[0].tag] == "Concept":
        return ConceptScheme(urn=urn, names=synthetic_name(urn), concepts=Items(_concepts(urn, elements, source)))
    base, rest = maintained(elements[0], source)
    concepts = _concepts(urn, [element for kind, element in rest if kind == "Concept"], source)
    return ConceptScheme(urn=urn, concepts=items_of(urn, concepts, is_stub=base["is_external_reference"]), **base)


def _concepts(urn: Urn, elements: list[etree._Element], source: Source) -> dict[str, Concept]:
    concepts: dict[str, Concept] = {}
    for element in elements:
        id_ = id_of(element, {})
        arguments, rest = named(element, source.names)
        parent = element.get("parent")
        if parent:
            arguments["parent"] = parent
        core = _core_representation(element, rest, source, urn.agency)
        if core is not None:
            arguments["core_representation"] = core
        own = item_urn(urn, "Concept", element, id_)
        version = element.get("version") or DEFAULT_VERSION
        concept = (
            Concept(urn=own, **arguments)
            if version == DEFAULT_VERSION
            else VersionedConcept(urn=own, version=version, **arguments)
        )
        # Several key families may repeat the concepts they need.
        if concepts.setdefault(id_, concept) != concept:
            id_of(element, concepts)
    return concepts


def _core_representation(
    element: etree._Element, rest: list[Child], source: Source, agency: str
) -> Representation | None:
    id_ = element.get("coreRepresentation")
    own = element.get("coreRepresentationAgency") or agency
    version = element.get("coreRepresentationVersion") or DEFAULT_VERSION
    enumeration = made(element, "Codelist", own, id_, version) if id_ else None
    formats: list[Any] = [
        source.edition.text_format(child, source.names) for kind, child in rest if kind == "TextFormat"
    ]
    if enumeration is None and not formats:
        return None
    return Representation(enumeration=enumeration, format=formats[0] if formats else None)
