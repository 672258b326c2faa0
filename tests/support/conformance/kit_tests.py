"""The tests of SDMX's conformance kit (sdmx-tck 3.4.0): the request of each, and the check of its answer.

``structure_checks`` and ``schema_checks`` check answers as the kit does, with its faults; ``runner`` and
``schema_runner`` request the answers from a service. The kit picks artefacts at random; here each artefact that it
could pick is tested.

Source: https://github.com/sdmx-twg/sdmx-tck: sdmx-tck-api/src/constants, sdmx-tck-manager/src/builders and src/checker,
sdmx-tck-parsers/src/parsers.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from typing import Final, NamedTuple

RESOURCES: Final = {
    "datastructure": "DataStructure", "metadatastructure": "MetadataStructure", "categoryscheme": "CategoryScheme",
    "conceptscheme": "ConceptScheme", "codelist": "Codelist", "hierarchicalcodelist": "HierarchicalCodelist",
    "organisationscheme": "OrganisationScheme", "agencyscheme": "AgencyScheme",
    "dataproviderscheme": "DataProviderScheme", "dataconsumerscheme": "DataConsumerScheme",
    "organisationunitscheme": "OrganisationUnitScheme", "dataflow": "Dataflow", "metadataflow": "Metadataflow",
    "reportingtaxonomy": "ReportingTaxonomy", "provisionagreement": "ProvisionAgreement",
    "structureset": "StructureSet", "process": "Process", "categorisation": "Categorisation",
    "contentconstraint": "ContentConstraint", "attachmentconstraint": "AttachmentConstraint",
    "structure": "", "allowedconstraint": "AllowedConstraint", "actualconstraint": "ActualConstraint",
}  # fmt: skip
"""The resources, each with the class that the kit looks for in the answer."""

ITEM_SCHEMES: Final = {
    "CategoryScheme": "Category", "ConceptScheme": "Concept", "Codelist": "Code", "OrganisationScheme": "",
    "AgencyScheme": "Agency", "DataProviderScheme": "DataProvider", "DataConsumerScheme": "DataConsumer",
    "OrganisationUnitScheme": "OrganisationUnit", "ReportingTaxonomy": "", "HierarchicalCodelist": "",
}  # fmt: skip
"""The classes with tests of items, and the elements of the items; empty for those that the kit does not read."""

_ONLY_IDENTIFIED: Final = {"organisationscheme", "allowedconstraint", "actualconstraint", "structure"}
_REFERENCES: Final = ("none", "parents", "parentsandsiblings", "children", "descendants", "all")
REFERENCED: Final = tuple(
    name for name in RESOURCES if name not in {"structure", "allowedconstraint", "actualconstraint"}
)
"""The resources that a request for references may name."""
_STUBS: Final = ("allstubs", "referencestubs", "allcompletestubs", "referencecompletestubs")
_DETAILS: Final = {"datastructure", "metadatastructure"}
REPRESENTATIONS: Final = (
    "",
    "application/vnd.sdmx.structure+xml;version=2.1",
    "application/vnd.sdmx.structure+json;version=1.0.0",
    "invalid representation query",
    "application/vnd.sdmx.structure+xml;version=2.1, application/vnd.sdmx.structure+json;version=1.0.0;q=0.9",
    "application/vnd.sdmx.structure+xml;version=2.1;q=0.9, application/vnd.sdmx.structure+json;version=1.0.0",
)
"""The headers Accept of the tests of formats."""
SCHEMA_CONTEXTS: Final = ("datastructure", "dataflow", "provisionagreement")
SCHEMA_QUERIES: Final = (
    "", "?dimensionAtObservation=id", "?dimensionAtObservation=AllDimensions", "?explicitMeasure=true",
)  # fmt: skip

_ANYWHERE: Final = ("categorisation", "process")
APPLICABLE: Final = {
    "agencyscheme": "metadatastructure structureset",
    "categoryscheme": "structureset",
    "codelist": "hierarchicalcodelist conceptscheme datastructure metadatastructure structureset",
    "conceptscheme": "codelist datastructure metadatastructure structureset",
    "contentconstraint": "dataproviderscheme datastructure dataflow metadatastructure metadataflow provisionagreement",
    "attachmentconstraint": "dataproviderscheme datastructure dataflow metadatastructure metadataflow"
    " provisionagreement",
    "dataconsumerscheme": "metadatastructure structureset",
    "dataflow": "contentconstraint attachmentconstraint datastructure provisionagreement reportingtaxonomy"
    " structureset",
    "dataproviderscheme": "contentconstraint attachmentconstraint provisionagreement metadatastructure structureset",
    "datastructure": "codelist conceptscheme contentconstraint attachmentconstraint dataflow structureset",
    "hierarchicalcodelist": "codelist structureset",
    "metadataflow": "contentconstraint attachmentconstraint metadatastructure provisionagreement reportingtaxonomy"
    " structureset",
    "metadatastructure": "conceptscheme codelist dataproviderscheme dataconsumerscheme agencyscheme"
    " organisationunitscheme contentconstraint attachmentconstraint metadataflow structureset",
    "organisationunitscheme": "contentconstraint attachmentconstraint metadatastructure structureset",
    "provisionagreement": "dataproviderscheme dataflow metadataflow contentconstraint attachmentconstraint",
    "reportingtaxonomy": "dataflow metadataflow structureset",
    "structureset": "datastructure metadatastructure categoryscheme dataproviderscheme dataconsumerscheme agencyscheme"
    " organisationunitscheme conceptscheme codelist reportingtaxonomy hierarchicalcodelist dataflow metadataflow",
}
"""The classes that each class is connected with; categorisations and processes are connected with all classes."""


class Check(Enum):
    """The ways in which the kit checks an answer."""

    IDENTIFICATION = auto()
    REFERENCES = auto()
    DETAIL = auto()
    FORMAT = auto()
    TARGET_CATEGORY = auto()
    CONSTRAINED_CODES = auto()


class KitTest(NamedTuple):
    """A test of structures.

    Attributes:
        name: the kit's name of the test, such as ``/codelist/agency/id/all``.
        resource: the resource.
        check: how the answer is checked.
        agency: the agency requested; None means that of the artefact that the kit has picked. So for id and version.
        detail: the detail.
        references: the references.
        accept: the header Accept.
        items: the number of items requested.
    """

    name: str
    resource: str
    check: Check = Check.IDENTIFICATION
    agency: str | None = None
    id: str | None = None
    version: str | None = None
    detail: str = "full"
    references: str = "none"
    accept: str = ""
    items: int = 0


def first_test(resource: str) -> KitTest:
    """Return the test from whose answer the artefacts of all other tests of the resource are picked."""
    return KitTest(f"/{resource}/all/all/all", resource, agency="all", id="all", version="all", detail="allstubs")


def further_tests(resource: str) -> Iterator[KitTest]:
    """Yield the tests of a picked artefact."""
    yield from _identification(resource)
    if resource not in _ONLY_IDENTIFIED:
        yield from _references(resource)
        yield from _details(resource)
    if resource == "codelist":
        for accept in REPRESENTATIONS:
            name = f"/codelist/agency/id/version ({accept})"
            yield KitTest(name, resource, Check.FORMAT, detail="allstubs", accept=accept)


def _identification(resource: str) -> Iterator[KitTest]:
    at = f"/{resource}"
    yield KitTest(f"{at}/agency/id/version", resource)
    if RESOURCES[resource] in ITEM_SCHEMES:
        yield KitTest(f"{at}/agency/id/version/items", resource, items=2)
    if resource == "categoryscheme":
        yield KitTest(
            f"{at}/agency/id/version/items?references=parentsandsiblings", resource, Check.TARGET_CATEGORY,
            references="parentsandsiblings", items=1,
        )  # fmt: skip
    yield KitTest(f"{at}/all/id/version", resource, agency="all")
    yield KitTest(f"{at}/agency/all/version", resource, id="all")
    yield KitTest(f"{at}/agency/id/all", resource, version="all")
    yield KitTest(f"{at}/agency/id", resource, version="latest")
    yield KitTest(f"{at}/agency/all", resource, id="all", version="latest")


def _references(resource: str) -> Iterator[KitTest]:
    everything = resource in _ANYWHERE
    connected = REFERENCED if everything else (*_ANYWHERE, *APPLICABLE[resource].split())
    for references in (*_REFERENCES, *connected):
        name = f"/{resource}/agency/id/version?references={references}"
        yield KitTest(name, resource, Check.REFERENCES, references=references)


def _details(resource: str) -> Iterator[KitTest]:
    full = [("full", reference) for reference in (*_REFERENCES, *REFERENCED)]
    for detail, references in (*full, *((stub, "children") for stub in _STUBS)):
        name = f"/{resource}/agency/id/version?detail={detail}&references={references}"
        yield KitTest(name, resource, Check.DETAIL, detail=detail, references=references)
    if resource in _DETAILS:
        name = f"/{resource}/agency/id/version?detail=referencepartial&references=children"
        yield KitTest(name, resource, Check.DETAIL, detail="referencepartial", references="children")
    if resource == "contentconstraint":
        name = "Reference Partial Test for Content Constraint"
        yield KitTest(name, resource, Check.CONSTRAINED_CODES, references="descendants")
