"""Find the artefacts in a message of SDMX-ML 1.0 or 2.0.

Source: SDMXMessage.xsd, StructureType, of both; SDMXRegistry.xsd 2.0, QueryStructureResponseType and
SubmitStructureRequestType, and for provision agreements QueryProvisioningResponseType, SubmitProvisioningRequestType
and ProvisioningEventType. Metadata sets come in separate messages (SDMXMessage.xsd 2.0, GenericMetadataType and
MessageGroupType).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple

from lxml import etree

from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.formats.ml.reading.foreign_namespaces import is_part, refuse
from kafka_replica.sdmx.formats.ml.reading.tree import fail, failures, refuse_failure
from kafka_replica.sdmx.formats.ml.reading.values import language_of
from kafka_replica.sdmx.formats.ml20.metadata_sets import set_urn, sets_in
from kafka_replica.sdmx.formats.ml20.provisions import agreement_urn, agreements, refuse_deletion
from kafka_replica.sdmx.formats.ml20.reading.message_context import MessageContext
from kafka_replica.sdmx.formats.shared.reading.error_collector import Identity, unreadable
from kafka_replica.sdmx.formats.shared.reading.identity import artefact_urn
from kafka_replica.sdmx.formats.shared.reading.standalone_items import AGENCIES, concept_scheme_urn
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.messages.message import UnreadableArtefact
from kafka_replica.sdmx.urns.urn import Urn

CONTAINERS: Final = {
    "Dataflows": {"Dataflow": "Dataflow"},
    "Metadataflows": {"Metadataflow": "Metadataflow"},
    "CategorySchemes": {"CategoryScheme": "CategoryScheme"},
    "CodeLists": {"CodeList": "Codelist"},
    "HierarchicalCodelists": {"HierarchicalCodelist": "HierarchicalCodelist"},
    "Concepts": {"ConceptScheme": "ConceptScheme", "Concept": ""},
    "MetadataStructureDefinitions": {"MetadataStructureDefinition": "MetadataStructure"},
    "KeyFamilies": {"KeyFamily": "DataStructure"},
    "StructureSets": {"StructureSet": "StructureSet"},
    "ReportingTaxonomies": {"ReportingTaxonomy": "ReportingTaxonomy"},
    "Processes": {"Process": "Process"},
    "OrganisationSchemes": {"OrganisationScheme": ""},
    "Agencies": {"Agency": ""},
}
"""Container -> element -> class; no class if the element alone is not an artefact of SDMX 2.1."""

_ORGANISATIONS: Final = {"DataProviders": "DataProviderScheme", "DataConsumers": "DataConsumerScheme"}
_ITEMS: Final = {"Concept", "Agency", "DataProvider", "DataConsumer"}
_HOLDERS: Final = ("{*}Structure", "{*}QueryStructureResponse", "{*}StructuralEvent")
_OF_AGREEMENTS: Final = {"QueryProvisioningResponse", "SubmitProvisioningRequest", "ProvisioningEvent"}
_OTHERS: Final = (
    "{*}QueryProvisioningResponse",
    "{*}SubmitProvisioningRequest",
    "{*}ProvisioningEvent",
    "{*}GenericMetadata",
    "{*}MessageGroup",
    "{*}SubmittedStructure",
    "{*}EventAction",
)
_REGISTRY: Final = "{*}RegistryInterface"
_MAY_DELETE: Final = {"SubmittedStructure", "EventAction"}
_OF_SETS: Final = {"GenericMetadata", "MessageGroup"}
_NO_CONTAINERS: Final = {"Header", "StatusMessage", "Annotations", ""}


class ArtefactElements(NamedTuple):
    """An artefact: its URN, and its element, or the elements of its items if it has no element."""

    urn: Urn
    elements: list[etree._Element]

    def unreadable(self, reason: str) -> UnreadableArtefact:
        """Return the entry for the artefact in the list of errors."""
        place = f"line {self.elements[0].sourceline}"
        return UnreadableArtefact(cls=self.urn.cls, id=self.urn.id, urn=self.urn, place=place, reason=reason)


def artefact_elements(root: etree._Element, context: MessageContext) -> list[ArtefactElements]:
    """Return all artefacts in their order. Raises MessageError."""
    gathered: dict[Urn, ArtefactElements] = {}
    found: list[ArtefactElements] = []
    schemes = _JoinedSchemes(context)
    for holder in _holders(root, context):
        for artefact in _artefacts_of(holder, context):
            is_item = context.names[artefact.elements[0].tag] in _ITEMS
            if is_item and artefact.urn in gathered:
                schemes.join(gathered[artefact.urn], artefact)
                gathered[artefact.urn].elements.extend(artefact.elements)
                continue
            found.append(artefact)
            if is_item:
                gathered[artefact.urn] = artefact
    if not found:
        _refuse_failures(root, context)
    return found


def _refuse_failures(root: etree._Element, context: MessageContext) -> None:
    """Reject an answer without artefacts that reports a failure."""
    for failed in failures(root, context.names):
        refuse_failure(failed)


class _JoinedSchemes:
    """Adds to the first <OrganisationScheme> of an agency what only later ones have: languages, and annotations.

    Since 2.1 an agency has one scheme of each kind. The agency scheme has no single source, so it takes nothing.
    """

    def __init__(self, context: MessageContext) -> None:
        self._context = context
        # Elements are kept, not their ids: lxml makes the objects of elements again, at any address.
        self._done: set[tuple[etree._Element, etree._Element]] = set()
        self._stated: dict[etree._Element, set[tuple[str, str]]] = {}  # texts by kind and language

    def join(self, known: ArtefactElements, other: ArtefactElements) -> None:
        """Join the schemes of two blocks of organisations."""
        first, later = (_organisation_scheme(artefact.elements[0], self._context) for artefact in (known, other))
        if known.urn == AGENCIES or first is None or later is None or first is later or (first, later) in self._done:
            return
        self._done.add((first, later))
        if first not in self._stated:
            self._stated[first] = {key for _, key in _texts_of(first, self._context)}
        added = [(child, key) for child, key in _texts_of(later, self._context) if key not in self._stated[first]]
        first.extend(copy.deepcopy(child) for child, _ in added)
        self._stated[first].update(key for _, key in added)


def _organisation_scheme(organisation: etree._Element, context: MessageContext) -> etree._Element | None:
    holder = organisation.getparent()
    found = None if holder is None else holder.getparent()
    return found if found is not None and context.names[found.tag] == "OrganisationScheme" else None


def organisation_schemes(artefact: ArtefactElements, context: MessageContext) -> list[etree._Element]:
    """Return the schemes that hold the organisations of an artefact; none if it has no organisations."""
    found = (_organisation_scheme(element, context) for element in artefact.elements)
    return [scheme for scheme in dict.fromkeys(found) if scheme is not None]


def _texts_of(scheme: etree._Element, context: MessageContext) -> Iterator[tuple[etree._Element, tuple[str, str]]]:
    """Yield the names, descriptions and annotations of a scheme, with their kind and language."""
    for child in scheme:
        kind = context.names[child.tag]
        if kind in {"Name", "Description", "Annotations"}:
            yield child, (kind, language_of(child).lower())


def _holders(root: etree._Element, context: MessageContext) -> list[etree._Element]:
    kinds = _HOLDERS if context.edition.format is Format.SDMX_ML_1_0 else (*_HOLDERS, *_OTHERS)
    found: list[etree._Element] = []
    nested = 0
    for element in root.iter(*kinds):
        name = context.names[element.tag]
        if name in _MAY_DELETE:
            refuse_deletion(element, context)
        if nested:
            nested -= 1
        elif name and name not in _MAY_DELETE:
            found.append(element)
            # In document order, those in the holder are next.
            nested = sum(1 for _ in element.iter(*kinds)) - 1
            if nested:
                _refuse_nested(element, {kind[3:] for kind in kinds} - _MAY_DELETE, context)
    if not found:
        _refuse_failures(root, context)
        _refuse_registry_message(root, context)
        fail(root, "there is no <Structure>, so this is not a structure message")
    return found


def _refuse_nested(holder: etree._Element, kinds: set[str], context: MessageContext) -> None:
    """Reject holders in a holder, except for those in extensions: an artefact of one would include the other's."""
    searched = [holder]
    for parent in searched:
        for child in parent:
            kind = context.names[child.tag]
            if kind in kinds:
                fail(child, f"it is not allowed in <{context.names[holder.tag]}>")
            if kind and len(child):
                searched.append(child)


def _refuse_registry_message(root: etree._Element, context: MessageContext) -> None:
    """Reject a message of a registry that is about other things than structures and provision agreements."""
    for message in root.iter(_REGISTRY):
        for child in message:
            kind = context.names[child.tag]
            if "Registration" in kind:
                fail(child, "registrations of SDMX-ML 2.0 have no URN, so they are not read")
            if kind not in {"", "Header"}:
                fail(child, "such a message of a registry has no structures")


def _artefacts_of(holder: etree._Element, context: MessageContext) -> Iterator[ArtefactElements]:
    kind = context.names[holder.tag]
    if kind in _OF_SETS:
        for set_ in sets_in(holder, context):
            yield from _attempted(set_, "MetadataSet", partial(set_urn, set_, context), context)
        return
    if kind in _OF_AGREEMENTS:
        for agreement in agreements(holder, context):
            yield from _attempted(agreement, "ProvisionAgreement", partial(agreement_urn, agreement, context), context)
        return
    for container in holder:
        kind = context.names[container.tag]
        if kind in context.edition.containers:
            yield from _artefacts_in(container, context)
        elif not kind and is_part(container):
            yield from _attempted(container, None, partial(refuse, container), context)
        elif kind not in _NO_CONTAINERS:
            reason = f"it is not a container of {context.edition.format.title}, such as <CodeLists>"
            yield from _attempted(container, None, partial(fail, container, reason), context)


def _artefacts_in(container: etree._Element, context: MessageContext) -> Iterator[ArtefactElements]:
    kinds = CONTAINERS[context.names[container.tag]]
    for element in container:
        kind = context.names[element.tag]
        if kind == "OrganisationScheme":
            yield from _organisations(element, context)
        elif kind in kinds:
            yield from _attempted(element, kinds[kind] or kind, partial(_urn, element, kinds[kind], context), context)
        elif not kind and is_part(element):
            yield from _attempted(element, None, partial(refuse, element), context)
        elif kind not in _NO_CONTAINERS:
            reason = f"it is not allowed in <{context.names[container.tag]}>"
            yield from _attempted(element, None, partial(fail, element, reason), context)


def _attempted(
    element: etree._Element, class_: str | None, identify: Callable[[], Urn], context: MessageContext,
    elements: list[etree._Element] | None = None,
) -> Iterator[ArtefactElements]:  # fmt: skip
    """Yield the artefact of an element, or of its items; nothing if its error is collected."""

    def describe(reason: str) -> UnreadableArtefact:
        stated = context.agency_of(element), element.get("id"), element.get("version")
        return unreadable(class_, Identity(*map(_bare, stated)), f"line {element.sourceline}", reason)

    urn = context.collector.attempt(identify, describe)
    if urn is not None:
        yield ArtefactElements(urn, elements or [element])


def _urn(element: etree._Element, class_: str, context: MessageContext) -> Urn:
    if context.names[element.tag] == "Agency":
        return AGENCIES
    agency = context.agency_of(element)
    if context.names[element.tag] == "Concept":
        if not agency:
            fail(element, "it has no agency, and the header has no sender, so it has no URN")
        try:
            return concept_scheme_urn(agency)
        except UrnError as error:
            fail(element, str(error))
    return _made(element, class_, agency, element.get("id"), element.get("version"))


def _made(
    element: etree._Element, class_: str, agency: str | None, id_: str | None = None, version: str | None = None
) -> Urn:
    stated_urn = (
        "urn:sdmx:org.sdmx.infomodel.base.OrganisationScheme=A:A(1.0)" if class_ == "OrganisationScheme" else None
    )
    where = f"at line {element.sourceline}"
    return artefact_urn(class_, _bare(agency), _bare(id_), _bare(version), stated_urn, where)


def _bare(text: str | None) -> str | None:
    # Real files have blanks around ids.
    return None if text is None else text.strip()


def _organisations(scheme: etree._Element, context: MessageContext) -> Iterator[ArtefactElements]:
    """Yield an artefact for each kind of organisation in a scheme; since SDMX 2.1 each kind has its own scheme."""
    is_empty = True
    for part in scheme:
        kind = context.names[part.tag]
        elements = [one for one in part if context.names[one.tag] in {"Agency", "DataProvider", "DataConsumer"}]
        if not elements or kind not in {"Agencies", *_ORGANISATIONS}:
            continue
        is_empty = False
        class_ = _ORGANISATIONS.get(kind)
        if class_ is None:
            yield ArtefactElements(AGENCIES, elements)
        else:
            identify = partial(_made, scheme, class_, context.agency_of(scheme))
            yield from _attempted(scheme, class_, identify, context, elements)
    if is_empty:
        stated = context.agency_of(scheme), scheme.get("id"), scheme.get("version")
        identify = partial(_made, scheme, "OrganisationScheme", *stated)
        yield from _attempted(scheme, "OrganisationScheme", identify, context)
