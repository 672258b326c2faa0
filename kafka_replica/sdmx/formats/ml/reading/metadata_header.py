"""The header of a message of SDMX-ML 2.1 with metadata sets, which determines their URNs.

Source: SDMXMessage.xsd 2.1, GenericMetadataHeaderType and StructureSpecificMetadataHeaderType; SDMXCommon.xsd 2.1,
MetadataStructureType and SetAttributeGroup. The header supplies whatever a set leaves out
(SDMXMetadataStructureSpecific.xsd 2.1, SetAttributeGroup).
"""

from __future__ import annotations

from functools import cached_property
from typing import Final, NamedTuple

from lxml import etree

from kafka_replica.sdmx.formats.ml.reading.child_elements import first, known, pick, ref, text
from kafka_replica.sdmx.formats.ml.reading.foreign_namespaces import is_lost, lost_in, refuse
from kafka_replica.sdmx.formats.ml.reading.tree import ANY_NAME, Names, header_of, sets_of, urn_of
from kafka_replica.sdmx.formats.ml.reading.values import Child, address
from kafka_replica.sdmx.formats.shared.reading.identity import artefact_urn
from kafka_replica.sdmx.urns.urn import Urn

_ADDRESSES: Final = ("structureURL", "serviceURL", "schemaURL")
_PARTS: Final = (
    "DataProvider", "DataSetAction", "DataSetID", "ID", "ProvisionAgreement", "ProvisionAgrement", "Sender",
    "Structure", "StructureUsage",
)  # fmt: skip
"""The parts of the header, and of its structures, that supply what a set leaves out."""


class ReportBasis(NamedTuple):
    """The basis of reported metadata: one of three references, and the address of its description."""

    metadataflow: Urn | None = None
    agreement: Urn | None = None
    structure: Urn | None = None
    url: str | None = None

    @property
    def agency(self) -> str | None:
        """The agency that maintains the basis of the report."""
        found = self.metadataflow or self.agreement or self.structure
        return None if found is None else found.agency


def is_of_3(element: etree._Element) -> bool:
    """Return True if a <MetadataSet> has its own agency and id, as since 3.0."""
    return element.get("agencyID") is not None or element.get("id") is not None


def attribute(element: etree._Element, name: str, names: Names) -> str | None:
    """Return an attribute of a set, in no namespace (generic) or in that of SDMX (structure-specific)."""
    found = element.get(name)
    if found is not None:
        return found
    return next((str(value) for key, value in element.items() if names[key] == name), None)


class MetadataHeader:
    """The header of a message of metadata, read on first access."""

    def __init__(self, root: etree._Element, names: Names) -> None:
        self._root, self._names = root, names

    @cached_property
    def _rest(self) -> list[Child]:
        header = header_of(self._root, self._names)
        return [] if header is None else known(header, self._names)

    @cached_property
    def _lost(self) -> etree._Element | None:
        """A part that is ignored because of its namespace, so that sets would have another identity; None if none."""
        header = header_of(self._root, self._names)
        if header is None:
            lost = lost_in(self._root, self._names, "Header", "MetadataSet")
            return next((element for element in lost if is_lost(element, self._names, "Header")), None)
        held = (child for parent in (header, *pick(self._rest, "Structure")) for child in parent)
        return next((child for child in held if is_lost(child, self._names, *_PARTS)), None)

    @cached_property
    def _structures(self) -> dict[str | None, ReportBasis]:
        return {structure.get("structureID"): self._reported(structure) for structure in pick(self._rest, "Structure")}

    def _reported(self, element: etree._Element) -> ReportBasis:
        rest, names = known(element, self._names), self._names
        return ReportBasis(
            metadataflow=ref(rest, "StructureUsage", names, "Metadataflow"),
            # The schema of 2.1 spells the word without its second e.
            agreement=ref(rest, "ProvisionAgrement", names, "ProvisionAgreement")
            or ref(rest, "ProvisionAgreement", names),
            structure=ref(rest, "Structure", names, "MetadataStructure"),
            url=next(filter(None, (address(element, name) for name in _ADDRESSES)), None),
        )

    def reported(self, element: etree._Element) -> ReportBasis:
        """Return the basis that a set names by its structureRef; an empty basis if the structureRef names nothing."""
        return self._structures.get(attribute(element, "structureRef", self._names), ReportBasis())

    def provider(self, rest: list[Child]) -> Urn | None:
        """Return the data provider among the children of a set, or else the provider of all sets."""
        return ref(rest, "DataProvider", self._names) or self._provider

    @cached_property
    def _provider(self) -> Urn | None:
        return ref(self._rest, "DataProvider", self._names)

    @cached_property
    def _sender(self) -> str | None:
        sender = first(self._rest, "Sender")
        return None if sender is None else sender.get("id")

    @cached_property
    def action(self) -> str | None:
        """The action of sets that do not state an action."""
        return text(self._rest, "DataSetAction")

    @cached_property
    def _only_id(self) -> str | None:
        """The id of the set if there is exactly one set: the data set's id, or else the message's id."""
        sets = sets_of(self._root, self._names)
        if next(sets, None) is None or next(sets, None) is not None:
            return None
        ids = list(pick(self._rest, "DataSetID"))
        found = text(self._rest, "DataSetID") if len(ids) == 1 else text(self._rest, "ID")
        return found.strip() if found else None

    def urn_of(self, element: etree._Element) -> Urn:
        """Return the URN of a set; raises MessageError.

        In 3.x the agency of a set is its provider. The same holds here if a provider is named; otherwise the agency is
        that of the basis of the report. The id is its setID, the version 1.0.
        """
        if is_of_3(element):
            return urn_of(element)
        if self._lost is not None:
            refuse(self._lost)
        # In structure-specific sets, <DataProvider> is in no namespace.
        provider = self.provider(known(element, ANY_NAME))
        agency = self.reported(element).agency if provider is None else _last(provider)
        id_ = (attribute(element, "setID", self._names) or "").strip() or self._only_id
        return artefact_urn("MetadataSet", agency or self._sender, id_, None, None, f"at line {element.sourceline}")


def _last(provider: Urn) -> str:
    return (provider.item or provider.id).rpartition(".")[2]
