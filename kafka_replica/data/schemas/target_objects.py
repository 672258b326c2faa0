"""References to the objects that a metadata report is about (2.1).

Source: SDMX 2.1, SDMXMetadataStructureSpecific.xsd (``ReferenceValueType``) and SDMXCommonReferences.xsd.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from kafka_replica.data.schemas.simple_types import name_in_xml
from kafka_replica.data.schemas.xsd_types import OBSERVATIONAL, UNIONS, XSD_TYPES
from kafka_replica.sdmx.model import TargetObject
from kafka_replica.sdmx.values.text_types import TIME_TYPES

_GENERAL: Final = "common:ReferenceType"
_CLASSES: Final = frozenset({
    "Agency", "AgencyScheme", "AttachmentConstraint", "Attribute", "AttributeDescriptor", "Categorisation",
    "Category", "CategoryScheme", "CategorySchemeMap", "Code", "Codelist", "CodelistMap", "Concept",
    "ConceptScheme", "ConceptSchemeMap", "Constraint", "ConstraintTarget", "ContentConstraint", "CustomType",
    "CustomTypeScheme", "DataConsumer", "DataConsumerScheme", "DataProvider", "DataProviderScheme", "DataSetTarget",
    "DataStructure", "Dataflow", "Dimension", "HierarchicalCode", "HierarchicalCodelist", "Hierarchy",
    "IdentifiableObjectTarget", "Level", "MeasureDescriptor", "MeasureDimension", "MetadataAttribute",
    "MetadataStructure", "MetadataTarget", "Metadataflow", "NamePersonalisation", "NamePersonalisationScheme",
    "Organisation", "OrganisationScheme", "OrganisationSchemeMap", "OrganisationUnit", "OrganisationUnitScheme",
    "PrimaryMeasure", "Process", "ProcessStep", "ProvisionAgreement", "ReportPeriodTarget", "ReportStructure",
    "ReportingCategory", "ReportingTaxonomy", "Ruleset", "RulesetScheme", "StructureMap", "StructureSet",
    "TimeDimension", "Transformation", "TransformationScheme", "Transition", "UserDefinedOperator",
    "UserDefinedOperatorScheme", "VtlMapping", "VtlMappingScheme",
})  # fmt: skip
"""The classes for which SDMXCommonReferences.xsd has a type of references."""


class ReferenceValue(NamedTuple):
    """The value of a target object in a report.

    Attributes:
        name: the name of its type, after that of the target.
        element: the element with the value.
        type: the type of this element.
        general_type: the type in the standard's schema, of which ``type`` is a restriction.
    """

    name: str
    element: str
    type: str
    general_type: str


_FIXED: Final = {
    "DimensionDescriptorValuesTarget": ("KeyDescriptorValuesTarget", "DataKey", "common:DataKeyType"),
    "DataSetTarget": ("DataSetTarget", "DataSetReference", "common:SetReferenceType"),
    "ConstraintTarget": (
        "ConstraintContentTarget", "ConstraintContentReference", "common:AttachmentConstraintReferenceType",
    ),
}  # fmt: skip
"""The target objects with a fixed id, of which a target has at most one each, by class."""


def reference_of(target: TargetObject) -> ReferenceValue:
    """Return the value of a target object in a report.

    Raises:
        UnwritableError: the id of the object is not a valid name in XML.
    """
    if target.urn.cls in _FIXED:
        name, element, type_ = _FIXED[target.urn.cls]
        return ReferenceValue(name, element, type_, type_)
    if target.urn.cls == "ReportPeriodTarget":
        format_ = None if target.representation is None else target.representation.format
        text_type = None if format_ is None else format_.text_type
        period = XSD_TYPES[text_type] if text_type in TIME_TYPES and text_type in XSD_TYPES else OBSERVATIONAL
        if period in UNIONS:  # in XML Schema 1.0, a union is not a restriction of a union that contains it
            period = OBSERVATIONAL
        return ReferenceValue("ReportPeriodTarget", "ReportPeriod", period, OBSERVATIONAL)
    named = f"common:{target.object_type}ReferenceType"
    type_ = named if target.object_type in _CLASSES else "common:ObjectReferenceType"
    return ReferenceValue(name_in_xml(target.id, "target object"), "ObjectReference", type_, _GENERAL)
