"""Look-ups of artefacts by class: one method per class of the model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeVar

from kafka_replica.sdmx.lookups.artefacts import Reference
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

T = TypeVar("T")


class TypedLookUps(ABC):
    """Methods for all classes; each takes a URN, or a reference such as ``SDMX:CL_FREQ(2.1)``."""

    @abstractmethod
    def _typed(self, class_: str, kind: type[T], reference: Reference) -> T:
        """Return the artefact of a class, as its struct."""

    def agency_scheme(self, reference: Reference) -> AgencyScheme:
        """Return the agency scheme that a URN or reference names."""
        return self._typed("AgencyScheme", AgencyScheme, reference)

    def data_provider_scheme(self, reference: Reference) -> DataProviderScheme:
        """Return the data provider scheme that a URN or reference names."""
        return self._typed("DataProviderScheme", DataProviderScheme, reference)

    def data_consumer_scheme(self, reference: Reference) -> DataConsumerScheme:
        """Return the data consumer scheme that a URN or reference names."""
        return self._typed("DataConsumerScheme", DataConsumerScheme, reference)

    def metadata_provider_scheme(self, reference: Reference) -> MetadataProviderScheme:
        """Return the metadata provider scheme that a URN or reference names."""
        return self._typed("MetadataProviderScheme", MetadataProviderScheme, reference)

    def organisation_unit_scheme(self, reference: Reference) -> OrganisationUnitScheme:
        """Return the organisation unit scheme that a URN or reference names."""
        return self._typed("OrganisationUnitScheme", OrganisationUnitScheme, reference)

    def codelist(self, reference: Reference) -> Codelist:
        """Return the codelist, also a geographic one, that a URN or reference (``SDMX:CL_FREQ(2.1)``) names."""
        return self._typed("Codelist", Codelist, reference)

    def value_list(self, reference: Reference) -> ValueList:
        """Return the value list that a URN or reference names."""
        return self._typed("ValueList", ValueList, reference)

    def hierarchy(self, reference: Reference) -> Hierarchy:
        """Return the hierarchy (3.x) that a URN or reference names; see :meth:`hierarchy_tree` for traversing it."""
        return self._typed("Hierarchy", Hierarchy, reference)

    def hierarchical_codelist(self, reference: Reference) -> HierarchicalCodelist:
        """Return the hierarchical codelist (2.1) that a URN or reference names."""
        return self._typed("HierarchicalCodelist", HierarchicalCodelist, reference)

    def hierarchy_association(self, reference: Reference) -> HierarchyAssociation:
        """Return the hierarchy association that a URN or reference names."""
        return self._typed("HierarchyAssociation", HierarchyAssociation, reference)

    def concept_scheme(self, reference: Reference) -> ConceptScheme:
        """Return the concept scheme that a URN or reference names."""
        return self._typed("ConceptScheme", ConceptScheme, reference)

    def category_scheme(self, reference: Reference) -> CategoryScheme:
        """Return the category scheme that a URN or reference names."""
        return self._typed("CategoryScheme", CategoryScheme, reference)

    def categorisation(self, reference: Reference) -> Categorisation:
        """Return the categorisation that a URN or reference names."""
        return self._typed("Categorisation", Categorisation, reference)

    def reporting_taxonomy(self, reference: Reference) -> ReportingTaxonomy:
        """Return the reporting taxonomy that a URN or reference names."""
        return self._typed("ReportingTaxonomy", ReportingTaxonomy, reference)

    def data_structure(self, reference: Reference) -> DataStructure:
        """Return the data structure that a URN or reference names."""
        return self._typed("DataStructure", DataStructure, reference)

    def dataflow(self, reference: Reference) -> Dataflow:
        """Return the dataflow that a URN or reference names."""
        return self._typed("Dataflow", Dataflow, reference)

    def provision_agreement(self, reference: Reference) -> ProvisionAgreement:
        """Return the provision agreement that a URN or reference names."""
        return self._typed("ProvisionAgreement", ProvisionAgreement, reference)

    def metadata_structure(self, reference: Reference) -> MetadataStructure:
        """Return the metadata structure that a URN or reference names."""
        return self._typed("MetadataStructure", MetadataStructure, reference)

    def metadataflow(self, reference: Reference) -> Metadataflow:
        """Return the metadataflow that a URN or reference names."""
        return self._typed("Metadataflow", Metadataflow, reference)

    def metadata_provision_agreement(self, reference: Reference) -> MetadataProvisionAgreement:
        """Return the metadata provision agreement that a URN or reference names."""
        return self._typed("MetadataProvisionAgreement", MetadataProvisionAgreement, reference)

    def metadata_set(self, reference: Reference) -> MetadataSet:
        """Return the metadata set that a URN or reference names."""
        return self._typed("MetadataSet", MetadataSet, reference)

    def data_constraint(self, reference: Reference) -> DataConstraint | ContentConstraint:
        """Return the constraint on data that a URN or reference names; in 2.1 a ContentConstraint."""
        one: type[DataConstraint | ContentConstraint] = DataConstraint | ContentConstraint  # type: ignore[assignment]
        return self._typed("DataConstraint", one, reference)

    def metadata_constraint(self, reference: Reference) -> MetadataConstraint:
        """Return the metadata constraint that a URN or reference names."""
        return self._typed("MetadataConstraint", MetadataConstraint, reference)

    def attachment_constraint(self, reference: Reference) -> AttachmentConstraint:
        """Return the attachment constraint that a URN or reference names."""
        return self._typed("AttachmentConstraint", AttachmentConstraint, reference)

    def structure_map(self, reference: Reference) -> StructureMap:
        """Return the structure map that a URN or reference names."""
        return self._typed("StructureMap", StructureMap, reference)

    def representation_map(self, reference: Reference) -> RepresentationMap:
        """Return the representation map that a URN or reference names."""
        return self._typed("RepresentationMap", RepresentationMap, reference)

    def concept_scheme_map(self, reference: Reference) -> ConceptSchemeMap:
        """Return the concept scheme map that a URN or reference names."""
        return self._typed("ConceptSchemeMap", ConceptSchemeMap, reference)

    def category_scheme_map(self, reference: Reference) -> CategorySchemeMap:
        """Return the category scheme map that a URN or reference names."""
        return self._typed("CategorySchemeMap", CategorySchemeMap, reference)

    def organisation_scheme_map(self, reference: Reference) -> OrganisationSchemeMap:
        """Return the organisation scheme map that a URN or reference names."""
        return self._typed("OrganisationSchemeMap", OrganisationSchemeMap, reference)

    def reporting_taxonomy_map(self, reference: Reference) -> ReportingTaxonomyMap:
        """Return the reporting taxonomy map that a URN or reference names."""
        return self._typed("ReportingTaxonomyMap", ReportingTaxonomyMap, reference)

    def structure_set(self, reference: Reference) -> StructureSet:
        """Return the structure set (2.1) that a URN or reference names."""
        return self._typed("StructureSet", StructureSet, reference)

    def process(self, reference: Reference) -> Process:
        """Return the process that a URN or reference names."""
        return self._typed("Process", Process, reference)

    def registration(self, reference: Reference) -> Registration:
        """Return the registration that a URN or reference names."""
        return self._typed("Registration", Registration, reference)

    def transformation_scheme(self, reference: Reference) -> TransformationScheme:
        """Return the transformation scheme that a URN or reference names."""
        return self._typed("TransformationScheme", TransformationScheme, reference)

    def ruleset_scheme(self, reference: Reference) -> RulesetScheme:
        """Return the ruleset scheme that a URN or reference names."""
        return self._typed("RulesetScheme", RulesetScheme, reference)

    def user_defined_operator_scheme(self, reference: Reference) -> UserDefinedOperatorScheme:
        """Return the user defined operator scheme that a URN or reference names."""
        return self._typed("UserDefinedOperatorScheme", UserDefinedOperatorScheme, reference)

    def custom_type_scheme(self, reference: Reference) -> CustomTypeScheme:
        """Return the custom type scheme that a URN or reference names."""
        return self._typed("CustomTypeScheme", CustomTypeScheme, reference)

    def name_personalisation_scheme(self, reference: Reference) -> NamePersonalisationScheme:
        """Return the name personalisation scheme that a URN or reference names."""
        return self._typed("NamePersonalisationScheme", NamePersonalisationScheme, reference)

    def vtl_mapping_scheme(self, reference: Reference) -> VtlMappingScheme:
        """Return the VTL mapping scheme that a URN or reference names."""
        return self._typed("VtlMappingScheme", VtlMappingScheme, reference)
