"""Content of SDMX-ML 1.0, 2.0 and SDMX-EDI that SDMX 2.1 and later cannot express.

A component, item or map with such content has a class of its own here, which is derived from the current class and
can be used like it; without such content, it has the same class as in any other format.
"""

from __future__ import annotations

from kafka_replica.sdmx.containers import NO_TEXT, InternationalString
from kafka_replica.sdmx.model import (
    Agency,
    Attribute,
    Category,
    ComponentMapInSet,
    Concept,
    DataConsumer,
    Dataflow,
    DataProvider,
    Dimension,
    Group,
    HierarchyOfCodelist,
    ItemMap,
    KeySet,
    Measure,
    Metadataflow,
    MetadataTarget,
    ProcessStep,
    ProvisionAgreement,
    QueryableDataSource,
    Region,
    ReleaseCalendar,
    ReportedAttribute,
    ReportingCategory,
    ReportingTaxonomy,
    ReportStructure,
    TargetObject,
)
from kafka_replica.sdmx.model.organisations import Contact
from kafka_replica.sdmx.model.value_object import ValueObject
from kafka_replica.sdmx.urns.urn import Urn


class KeyFamilyDimension(Dimension, frozen=True, gc=False, kw_only=True):
    """A dimension with roles ("Frequency", "Entity", "Count", "NonObservationTime", "Identity").

    ``cross_sectional`` names the levels it may be attached at in a cross-section: DataSet, Group, Section,
    Observation.
    """

    roles: tuple[str, ...] = ()
    cross_sectional: tuple[str, ...] = ()


class KeyFamilyAttribute(Attribute, frozen=True, gc=False, kw_only=True):
    """An attribute with roles (those of dimensions, and "TimeFormat"), or with levels in a cross-section."""

    roles: tuple[str, ...] = ()
    cross_sectional: tuple[str, ...] = ()


class CrossSectionalMeasure(Measure, frozen=True, gc=False, kw_only=True):
    """A measure for one code of the measure dimension; in cross-sections these measures replace the primary measure."""

    measure_dimension: str
    code: str


class DescribedGroup(Group, frozen=True, gc=False, kw_only=True):
    """A group of dimensions with a description."""

    descriptions: InternationalString


class VersionedConcept(Concept, frozen=True, gc=False, kw_only=True):
    """A concept with a version of its own, other than 1.0."""

    version: str


class VersionedAgency(Agency, frozen=True, gc=False, kw_only=True):
    """An agency with a version, or a validity period, of its own."""

    version: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None


class VersionedDataProvider(DataProvider, frozen=True, gc=False, kw_only=True):
    """A data provider with a version, or a validity period, of its own."""

    version: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None


class VersionedDataConsumer(DataConsumer, frozen=True, gc=False, kw_only=True):
    """A data consumer with a version, or a validity period, of its own."""

    version: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None


class ContactOfKind(Contact, frozen=True, gc=False, kw_only=True):
    """A contact of a kind ("Maintenance", "Collector", "Disseminator", "Reporter") that states another role.

    The kind of a contact that states no role is its role. Other formats leave out the kind.
    """

    kind: str


class VersionedHierarchy(HierarchyOfCodelist, frozen=True, gc=False, kw_only=True):
    """A hierarchy with a version and a validity period of its own."""

    version: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    is_final: bool = False


class CategorisedDataflow(Dataflow, frozen=True, gc=False, kw_only=True):
    """A dataflow that names the categories it is in; since 2.1, a Categorisation does this."""

    categories: tuple[Urn, ...] = ()


class CategorisedMetadataflow(Metadataflow, frozen=True, gc=False, kw_only=True):
    """A metadataflow that names the categories it is in."""

    categories: tuple[Urn, ...] = ()


class CategoryOfFlows(Category, frozen=True, gc=False, kw_only=True):
    """A category that names the flows in it, or has a version of its own, other than 1.0."""

    flows: tuple[Urn, ...] = ()
    version: str | None = None


class VersionedReportingCategory(ReportingCategory, frozen=True, gc=False, kw_only=True):
    """A category of a reporting taxonomy with a version of its own, other than 1.0."""

    version: str


class TaxonomyOfFlows(ReportingTaxonomy, frozen=True, gc=False, kw_only=True):
    """A reporting taxonomy that names flows itself, in addition to those of its categories."""

    flows: tuple[Urn, ...] = ()


class NamedMetadataTarget(MetadataTarget, frozen=True, gc=False, kw_only=True):
    """A full or partial target identifier with names."""

    names: InternationalString = NO_TEXT
    descriptions: InternationalString = NO_TEXT


class ExternalScheme(ValueObject, frozen=True, gc=False, kw_only=True):
    """A scheme that is not an SDMX scheme: its id, and the agency that assigned it."""

    agency: str
    id: str


class NamedTargetObject(TargetObject, frozen=True, gc=False, kw_only=True):
    """An identifier component with names. ``external_scheme`` has the ids of values, and is not an SDMX scheme."""

    names: InternationalString = NO_TEXT
    descriptions: InternationalString = NO_TEXT
    external_scheme: ExternalScheme | None = None


class NamedReportStructure(ReportStructure, frozen=True, gc=False, kw_only=True):
    """A report structure with names."""

    names: InternationalString = NO_TEXT
    descriptions: InternationalString = NO_TEXT


class ProcessStepOfClasses(ProcessStep, frozen=True, gc=False, kw_only=True):
    """A step that names only the classes of its inputs and outputs, not the objects."""

    input_classes: tuple[str, ...] = ()
    output_classes: tuple[str, ...] = ()


class AliasedItemMap(ItemMap, frozen=True, gc=False, kw_only=True):
    """A pair of items with an alias."""

    alias: str


class AliasedComponentMap(ComponentMapInSet, frozen=True, gc=False, kw_only=True):
    """A pair of components with an alias, or with a language for names."""

    alias: str | None = None
    preferred_language: str | None = None


class ProvisionConstraint(ValueObject, frozen=True, gc=False, kw_only=True):
    """A constraint of SDMX-ML 2.0, which is nested in the object it constrains and has no agency, so no URN.

    ``kind`` is "Content" or "Attachment"; ``metadata_concepts`` has its selections in ``components``.
    """

    id: str
    kind: str | None = None
    cube_regions: tuple[Region, ...] = ()
    metadata_concepts: Region | None = None
    key_sets: tuple[KeySet, ...] = ()
    release_calendar: ReleaseCalendar | None = None
    reference_period: tuple[str, str] | None = None


class Provision(ValueObject, frozen=True, gc=False, kw_only=True):
    """The location of data, and its content."""

    simple_data_source: str | None = None
    queryable_data_source: QueryableDataSource | None = None
    constraint: ProvisionConstraint | None = None


class ProvisionAgreementOfSources(ProvisionAgreement, frozen=True, gc=False, kw_only=True):
    """A provision agreement that names sources or constraints, or has indexing options for a registry.

    ``provision`` is the agreement's own; the provisions of its flow and of its provider are separate fields.
    """

    provision: Provision | None = None
    flow_provision: Provision | None = None
    provider_provision: Provision | None = None
    index_time_series: bool = False
    index_data_set: bool = False
    index_reporting_period: bool = False


class TimedReportedAttribute(ReportedAttribute, frozen=True, gc=False, kw_only=True):
    """A reported attribute whose value is a duration, with the start of the duration."""

    start_time: str
