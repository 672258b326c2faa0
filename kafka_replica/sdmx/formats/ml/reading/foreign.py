"""Detect parts of artefacts in namespaces that are not of SDMX, such as mistyped ones: they would be lost silently.

An extension, that is an element with a name that SDMX does not use, is ignored with all its content.

Source: the names are those of elements in the schemas of structures of SDMX-ML 1.0, 2.0, 2.1, 3.0 and 3.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from lxml import etree

from kafka_replica.sdmx.formats.ml.reading.tree import Names, fail
from kafka_replica.sdmx.messages.format import is_mistyped, of_namespace

NAMES: Final = frozenset(
    """
    AfterPeriod Agencies Agency AgencyID AgencyScheme AgencySchemes Alias Annotation AnnotationText AnnotationTitle
    AnnotationType AnnotationURL AnnotationValue Annotations Any AttachmentConstraint AttachmentConstraintRef
    AttachmentGroup AttachmentMeasure Attribute AttributeDescriptor AttributeList AttributeRelationship
    AvailabilityConstraint AvailabilityConstraints BeforePeriod Categorisation Categorisations Category CategoryID
    CategoryMap CategoryRef CategoryScheme CategorySchemeAgencyID CategorySchemeID CategorySchemeMap CategorySchemeMaps
    CategorySchemeRef CategorySchemeVersion CategorySchemes CategoryVersion Code CodeID CodeList CodeMap CodeRef
    Codelist CodelistAliasRef CodelistExtension CodelistID CodelistMap CodelistRef Codelists CodingFormat CodingType
    CollectorContact Component ComponentList ComponentMap ComponentRef Components Computation Concept ConceptAgency
    ConceptID ConceptIdentity ConceptMap ConceptRole ConceptScheme ConceptSchemeID ConceptSchemeMap ConceptSchemeMaps
    ConceptSchemeRef ConceptSchemes Concepts Condition Constraint ConstraintAttachment ConstraintContentTarget
    ConstraintID ConstraintRef ConstraintTarget Constraints Contact ContentConstraint ContextObject CoreRepresentation
    CrossSectionalMeasure CubeRegion CustomType CustomTypeScheme CustomTypeSchemes CustomTypes DataConstraint
    DataConstraints DataConsumer DataConsumerScheme DataConsumerSchemes DataConsumers DataKey DataKeySet DataProvider
    DataProviderID DataProviderRef DataProviderScheme DataProviderSchemes DataProviderVersion DataProviders DataSet
    DataSetTarget DataStructure DataStructureComponents DataStructures DataType DataURL Dataflow DataflowAgencyID
    DataflowID DataflowRef DataflowVersion Dataflows DatePattern DatePatternMap Department Description Dimension
    DimensionConstraint DimensionDescriptor DimensionDescriptorValuesTarget DimensionList DimensionRef
    DimensionReference DisseminatorContact Email EndPeriod Enumeration EnumerationFormat EpochMap ExclusiveCodeSelection
    Expression Fax FixedValueMap FrequencyDimension FrequencyFormatMapping FrequencyId FromVtlMapping FromVtlSuperSpace
    FullTargetIdentifier GenericDataflow GeoCell GeoFeatureSetCode GeoGridCode GeoGridCodelist GeoGridCodelists
    GeoRefCode GeographicCodelist GeographicCodelists GridDefinition Group GroupDimension GroupDimensionDescriptor
    Grouping HierarchicalCode HierarchicalCodelist HierarchicalCodelistID HierarchicalCodelistRef HierarchicalCodelists
    Hierarchies Hierarchy HierarchyAssociation HierarchyAssociations HybridCodeMap HybridCodelistMap ID
    ISOConceptReference IdentifiableObjectTarget IdentifierComponent IdentifierComponentRef IncludedCodelist
    InclusiveCodeSelection Input Item ItemAssociation ItemMap Key KeyDescriptorValuesTarget KeyFamily KeyFamilyAgencyID
    KeyFamilyID KeyFamilyRef KeySet KeyValue Level LevelRef Link LinkedHierarchy LinkedObject LocalRepresentation
    MaintenanceContact MapCodeRef MapConceptRef MapTargetCodeRef MapTargetConceptRef MappedFrequencies Measure
    MeasureDescriptor MeasureDimension MeasureList MeasureRelationship Member MemberValue Metadata MetadataAttribute
    MetadataAttributeList MetadataAttributeReference MetadataAttributeUsage MetadataConceptSet MetadataConstraint
    MetadataConstraints MetadataKeySet MetadataProvider MetadataProviderScheme MetadataProviderSchemes
    MetadataProvisionAgreement MetadataProvisionAgreements MetadataSet MetadataStructure MetadataStructureAgencyID
    MetadataStructureComponents MetadataStructureDefinition MetadataStructureID MetadataStructureRef MetadataStructures
    MetadataTarget MetadataTargetRegion Metadataflow MetadataflowID MetadataflowRef Metadataflows Name
    NamePersonalisation NamePersonalisationScheme NamePersonalisationSchemes NamePersonalisations NodeAliasID None
    NullValue Object ObjectReference Observation Offset OperatorDefinition Order Organisation OrganisationID
    OrganisationMap OrganisationScheme OrganisationSchemeAgencyID OrganisationSchemeID OrganisationSchemeMap
    OrganisationSchemeMaps OrganisationSchemeRef OrganisationSchemes OrganisationUnit OrganisationUnitScheme
    OrganisationUnitSchemes OtherContact Output OutputFormat Parent PartialTargetIdentifier Periodicity PersonalisedName
    PrimaryMeasure Process ProcessStep Processes ProvisionAgreement ProvisionAgreementRef ProvisionAgreements
    ProvisionAgrement ProvisioningMetadata QueryableDataSource Ref ReferencePeriod RelatedStructure RelatedStructures
    ReleaseCalendar ReportPeriodTarget ReportStructure ReporterContact ReportingCategory ReportingCategoryMap
    ReportingTaxonomies ReportingTaxonomy ReportingTaxonomyMap ReportingTaxonomyMaps ReportingYearStartDay
    RepresentationMap RepresentationMapAgencyID RepresentationMapID RepresentationMapRef RepresentationMapping
    RepresentationMaps RepresentationScheme Result Role Ruleset RulesetDefinition RulesetScheme RulesetSchemes Rulesets
    SentinelValue SimpleDataSource Source SourceCodelist SourceDataType SourceValue StartPeriod StructuralMetadata
    Structure StructureMap StructureMaps StructureSet StructureSets StructureUsage StructuredText Structures Target
    TargetCategoryID TargetCategorySchemeRef TargetCodelist TargetCodelistRef TargetConceptID TargetConceptSchemeRef
    TargetDataType TargetFrequencyID TargetHierarchicalCodelistRef TargetIdentifiers TargetKeyFamilyRef
    TargetMetadataStructureRef TargetObjectClass TargetOrganisationID TargetOrganisationSchemeRef TargetStep TargetValue
    Telephone Text TextFormat TimeDimension TimeRange ToTextFormat ToValueType ToVtlMapping ToVtlSubSpace Tolerance
    Transformation TransformationScheme TransformationSchemes Transformations Transition URI URN UserDefinedOperator
    UserDefinedOperatorScheme UserDefinedOperatorSchemes UserDefinedOperators ValidFrom ValidTo Value ValueItem
    ValueList ValueLists ValueMap ValueMapping Version VtlDefaultName VtlLiteralFormat VtlMapping VtlMappingScheme
    VtlMappingSchemes VtlMappings VtlScalarType WADLURL WSDLURL X400 id
    """.split()  # noqa: SIM905 - a list would fill the screen
)
"""Local names of the elements of structure messages."""

_value: Final = re.compile(rb"xmlns(?::[^\s=\"'<>]*)?\s*=\s*(?:\"([^\"]*)\"|'([^']*)')").match
_is_plain: Final = re.compile(rb"[!#-%(-;=?-z|~]*").fullmatch
"""A match for an attribute value that is a namespace as written, and that lxml can search: no references, no braces."""


class ForeignParts:
    """The parts of a message in namespaces that are not of SDMX.

    Args:
        root: the root of the message.
        data: the document; searching it for declarations takes less time than comparing the namespaces of all elements.
        names: the names of its elements.
        artefacts: the elements of its artefacts.

    Raises:
        MessageError: such a part is outside the artefacts, and is not an extension.
    """

    def __init__(self, root: etree._Element, data: bytes, names: Names, artefacts: Iterable[etree._Element]) -> None:
        self._names = names
        self._by_artefact: dict[etree._Element, etree._Element] = {}
        found = [element for element in _of_other_namespaces(root, data) if self._is_part(element)]
        if found:
            known = frozenset(artefacts)
            for element in found:
                self._add(element, known)

    def refuse_in(self, *artefacts: etree._Element) -> None:
        """Raise MessageError if an artefact has such a part."""
        for artefact in artefacts:
            if artefact in self._by_artefact:
                _refuse(self._by_artefact[artefact])

    def _is_part(self, element: etree._Element) -> bool:
        """Return True if the element has a place and a name of SDMX, and only its namespace is another one."""
        if is_mistyped(_namespace_of(element)):
            return True
        above = element.getparent()
        while above is not None and above.tag[0] != "{":  # no namespace: it belongs to the elements around it
            above = above.getparent()
        return above is not None and bool(self._names[above.tag]) and _local_name(element) in NAMES

    def _add(self, element: etree._Element, known: frozenset[etree._Element]) -> None:
        mistyped = is_mistyped(_namespace_of(element))
        above = [element, *element.iterancestors()]
        artefact = next((one for one in above if one in known), None)
        if artefact is None:
            if mistyped or any(self._names[one.tag] == "OrganisationScheme" for one in above):
                _refuse(element)
        # An artefact of another namespace is kept as it is. Metadata sets have elements of namespaces of their own.
        elif mistyped or (artefact is not element and self._names[artefact.tag] != "MetadataSet"):
            self._by_artefact.setdefault(artefact, element)


def _of_other_namespaces(root: etree._Element, data: bytes) -> Iterator[etree._Element]:
    """Yield the elements in namespaces that are not of SDMX, in document order."""
    declared = _declared(data)
    # In an encoding without ASCII no declaration is found.
    if declared and all(map(_is_plain, declared)):
        others = [uri for uri in (each.decode("ascii") for each in declared) if uri and of_namespace(uri) is None]
        if others:
            yield from root.iter(*(f"{{{uri}}}*" for uri in others))
        return
    yield from (each for each in root.iter("{*}*") if each.tag[0] == "{" and of_namespace(_namespace_of(each)) is None)


def _declared(data: bytes) -> set[bytes]:
    """Return the namespaces that are declared anywhere in a document, as written."""
    found: set[bytes] = set()
    at = data.find(b"xmlns")  # much faster than a search by the pattern
    while at >= 0:
        value = _value(data, at)
        if value is not None:
            found.add(value[1] or value[2] or b"")
        at = data.find(b"xmlns", at + 5)
    return found


def _refuse(element: etree._Element) -> None:
    fail(element, f"its namespace {_namespace_of(element)[:80]!r} is not one of SDMX; correct it")


def _namespace_of(element: etree._Element) -> str:
    # Not by QName, which refuses some namespaces.
    return str(element.tag)[1:].rpartition("}")[0]


def _local_name(element: etree._Element) -> str:
    return str(element.tag).rpartition("}")[2]
