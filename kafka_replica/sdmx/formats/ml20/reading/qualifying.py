"""Qualify the references in a message of SDMX-ML 1.0 or 2.0 that name an id but no agency.

1.0 has no attribute for the agency in the references of a component, and in 2.0 many messages leave it out. Such a
reference means the agency of the key family, unless the message itself is more specific: if it holds exactly one list
with that id, the reference means this list. The agency is written into the tree before the message is read or split, so
that each artefact keeps its meaning in a message of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from lxml import etree

from kafka_replica.sdmx.formats.ml20.reading.edition import Source
from kafka_replica.sdmx.formats.ml20.reading.references import parts_of
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION
from kafka_replica.sdmx.formats.shared.reading.standalone import STANDALONE_CONCEPTS

_STRUCTURES: Final = ("KeyFamily", "MetadataStructureDefinition")
_LISTS: Final = ("CodeList", "ConceptScheme", *_STRUCTURES)
_KINDS: Final = {"Codelist": "CodeList", "Concept": "ConceptScheme"}
"""Kind of scheme, as an identifier component names it -> element."""
_FLOWS: Final = {"Dataflow": ("KeyFamily", "KeyFamily"), "Metadataflow": ("MetadataStructure", _STRUCTURES[1])}
"""Flow -> the name of its reference (with Ref), and the element of the referenced structure."""


class _HeldArtefact(NamedTuple):
    """An artefact of the message, or the scheme of a concept: its id, agency and version."""

    id: str
    agency: str
    version: str


def qualify(root: etree._Element, source: Source) -> None:
    """Write agency and version into each unqualified reference that means an artefact of the message."""
    elements: dict[str, list[etree._Element]] = {kind: [] for kind in (*_LISTS, *_FLOWS, "Concept")}
    for element in root.iter(*(f"{{*}}{kind}" for kind in elements)):
        if kind := source.names[element.tag]:
            elements[kind].append(element)
    lists = _Lists(elements, source)
    for structure in (one for kind in _STRUCTURES for one in elements[kind]):
        agency = source.agency_of(structure) or ""
        for element in structure.iter("{*}*"):
            lists.qualify_component(element, agency)
    for flow, (word, kind) in _FLOWS.items():
        for one in elements[flow]:
            lists.qualify_flow(one, word, kind, source.agency_of(one) or "")
    for one in elements["Concept"]:
        lists.qualify_concept(one)


class _Lists:
    """The artefacts of a message by element and id."""

    def __init__(self, elements: Mapping[str, list[etree._Element]], source: Source) -> None:
        self._source = source
        self._lists: dict[tuple[str, str], list[_HeldArtefact]] = {}
        self._concepts: dict[str, list[_HeldArtefact]] = {}
        for kind in _LISTS:
            for element in elements[kind]:
                held = self._held(element)
                self._lists.setdefault((kind, held.id), []).append(held)
        for concept in elements["Concept"]:
            self._concepts.setdefault(concept.get("id", "").strip(), []).append(self._scheme_of(concept))

    def _held(self, element: etree._Element) -> _HeldArtefact:
        agency, version = self._source.agency_of(element) or "", element.get("version", "")
        return _HeldArtefact(element.get("id", "").strip(), agency.strip(), version.strip() or DEFAULT_VERSION)

    def _scheme_of(self, concept: etree._Element) -> _HeldArtefact:
        holder = concept.getparent()
        if holder is not None and self._source.names[holder.tag] == "ConceptScheme":
            return self._held(holder)
        return _HeldArtefact(STANDALONE_CONCEPTS, (self._source.agency_of(concept) or "").strip(), DEFAULT_VERSION)

    def only(self, kind: str, id_: str, version: str | None, agency: str) -> _HeldArtefact | None:
        """Return the list that an unqualified reference means; None if it is the agency's own list, or is not known."""
        return _only(self._lists.get((kind, id_), ()), _HeldArtefact(id_, agency, version or DEFAULT_VERSION), version)

    def qualify_component(self, element: etree._Element, agency: str) -> None:
        """Qualify the references of a component: its concept and its codelist."""
        self._qualify_concept_of(element, agency)
        for attribute in ("codelist", "representationScheme"):
            id_, kind = element.get(attribute), _KINDS.get(element.get("representationSchemeType", "Codelist"))
            if not id_ or kind is None or element.get(f"{attribute}Agency"):
                continue
            found = self.only(kind, id_, element.get(f"{attribute}Version"), agency)
            if found is not None:
                element.set(f"{attribute}Agency", found.agency)
                element.set(f"{attribute}Version", found.version)

    def _qualify_concept_of(self, element: etree._Element, agency: str) -> None:
        id_, own = element.get(self._source.edition.concept), element.get("conceptAgency")
        scheme, version = element.get("conceptSchemeRef"), element.get("conceptVersion")
        if not id_ or element.get("conceptSchemeAgency") or (scheme and own):
            return
        found = self._scheme(scheme, version, agency) if scheme else self._scheme_with(id_, version, own, agency)
        if found is None:
            return
        if found.id == STANDALONE_CONCEPTS:
            element.set("conceptAgency", found.agency)
            return
        element.set("conceptSchemeRef", found.id)
        element.set("conceptSchemeAgency", found.agency)
        element.set("conceptVersion", found.version)

    def _scheme(self, id_: str, version: str | None, agency: str) -> _HeldArtefact | None:
        return self.only("ConceptScheme", id_, version, agency)

    def _scheme_with(self, concept: str, version: str | None, own: str | None, agency: str) -> _HeldArtefact | None:
        """Return the scheme of a concept that is named without its scheme; prefer the standalone concepts."""
        schemes = [one for one in self._concepts.get(concept, ()) if own is None or one.agency == own]
        alone = [scheme for scheme in schemes if scheme.id == STANDALONE_CONCEPTS]
        default = _HeldArtefact(STANDALONE_CONCEPTS, own or agency, DEFAULT_VERSION)
        return _only(alone or schemes, default, None if alone else version)

    def qualify_concept(self, concept: etree._Element) -> None:
        """Qualify the codelist of a concept's core representation."""
        id_ = concept.get("coreRepresentation")
        if not id_ or concept.get("coreRepresentationAgency"):
            return
        found = self.only("CodeList", id_, None, self._scheme_of(concept).agency)
        if found is not None:
            concept.set("coreRepresentationAgency", found.agency)
            if found.version != DEFAULT_VERSION:
                concept.set("coreRepresentationVersion", found.version)

    def qualify_flow(self, flow: etree._Element, word: str, kind: str, agency: str) -> None:
        """Qualify the reference of a flow to its structure."""
        for element in flow:
            if self._source.names[element.tag] != f"{word}Ref":
                continue
            parts = parts_of(element, self._source)
            if f"{word}AgencyID" in parts or f"{word}ID" not in parts:
                continue
            found = self.only(kind, parts[f"{word}ID"], parts.get("Version"), agency)
            if found is None:
                continue
            for name, text in ((f"{word}AgencyID", found.agency), ("Version", found.version)):
                if name not in parts:
                    etree.SubElement(element, element.tag.replace(f"{word}Ref", name)).text = text


def _only(lists: Iterable[_HeldArtefact], default: _HeldArtefact, version: str | None) -> _HeldArtefact | None:
    """Return the only matching list; None if there are several, or if the reference means the match by default."""
    found = {list_ for list_ in lists if version is None or list_.version == version}
    return found.pop() if len(found) == 1 and default not in found else None
