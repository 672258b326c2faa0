"""The grammar of the queries: resources, path segments, parameters and their values.

To add a resource, add a row to ``_ROWS``: parsing, rejections, the values of ``references`` and the reference page
derive from it.

Source: SDMX REST 2.2.2, doc/structures.md and doc/schema.md; SDMX REST 1.5.0, docs/4_3_structural_queries.md and
docs/4_5_schema_queries.md. FMR's additions: its wiki, "Query Structures Web Service".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from re import Pattern
from types import MappingProxyType
from typing import Final, NamedTuple


class Api(StrEnum):
    """The version of the API that a path belongs to."""

    V1 = "v1"
    V2 = "v2"


BOTH: Final = frozenset(Api)
_V1: Final = frozenset({Api.V1})
_V2: Final = frozenset({Api.V2})


class Items(StrEnum):
    """The way in which a query may select items in a resource."""

    NONE = "none"
    FLAT = "flat"
    NESTED = "nested"  # the answer also has the items above a selected item


class Resource(NamedTuple):
    """A resource: its name in paths, the classes that it selects, and the versions of the API with this name.

    ``role`` restricts the selected constraints to those with this role; None for no restriction.
    """

    name: str
    classes: tuple[str, ...]
    apis: frozenset[Api] = BOTH
    items: Items = Items.NONE
    role: str | None = None
    is_schema_context: bool = False


_ORGANISATIONS: Final = (
    "AgencyScheme", "DataProviderScheme", "DataConsumerScheme", "MetadataProviderScheme", "OrganisationUnitScheme",
)  # fmt: skip
_CODELISTS: Final = ("Codelist", "GeographicCodelist", "GeoGridCodelist")
_CONSTRAINTS: Final = ("ContentConstraint", "DataConstraint")

_ROWS: Final = (
    Resource("datastructure", ("DataStructure",), is_schema_context=True),
    Resource("metadatastructure", ("MetadataStructure",), is_schema_context=True),
    Resource("categoryscheme", ("CategoryScheme",), items=Items.NESTED),
    Resource("conceptscheme", ("ConceptScheme",), items=Items.FLAT),
    Resource("codelist", _CODELISTS, items=Items.FLAT),
    Resource("valuelist", ("ValueList",), _V2, Items.FLAT),
    Resource("hierarchicalcodelist", ("HierarchicalCodelist",), _V1, Items.FLAT),
    Resource("hierarchy", ("Hierarchy",), _V2),
    Resource("hierarchyassociation", ("HierarchyAssociation",), _V2),
    Resource("organisationscheme", _ORGANISATIONS, _V1, Items.FLAT),
    Resource("agencyscheme", ("AgencyScheme",), items=Items.FLAT),
    Resource("dataproviderscheme", ("DataProviderScheme",), items=Items.FLAT),
    Resource("metadataproviderscheme", ("MetadataProviderScheme",), _V2, Items.FLAT),
    Resource("dataconsumerscheme", ("DataConsumerScheme",), items=Items.FLAT),
    Resource("organisationunitscheme", ("OrganisationUnitScheme",), items=Items.FLAT),
    Resource("dataflow", ("Dataflow",), is_schema_context=True),
    Resource("metadataflow", ("Metadataflow",), is_schema_context=True),
    Resource("reportingtaxonomy", ("ReportingTaxonomy",), items=Items.NESTED),
    Resource("provisionagreement", ("ProvisionAgreement",), is_schema_context=True),
    Resource("metadataprovisionagreement", ("MetadataProvisionAgreement",), _V2, is_schema_context=True),
    Resource("structureset", ("StructureSet",), _V1),
    Resource("structuremap", ("StructureMap",), _V2),
    Resource("representationmap", ("RepresentationMap",), _V2),
    Resource("conceptschememap", ("ConceptSchemeMap",), _V2),
    Resource("categoryschememap", ("CategorySchemeMap",), _V2),
    Resource("organisationschememap", ("OrganisationSchemeMap",), _V2),
    Resource("reportingtaxonomymap", ("ReportingTaxonomyMap",), _V2),
    Resource("process", ("Process",)),
    Resource("categorisation", ("Categorisation",)),
    Resource("contentconstraint", _CONSTRAINTS, _V1),
    Resource("actualconstraint", _CONSTRAINTS, _V1, role="Actual"),
    Resource("allowedconstraint", _CONSTRAINTS, _V1, role="Allowed"),
    Resource("attachmentconstraint", ("AttachmentConstraint",), _V1),
    Resource("dataconstraint", _CONSTRAINTS, _V2),
    Resource("metadataconstraint", ("MetadataConstraint",), _V2),
    Resource("transformationscheme", ("TransformationScheme",), items=Items.FLAT),
    Resource("rulesetscheme", ("RulesetScheme",), items=Items.FLAT),
    Resource("userdefinedoperatorscheme", ("UserDefinedOperatorScheme",), items=Items.FLAT),
    Resource("customtypescheme", ("CustomTypeScheme",), items=Items.FLAT),
    Resource("namepersonalisationscheme", ("NamePersonalisationScheme",), items=Items.FLAT),
    Resource("vtlmappingscheme", ("VtlMappingScheme",), items=Items.FLAT),
    Resource("namealiasscheme", ("VtlMappingScheme",), _V1, Items.FLAT),  # in the OpenAPI description of 1.5
)

_EVERY_CLASS: Final = tuple(dict.fromkeys(cls for row in _ROWS for cls in row.classes))

ANY: Final = {Api.V1: Resource("structure", _EVERY_CLASS, _V1), Api.V2: Resource("*", _EVERY_CLASS, _V2)}
"""The resource that selects all classes, by version of the API."""

RESOURCES: Final = {row.name: row for row in _ROWS}
"""The resources by name, without those of :data:`ANY`."""


@cache
def resources(api: Api) -> Mapping[str, Resource]:
    """Return the resources of a version of the API by name."""
    return MappingProxyType({name: row for name, row in RESOURCES.items() if api in row.apis})


@cache
def referable(api: Api) -> Mapping[str, Resource]:
    """Return the resources that ``references`` may name; for 2.x, these include two of 1.x, as in its OpenAPI file."""
    both = {**resources(api), **{name: RESOURCES[name] for name in ("structureset", "namealiasscheme")}}
    return MappingProxyType(both)


class Segment(NamedTuple):
    """A path segment after the resource: its name, the pattern of its values, its default in 2.x, and examples."""

    name: str
    form: Pattern[str]
    default: str  # in 2.x
    example: str


_NAME: Final = r"[A-Za-z0-9_@$\-]+"
_AGENCY: Final = r"[A-Za-z0-9_][A-Za-z0-9_\-]*(?:\.[A-Za-z0-9_][A-Za-z0-9_\-]*)*"

AGENCY: Final = Segment("agencyID", re.compile(_AGENCY), "*", "SDMX, ECB.DISS")
RESOURCE_ID: Final = Segment("resourceID", re.compile(_NAME), "*", "CL_FREQ")
VERSION: Final = Segment("version", re.compile(r"[0-9A-Za-z.+~*\-]+"), "~", "1.0, 1.0.0-draft, +, 2.1+.0, latest")
ITEM: Final = Segment("itemID", re.compile(r"[^\x00-\x1f\x7f]+"), "*", "A, ECO.PRICES")  # values may be any text
SEGMENTS: Final = (AGENCY, RESOURCE_ID, VERSION, ITEM)
"""The segments of a structure query in order; ``itemID`` only for resources with items."""

SEPARATORS: Final = {Api.V1: "+", Api.V2: ","}
"""The separator between several values in a segment."""

ALL_ITEMS: Final = "all"
"""The item of 2.x that means all items of a scheme without such an item; ``*`` always means all."""

AS_OF: Final = re.compile(
    r"[0-9]{1,18}|[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:]{5,8}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})?)?"
)
"""The form of ``asOf``: ``xs:dateTime``, also without seconds or a time zone; a date; or the number of a version."""


class Detail(StrEnum):
    """The values of ``detail``."""

    FULL = "full"
    ALL_STUBS = "allstubs"
    REFERENCE_STUBS = "referencestubs"
    REFERENCE_PARTIAL = "referencepartial"
    ALL_COMPLETE_STUBS = "allcompletestubs"
    REFERENCE_COMPLETE_STUBS = "referencecompletestubs"
    RAW = "raw"


DETAILS: Final = {detail: _V2 if detail is Detail.RAW else BOTH for detail in Detail}
"""The values of ``detail``, with the versions of the API that define them."""


class References(StrEnum):
    """The values of ``references``, except the names of resources."""

    NONE = "none"
    PARENTS = "parents"
    PARENTS_AND_SIBLINGS = "parentsandsiblings"
    ANCESTORS = "ancestors"
    CHILDREN = "children"
    DESCENDANTS = "descendants"
    ALL = "all"


REFERENCES: Final = {value: _V2 if value is References.ANCESTORS else BOTH for value in References}
"""The values of ``references``, with the versions of the API that define them."""

STRUCTURE_PARAMETERS: Final = ("detail", "references", "asOf", "format")
SCHEMA_PARAMETERS: Final = ("dimensionAtObservation", "deletion", "explicitMeasure", "explicit", "asOf", "format")

IGNORED_PARAMETERS: Final = frozenset({
    "_", "compress", "includeAllAnnotations", "includeMetadata", "includeText", "locale", "prettyPrint", "saveAs",
})  # fmt: skip
"""Ignored parameters: those of FMR, and those against browser caches, that do not change an answer's content."""

NOT_IMPLEMENTED: Final = {
    "data": BOTH, "availability": _V2, "availableconstraint": _V1, "metadata": BOTH, "registration": _V2,
}  # fmt: skip
"""The first segments of other queries of the API, which this service does not implement."""
