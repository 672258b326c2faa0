"""Qualify the references in a message of SDMX-ML 1.0 or 2.0 that name an id but no agency.

1.0 has no attribute for the agency in the references of a component, and in 2.0 many messages leave it out. Such a
reference means the agency of the key family, unless the message itself is more specific: if it holds exactly one list
with that id, the reference means this list. The agency is written into the tree before the message is read or split, so
that each artefact keeps its meaning in a message of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from lxml import etree

from kafka_replica.sdmx.formats.ml20.reading.category_paths import complete_categories
from kafka_replica.sdmx.formats.ml20.reading.message_context import MessageContext, stated
from kafka_replica.sdmx.formats.ml20.reading.references import parts_of, scheme_version
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION
from kafka_replica.sdmx.formats.shared.reading.standalone_items import STANDALONE_CONCEPTS

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


def qualify(root: etree._Element, context: MessageContext) -> None:
    """Write agency and version into each unqualified reference that means an artefact of the message.

    A reference to a category by its own id alone gets the ids above it.
    """
    complete_categories(root, context)
    elements: dict[str, list[etree._Element]] = {kind: [] for kind in (*_LISTS, *_FLOWS, "Concept")}
    for element in root.iter(*(f"{{*}}{kind}" for kind in elements)):
        if kind := context.names[element.tag]:
            elements[kind].append(element)
    lists = _Lists(elements, context)
    for structure in (one for kind in _STRUCTURES for one in elements[kind]):
        agency = context.agency_of(structure) or ""
        for element in structure.iter("{*}*"):
            lists.qualify_component(element, agency)
    for flow, (word, kind) in _FLOWS.items():
        for one in elements[flow]:
            lists.qualify_flow(one, word, kind, context.agency_of(one) or "")
    for one in elements["Concept"]:
        lists.qualify_concept(one)


class _Lists:
    """The artefacts of a message by element, id and version, and schemes by concept, agency and version."""

    def __init__(self, elements: Mapping[str, list[etree._Element]], context: MessageContext) -> None:
        self._context = context
        self._lists: dict[tuple[str, str, str | None], set[_HeldArtefact]] = {}
        self._concepts: dict[tuple[str, str | None, str | None], set[_HeldArtefact]] = {}
        self._alone: dict[tuple[str, str | None], set[_HeldArtefact]] = {}
        for kind in _LISTS:
            for element in elements[kind]:
                held = self._held(element)
                for version in (None, held.version):
                    self._lists.setdefault((kind, held.id, version), set()).add(held)
        for concept in elements["Concept"]:
            self._add_concept(stated(concept, "id") or "", self._scheme_of(concept))

    def _held(self, element: etree._Element) -> _HeldArtefact:
        agency, version = self._context.agency_of(element) or "", stated(element, "version") or DEFAULT_VERSION
        return _HeldArtefact(stated(element, "id") or "", agency, version)

    def _add_concept(self, id_: str, scheme: _HeldArtefact) -> None:
        for agency in (None, scheme.agency):
            if scheme.id == STANDALONE_CONCEPTS:
                self._alone.setdefault((id_, agency), set()).add(scheme)
            for version in (None, scheme.version):
                self._concepts.setdefault((id_, agency, version), set()).add(scheme)

    def _scheme_of(self, concept: etree._Element) -> _HeldArtefact:
        holder = concept.getparent()
        if holder is not None and self._context.names[holder.tag] == "ConceptScheme":
            return self._held(holder)
        return _HeldArtefact(STANDALONE_CONCEPTS, self._context.agency_of(concept) or "", DEFAULT_VERSION)

    def only(self, kind: str, id_: str, version: str | None, agency: str) -> _HeldArtefact | None:
        """Return the list that an unqualified reference means; None if it is the agency's own list, or is not known."""
        default = _HeldArtefact(id_, agency, version or DEFAULT_VERSION)
        return _only(self._lists.get((kind, id_, version), frozenset()), default)

    def qualify_component(self, element: etree._Element, agency: str) -> None:
        """Qualify the references of a component: its concept and its codelist."""
        self._qualify_concept_of(element, agency)
        for attribute in ("codelist", "representationScheme"):
            id_ = stated(element, attribute)
            kind = _KINDS.get(stated(element, "representationSchemeType") or "Codelist")
            if not id_ or kind is None or stated(element, f"{attribute}Agency"):
                continue
            found = self.only(kind, id_, stated(element, f"{attribute}Version"), agency)
            if found is not None:
                element.set(f"{attribute}Agency", found.agency)
                element.set(f"{attribute}Version", found.version)

    def _qualify_concept_of(self, element: etree._Element, agency: str) -> None:
        id_, own = stated(element, self._context.edition.concept), stated(element, "conceptAgency")
        scheme, version = stated(element, "conceptSchemeRef"), scheme_version(element)
        if not id_ or stated(element, "conceptSchemeAgency") or (scheme and own):
            return
        found = self._scheme(scheme, version, agency) if scheme else self._scheme_with(id_, version, own, agency)
        if found is None:
            return
        if found.id == STANDALONE_CONCEPTS:
            element.set("conceptAgency", found.agency)
            return
        element.set("conceptSchemeRef", found.id)
        element.set("conceptSchemeAgency", found.agency)
        element.attrib.pop("conceptSchemeVersion", "")
        element.set("conceptVersion", found.version)

    def _scheme(self, id_: str, version: str | None, agency: str) -> _HeldArtefact | None:
        return self.only("ConceptScheme", id_, version, agency)

    def _scheme_with(self, concept: str, version: str | None, own: str | None, agency: str) -> _HeldArtefact | None:
        """Return the scheme of a concept that is named without its scheme; prefer the standalone concepts."""
        default = _HeldArtefact(STANDALONE_CONCEPTS, own or agency, DEFAULT_VERSION)
        found = self._alone.get((concept, own)) or self._concepts.get((concept, own, version))
        return _only(found or frozenset(), default)

    def qualify_concept(self, concept: etree._Element) -> None:
        """Qualify the codelist of a concept's core representation."""
        id_ = stated(concept, "coreRepresentation")
        if not id_ or stated(concept, "coreRepresentationAgency"):
            return
        found = self.only("CodeList", id_, None, self._scheme_of(concept).agency)
        if found is not None:
            concept.set("coreRepresentationAgency", found.agency)
            if found.version != DEFAULT_VERSION:
                concept.set("coreRepresentationVersion", found.version)

    def qualify_flow(self, flow: etree._Element, word: str, kind: str, agency: str) -> None:
        """Qualify the reference of a flow to its structure."""
        for element in flow:
            if self._context.names[element.tag] != f"{word}Ref":
                continue
            parts = parts_of(element, self._context)
            if f"{word}AgencyID" in parts or f"{word}ID" not in parts:
                continue
            found = self.only(kind, parts[f"{word}ID"], parts.get("Version"), agency)
            if found is None:
                continue
            for name, text in ((f"{word}AgencyID", found.agency), ("Version", found.version)):
                if name not in parts:
                    etree.SubElement(element, element.tag.replace(f"{word}Ref", name)).text = text


def _only(found: AbstractSet[_HeldArtefact], default: _HeldArtefact) -> _HeldArtefact | None:
    """Return the only matching list; None if there are several, or if the reference means the match by default."""
    return next(iter(found)) if len(found) == 1 and default not in found else None
