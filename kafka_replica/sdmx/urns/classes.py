"""The classes of SDMX 2.1 and 3.x that have a URN: their packages, and the classes that contain them.

Source: SDMXCommonReferences.xsd of 2.1 (``ObjectTypeCodelistType``, ``PackageTypeCodelistType``) and of
3.x (``UrnPart`` patterns), and the Technical Notes, "Universal Resource Name". If the two disagree, both
are kept: StructureMap is a part of a StructureSet in 2.1 (package ``mapping``) and standalone in 3.x
(``structuremapping``); the same applies to Hierarchy and HierarchicalCodelist.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class ClassInfo(NamedTuple):
    """A class: ``package`` if it is maintainable, ``item_package`` and ``parents`` if it is an item."""

    name: str
    package: str | None
    item_package: str | None
    parents: tuple[str, ...]

    @property
    def is_maintainable(self) -> bool:
        """True if the class has an agency and a version of its own in some edition of SDMX."""
        return self.package is not None


# package -> maintainable class -> the classes of its items and components
_TABLE: Final[dict[str, dict[str, str]]] = {
    "base": {
        "AgencyScheme": "Agency",
        "DataProviderScheme": "DataProvider",
        "DataConsumerScheme": "DataConsumer",
        "MetadataProviderScheme": "MetadataProvider",
        "OrganisationUnitScheme": "OrganisationUnit",
    },
    "codelist": {
        "Codelist": "Code",
        "GeographicCodelist": "Code GeoFeatureSetCode",
        "GeoGridCodelist": "Code GeoGridCode",
        "ValueList": "",
        "Hierarchy": "HierarchicalCode Level",
        "HierarchicalCodelist": "Hierarchy HierarchicalCode Level",
        "HierarchyAssociation": "",
    },
    "conceptscheme": {"ConceptScheme": "Concept"},
    "categoryscheme": {
        "CategoryScheme": "Category",
        "Categorisation": "",
        "ReportingTaxonomy": "ReportingCategory",
    },
    "datastructure": {
        "DataStructure": "DimensionDescriptor Dimension MeasureDimension TimeDimension MeasureDescriptor"
        " Measure PrimaryMeasure CrossSectionalMeasure AttributeDescriptor DataAttribute ReportingYearStartDay"
        " GroupDimensionDescriptor",
        "Dataflow": "",
    },
    "metadatastructure": {
        "MetadataStructure": "MetadataAttributeDescriptor MetadataAttribute ReportStructure MetadataTarget"
        " ConstraintTarget DataSetTarget DimensionDescriptorValuesTarget IdentifiableObjectTarget"
        " ReportPeriodTarget",
        "Metadataflow": "",
        "MetadataSet": "",
    },
    "process": {"Process": "ProcessStep Transition"},
    "registry": {
        "ProvisionAgreement": "",
        "MetadataProvisionAgreement": "",
        "ContentConstraint": "",
        "AttachmentConstraint": "",
        "DataConstraint": "",
        "MetadataConstraint": "",
        "Registration": "",
    },
    "mapping": {
        "StructureSet": "StructureMap CodelistMap CodeMap HybridCodelistMap HybridCodeMap ComponentMap"
        " ConceptSchemeMap ConceptMap CategorySchemeMap CategoryMap OrganisationSchemeMap OrganisationMap"
        " ReportingTaxonomyMap ReportingCategoryMap",
    },
    "structuremapping": {
        "StructureMap": "DatePatternMap EpochMap FrequencyFormatMapping",
        "RepresentationMap": "",
        "ConceptSchemeMap": "",
        "CategorySchemeMap": "",
        "OrganisationSchemeMap": "",
        "ReportingTaxonomyMap": "",
    },
    "transformation": {
        "TransformationScheme": "Transformation",
        "RulesetScheme": "Ruleset",
        "UserDefinedOperatorScheme": "UserDefinedOperator",
        "CustomTypeScheme": "CustomType",
        "NamePersonalisationScheme": "NamePersonalisation",
        "VtlMappingScheme": "VtlCodelistMapping VtlConceptMapping VtlDataflowMapping",
    },
}


def _classes() -> dict[str, ClassInfo]:
    found: dict[str, ClassInfo] = {}
    for package, maintainables in _TABLE.items():
        for name, items in maintainables.items():
            known = found.get(name, ClassInfo(name, None, None, ()))
            found[name] = known._replace(package=package)
            for item in items.split():
                known = found.get(item, ClassInfo(item, None, None, ()))
                found[item] = known._replace(item_package=package, parents=(*known.parents, name))
    return found


CLASSES: Final[dict[str, ClassInfo]] = _classes()
"""The facts about each class, by name; classes of vendors are not included."""

WITH_PATHS: Final = frozenset({
    "Category", "ConstraintTarget", "DataSetTarget", "DimensionDescriptorValuesTarget", "HierarchicalCode",
    "IdentifiableObjectTarget", "Level", "MetadataAttribute", "ProcessStep", "ReportPeriodTarget", "ReportingCategory",
    "Transition",
})  # fmt: skip
"""The classes whose items are inside other items: in a URN, the ids of those precede the own id, with dots."""
