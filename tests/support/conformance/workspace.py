"""An answer as the kit reads it: the artefacts of a message of SDMX-ML 2.1, with their references and items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple, Self

from lxml import etree

from support.conformance.kit_tests import ITEM_SCHEMES, RESOURCES

_UNREAD: Final = {"AttachmentConstraint", "AllowedConstraint", "ActualConstraint", "OrganisationScheme", ""}
"""Classes that the kit's parser does not read, or files under another name."""
READ: Final = frozenset(RESOURCES.values()) - _UNREAD
_PARENTS: Final = {
    "Category": "CategoryScheme", "Concept": "ConceptScheme", "Code": "Codelist", "Hierarchy": "HierarchicalCodelist",
    "Agency": "AgencyScheme", "DataProvider": "DataProviderScheme", "DataConsumer": "DataConsumerScheme",
    "OrganisationUnit": "OrganisationUnitScheme", "ReportingCategory": "ReportingTaxonomy",
}  # fmt: skip
_CONTENT: Final = {
    "DataStructure": "DataStructureComponents", "MetadataStructure": "MetadataStructureComponents",
    "Dataflow": "Structure", "Metadataflow": "Structure", "ReportingTaxonomy": "ReportingCategory",
    "ProvisionAgreement": "StructureUsage DataProvider", "HierarchicalCodelist": "IncludedCodelist Hierarchy",
    "StructureSet": "OrganisationSchemeMap CategorySchemeMap CodelistMap ConceptSchemeMap ReportingTaxonomyMap"
    " HybridCodelistMap StructureMap",
    "Process": "ProcessStep", "Categorisation": "Source Target", "ContentConstraint": "ConstraintAttachment",
    **{cls: item for cls, item in ITEM_SCHEMES.items() if item},
}  # fmt: skip
"""The elements of which a complete artefact has at least one."""


class Reference(NamedTuple):
    """A reference to an artefact."""

    cls: str
    agency: str
    id: str
    version: str

    def __str__(self) -> str:
        return f"{self.cls} {self.agency}:{self.id}({self.version})"


class Artefact:
    """An artefact of an answer."""

    def __init__(self, element: etree._Element) -> None:
        self.element = element
        cls, get = etree.QName(element).localname, element.attrib.get
        self.reference = Reference(cls, get("agencyID", ""), get("id", ""), get("version", "1.0"))
        self.is_full = self._has(*_CONTENT[cls].split())
        self.is_complete_stub = not self.is_full and self._has("Description", "Annotations")
        self.is_stub = not self.is_full and not self.is_complete_stub
        self.is_partial = get("isPartial") == "true"
        self.children = references_in(element)
        """The artefacts that it refers to, each with the ids of the items that it refers to."""

    def _has(self, *names: str) -> bool:
        return any(etree.QName(one).localname in names for one in elements(self.element))

    @property
    def items(self) -> list[str]:
        """The ids of the items, in the order of the message, also of those in other items."""
        name = ITEM_SCHEMES.get(self.reference.cls)
        return [one.get("id", "") for one in self.element.iter(f"{{*}}{name}")] if name else []


class Workspace:
    """The artefacts of an answer by reference."""

    def __init__(self, artefacts: dict[Reference, Artefact]) -> None:
        self.artefacts = artefacts

    @classmethod
    def of_message(cls, message: bytes) -> Self:
        """Read a structure message."""
        structures = etree.fromstring(message).find("{*}Structures")
        collections = [] if structures is None else elements(structures)
        found = [Artefact(one) for each in collections for one in elements(each) if etree.QName(one).localname in READ]
        return cls({one.reference: one for one in found})

    def of_class(self, cls: str) -> list[Artefact]:
        """Return the artefacts of a class; for an organisation scheme, those of each of its classes."""
        wanted = {cls}
        if cls == "OrganisationScheme":
            wanted = {"AgencyScheme", "DataProviderScheme", "DataConsumerScheme", "OrganisationUnitScheme"}
        return [one for one in self.artefacts.values() if one.reference.cls in wanted]

    def children(self, artefact: Artefact) -> Iterator[tuple[Reference, Artefact | None]]:
        """Yield the artefacts that an artefact refers to; None if the answer does not contain it."""
        yield from ((one, self.artefacts.get(one)) for one in artefact.children)


def elements(parent: etree._Element) -> list[etree._Element]:
    """Return the elements below an element, without comments."""
    return [one for one in parent if isinstance(one.tag, str)]


def references_in(element: etree._Element) -> dict[Reference, list[str]]:
    """Return the artefacts that the elements Ref refer to; those without an agency or a class are ignored."""
    found: dict[Reference, list[str]] = {}
    for one in element.iter("{*}Ref"):
        get = one.attrib.get
        cls, agency = get("class", ""), get("agencyID")
        if agency is None:
            continue
        if cls in _PARENTS and get("maintainableParentID"):
            parent = Reference(
                _PARENTS[cls], agency, get("maintainableParentID", ""), get("maintainableParentVersion", "1.0")
            )
            found.setdefault(parent, []).append(get("id", ""))
        elif cls in RESOURCES.values():
            found.setdefault(Reference(cls, agency, get("id", ""), get("version", "1.0")), [])
    return found
