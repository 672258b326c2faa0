"""Look-ups of artefacts by class: a method a class of the model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeAlias, TypeVar

from kafka_replica.sdmx.model import (
    AgencyScheme,
    AttachmentConstraint,
    Categorisation,
    CategoryScheme,
    CategorySchemeMap,
    Codelist,
    ConceptScheme,
    ConceptSchemeMap,
    ContentConstraint,
    CustomTypeScheme,
    DataConstraint,
    DataConsumerScheme,
    Dataflow,
    DataProviderScheme,
    DataStructure,
    HierarchicalCodelist,
    Hierarchy,
    HierarchyAssociation,
    MetadataConstraint,
    Metadataflow,
    MetadataProviderScheme,
    MetadataProvisionAgreement,
    MetadataSet,
    MetadataStructure,
    NamePersonalisationScheme,
    OrganisationSchemeMap,
    OrganisationUnitScheme,
    Process,
    ProvisionAgreement,
    Registration,
    ReportingTaxonomy,
    ReportingTaxonomyMap,
    RepresentationMap,
    RulesetScheme,
    StructureMap,
    StructureSet,
    TransformationScheme,
    UserDefinedOperatorScheme,
    ValueList,
    VtlMappingScheme,
)
from kafka_replica.sdmx.urn import Urn

Reference: TypeAlias = Urn | str
T = TypeVar("T")


class TypedLookUps(ABC):
    """One method a class; each takes a URN, or a reference such as ``SDMX:CL_FREQ(2.1)``."""

    @abstractmethod
    def _typed(self, class_: str, kind: type[T], reference: Reference) -> T:
        """The artefact of a class, as its struct."""

    def agency_scheme(self, reference: Reference) -> AgencyScheme:
        """The agency scheme of a URN or reference."""
        return self._typed("AgencyScheme", AgencyScheme, reference)

    def data_provider_scheme(self, reference: Reference) -> DataProviderScheme:
        """The data provider scheme of a URN or reference."""
        return self._typed("DataProviderScheme", DataProviderScheme, reference)

    def data_consumer_scheme(self, reference: Reference) -> DataConsumerScheme:
        """The data consumer scheme of a URN or reference."""
        return self._typed("DataConsumerScheme", DataConsumerScheme, reference)

    def metadata_provider_scheme(self, reference: Reference) -> MetadataProviderScheme:
        """The metadata provider scheme of a URN or reference."""
        return self._typed("MetadataProviderScheme", MetadataProviderScheme, reference)

    def organisation_unit_scheme(self, reference: Reference) -> OrganisationUnitScheme:
        """The organisation unit scheme of a URN or reference."""
        return self._typed("OrganisationUnitScheme", OrganisationUnitScheme, reference)

    def codelist(self, reference: Reference) -> Codelist:
        """The codelist of a URN or of a reference, ``SDMX:CL_FREQ(2.1)``; geographic ones, too."""
        return self._typed("Codelist", Codelist, reference)

    def value_list(self, reference: Reference) -> ValueList:
        """The value list of a URN or reference."""
        return self._typed("ValueList", ValueList, reference)

    def hierarchy(self, reference: Reference) -> Hierarchy:
        """The hierarchy (3.x) of a URN or reference; see :meth:`hierarchy_tree` for walking it."""
        return self._typed("Hierarchy", Hierarchy, reference)

    def hierarchical_codelist(self, reference: Reference) -> HierarchicalCodelist:
        """The hierarchical codelist (2.1) of a URN or reference."""
        return self._typed("HierarchicalCodelist", HierarchicalCodelist, reference)

    def hierarchy_association(self, reference: Reference) -> HierarchyAssociation:
        """The hierarchy association of a URN or reference."""
        return self._typed("HierarchyAssociation", HierarchyAssociation, reference)

    def concept_scheme(self, reference: Reference) -> ConceptScheme:
        """The concept scheme of a URN or reference."""
        return self._typed("ConceptScheme", ConceptScheme, reference)

    def category_scheme(self, reference: Reference) -> CategoryScheme:
        """The category scheme of a URN or reference."""
        return self._typed("CategoryScheme", CategoryScheme, reference)

    def categorisation(self, reference: Reference) -> Categorisation:
        """The categorisation of a URN or reference."""
        return self._typed("Categorisation", Categorisation, reference)

    def reporting_taxonomy(self, reference: Reference) -> ReportingTaxonomy:
        """The reporting taxonomy of a URN or reference."""
        return self._typed("ReportingTaxonomy", ReportingTaxonomy, reference)

    def data_structure(self, reference: Reference) -> DataStructure:
        """The data structure of a URN or reference."""
        return self._typed("DataStructure", DataStructure, reference)

    def dataflow(self, reference: Reference) -> Dataflow:
        """The dataflow of a URN or reference."""
        return self._typed("Dataflow", Dataflow, reference)

    def provision_agreement(self, reference: Reference) -> ProvisionAgreement:
        """The provision agreement of a URN or reference."""
        return self._typed("ProvisionAgreement", ProvisionAgreement, reference)

    def metadata_structure(self, reference: Reference) -> MetadataStructure:
        """The metadata structure of a URN or reference."""
        return self._typed("MetadataStructure", MetadataStructure, reference)

    def metadataflow(self, reference: Reference) -> Metadataflow:
        """The metadataflow of a URN or reference."""
        return self._typed("Metadataflow", Metadataflow, reference)

    def metadata_provision_agreement(self, reference: Reference) -> MetadataProvisionAgreement:
        """The metadata provision agreement of a URN or reference."""
        return self._typed("MetadataProvisionAgreement", MetadataProvisionAgreement, reference)

    def metadata_set(self, reference: Reference) -> MetadataSet:
        """The metadata set of a URN or reference."""
        return self._typed("MetadataSet", MetadataSet, reference)

    def data_constraint(self, reference: Reference) -> DataConstraint | ContentConstraint:
        """The constraint on data of a URN or reference; one of 2.1 is a ContentConstraint."""
        one: type[DataConstraint | ContentConstraint] = DataConstraint | ContentConstraint  # type: ignore[assignment]
        return self._typed("DataConstraint", one, reference)

    def metadata_constraint(self, reference: Reference) -> MetadataConstraint:
        """The metadata constraint of a URN or reference."""
        return self._typed("MetadataConstraint", MetadataConstraint, reference)

    def attachment_constraint(self, reference: Reference) -> AttachmentConstraint:
        """The attachment constraint of a URN or reference."""
        return self._typed("AttachmentConstraint", AttachmentConstraint, reference)

    def structure_map(self, reference: Reference) -> StructureMap:
        """The structure map of a URN or reference."""
        return self._typed("StructureMap", StructureMap, reference)

    def representation_map(self, reference: Reference) -> RepresentationMap:
        """The representation map of a URN or reference."""
        return self._typed("RepresentationMap", RepresentationMap, reference)

    def concept_scheme_map(self, reference: Reference) -> ConceptSchemeMap:
        """The concept scheme map of a URN or reference."""
        return self._typed("ConceptSchemeMap", ConceptSchemeMap, reference)

    def category_scheme_map(self, reference: Reference) -> CategorySchemeMap:
        """The category scheme map of a URN or reference."""
        return self._typed("CategorySchemeMap", CategorySchemeMap, reference)

    def organisation_scheme_map(self, reference: Reference) -> OrganisationSchemeMap:
        """The organisation scheme map of a URN or reference."""
        return self._typed("OrganisationSchemeMap", OrganisationSchemeMap, reference)

    def reporting_taxonomy_map(self, reference: Reference) -> ReportingTaxonomyMap:
        """The reporting taxonomy map of a URN or reference."""
        return self._typed("ReportingTaxonomyMap", ReportingTaxonomyMap, reference)

    def structure_set(self, reference: Reference) -> StructureSet:
        """The structure set (2.1) of a URN or reference."""
        return self._typed("StructureSet", StructureSet, reference)

    def process(self, reference: Reference) -> Process:
        """The process of a URN or reference."""
        return self._typed("Process", Process, reference)

    def registration(self, reference: Reference) -> Registration:
        """The registration of a URN or reference."""
        return self._typed("Registration", Registration, reference)

    def transformation_scheme(self, reference: Reference) -> TransformationScheme:
        """The transformation scheme of a URN or reference."""
        return self._typed("TransformationScheme", TransformationScheme, reference)

    def ruleset_scheme(self, reference: Reference) -> RulesetScheme:
        """The ruleset scheme of a URN or reference."""
        return self._typed("RulesetScheme", RulesetScheme, reference)

    def user_defined_operator_scheme(self, reference: Reference) -> UserDefinedOperatorScheme:
        """The user defined operator scheme of a URN or reference."""
        return self._typed("UserDefinedOperatorScheme", UserDefinedOperatorScheme, reference)

    def custom_type_scheme(self, reference: Reference) -> CustomTypeScheme:
        """The custom type scheme of a URN or reference."""
        return self._typed("CustomTypeScheme", CustomTypeScheme, reference)

    def name_personalisation_scheme(self, reference: Reference) -> NamePersonalisationScheme:
        """The name personalisation scheme of a URN or reference."""
        return self._typed("NamePersonalisationScheme", NamePersonalisationScheme, reference)

    def vtl_mapping_scheme(self, reference: Reference) -> VtlMappingScheme:
        """The VTL mapping scheme of a URN or reference."""
        return self._typed("VtlMappingScheme", VtlMappingScheme, reference)
