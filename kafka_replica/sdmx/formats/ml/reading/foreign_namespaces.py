"""Detect artefacts and their parts in namespaces that are not of SDMX, such as mistyped ones: they would be lost.

An extension, that is an element with a name that SDMX does not use, is ignored with all its content. In a namespace
that only resembles those of SDMX, no element is an extension.

Source: the names are those of elements in the schemas of structures, generic metadata and registry messages of SDMX-ML
1.0, 2.0, 2.1, 3.0 and 3.1.
"""

from __future__ import annotations

import re
from typing import Final, NoReturn

from lxml import etree

from kafka_replica.sdmx.formats.ml.reading.parsing import ParsedDocument
from kafka_replica.sdmx.formats.ml.reading.tree import Names, fail
from kafka_replica.sdmx.messages.format import is_mistyped, of_namespace

NAMES: Final = frozenset(
    """
    Action AfterPeriod Agencies Agency AgencyID AgencyRef AgencyScheme AgencySchemes Alias All AllEvents AllEventsID
    Annotation AnnotationText AnnotationTitle AnnotationType AnnotationURL AnnotationValue Annotations Any
    AttachmentConstraint AttachmentConstraintRef AttachmentGroup AttachmentMeasure Attribute AttributeDescriptor
    AttributeList AttributeRelationship AttributeSet AttributeValueSet AvailabilityConstraint
    AvailabilityConstraints BeforePeriod Categorisation Categorisations Category CategoryID CategoryMap CategoryRef
    CategoryScheme CategorySchemeAgencyID CategorySchemeID CategorySchemeMap CategorySchemeMaps CategorySchemeRef
    CategorySchemeVersion CategorySchemes CategoryVersion Code CodeID CodeList CodeListID CodeLists CodeMap CodeRef
    Codelist CodelistAliasRef CodelistExtension CodelistID CodelistMap CodelistRef Codelists CodingFormat CodingType
    CollectorContact Component ComponentList ComponentMap ComponentRef ComponentValue Components Computation Concept
    ConceptAgency ConceptID ConceptIdentity ConceptMap ConceptRole ConceptScheme ConceptSchemeID ConceptSchemeMap
    ConceptSchemeMaps ConceptSchemeRef ConceptSchemes Concepts Condition Constraint ConstraintAttachment
    ConstraintContentReference ConstraintContentTarget ConstraintID ConstraintRef ConstraintTarget Constraints
    Contact ContentConstraint ContextObject CoreRepresentation CrossSectionalMeasure CubeRegion CustomType
    CustomTypeScheme CustomTypeSchemes CustomTypes DataConsmerScheme DataConstraint DataConstraints DataConsumer
    DataConsumerScheme DataConsumerSchemes DataConsumers DataKey DataKeySet DataProvider DataProviderID
    DataProviderRef DataProviderScheme DataProviderSchemes DataProviderVersion DataProviders DataRegistrationEvents
    DataResult DataSet DataSetReference DataSetTarget DataStructure DataStructureComponents DataStructures DataType
    DataURL DataUrl Dataflow DataflowAgencyID DataflowID DataflowRef DataflowReference DataflowVersion Dataflows
    Datasource DatePattern DatePatternMap Department Description Dimension DimensionConstraint DimensionDescriptor
    DimensionDescriptorValuesTarget DimensionList DimensionRef DimensionReference DisseminatorContact Email EndDate
    EndPeriod Enumeration EnumerationFormat EpochMap EventAction EventSelector EventTime ExclusiveCodeSelection
    Expression Fax FixedValueMap FrequencyDimension FrequencyFormatMapping FrequencyId FromVtlMapping
    FromVtlSuperSpace FullTargetIdentifier GenericDataflow GeoCell GeoFeatureSetCode GeoGridCode GeoGridCodelist
    GeoGridCodelists GeoRefCode GeographicCodelist GeographicCodelists GridDefinition Group GroupDimension
    GroupDimensionDescriptor Grouping HierarchicalCode HierarchicalCodelist HierarchicalCodelistID
    HierarchicalCodelistRef HierarchicalCodelists Hierarchies Hierarchy HierarchyAssociation HierarchyAssociations
    HybridCodeMap HybridCodelistMap ID ISOConceptReference IdentifiableObjectTarget IdentifierComponent
    IdentifierComponentRef IncludedCodelist InclusiveCodeSelection Input Item ItemAssociation ItemMap Key
    KeyDescriptorValuesTarget KeyFamilies KeyFamily KeyFamilyAgencyID KeyFamilyID KeyFamilyRef KeyFamilyReference
    KeySet KeyValue LastUpdated Level LevelRef Link LinkedHierarchy LinkedObject LocalRepresentation
    MaintainableObject MaintenanceContact MapCodeRef MapConceptRef MapTargetCodeRef MapTargetConceptRef
    MappedFrequencies Measure MeasureDescriptor MeasureDimension MeasureList MeasureRelationship Member MemberValue
    MessageText MetadaflowRef Metadata MetadataAttribute MetadataAttributeList MetadataAttributeReference
    MetadataAttributeUsage MetadataConceptSet MetadataConstraint MetadataConstraints MetadataKeySet MetadataProvider
    MetadataProviderScheme MetadataProviderSchemes MetadataProvisionAgreement MetadataProvisionAgreements
    MetadataRegistrationEvents MetadataResult MetadataSet MetadataStructure MetadataStructureAgencyID
    MetadataStructureAgencyRef MetadataStructureComponents MetadataStructureDefinition
    MetadataStructureDefinitionReference MetadataStructureDefinitions MetadataStructureID MetadataStructureRef
    MetadataStructures MetadataTarget MetadataTargetRegion Metadataflow MetadataflowID MetadataflowRef
    MetadataflowReference Metadataflows MetadatastructureID MetadatataflowRef Name NameAliasScheme
    NamePersonalisation NamePersonalisationScheme NamePersonalisationSchemes NamePersonalisations NodeAliasID None
    NotificationHTTP NotificationMailTo NullValue Object ObjectReference ObjectURN Observation Offset
    OperatorDefinition Order Organisation OrganisationID OrganisationMap OrganisationScheme
    OrganisationSchemeAgencyID OrganisationSchemeID OrganisationSchemeMap OrganisationSchemeMaps
    OrganisationSchemeRef OrganisationSchemes OrganisationUnit OrganisationUnitScheme OrganisationUnitSchemes
    OtherContact Output OutputFormat Parent PartialTargetIdentifier Periodicity PersonalisedName PrimaryMeasure
    Process ProcessID ProcessRef ProcessStep Processes ProvisionAgreement ProvisionAgreementID ProvisionAgreementRef
    ProvisionAgreements ProvisionAgrement ProvisioningEvent ProvisioningMetadata ProvisioningRepositoryEvents
    ProvisioningStatus QueryResult QueryType QueryableDataSource QueryableDatasource Ref ReferencePeriod
    ReferenceValue Registration RegistrationEvent RegistrationID RegistrationRequest RegistrationStatus RegistryURN
    RelatedStructure RelatedStructures ReleaseCalendar Report ReportPeriod ReportPeriodTarget ReportRef
    ReportStructure ReportedAttribute ReporterContact ReportingCategory ReportingCategoryMap ReportingTaxonomies
    ReportingTaxonomy ReportingTaxonomyID ReportingTaxonomyMap ReportingTaxonomyMaps ReportingTaxonomyRef
    ReportingYearStartDay RepresentationMap RepresentationMapAgencyID RepresentationMapID RepresentationMapRef
    RepresentationMapping RepresentationMaps RepresentationScheme Result Role Ruleset RulesetDefinition
    RulesetScheme RulesetSchemes Rulesets SentinelValue SimpleDataSource SimpleDatasource Source SourceCodelist
    SourceDataType SourceValue StartDate StartPeriod StartTime StatusMessage StructuralEvent StructuralMetadata
    StructuralRepositoryEvents Structure StructureLocation StructureMap StructureMaps StructureSet StructureSetID
    StructureSetRef StructureSets StructureUsage StructuredText Structures SubmissionResult SubmittedStructure
    SubscriberAssignedID Subscription SubscriptionRequest SubscriptionStatus SubscriptionURN Target TargetCategoryID
    TargetCategorySchemeRef TargetCodelist TargetCodelistRef TargetConceptID TargetConceptSchemeRef TargetDataType
    TargetFrequencyID TargetHierarchicalCodelistRef TargetIdentifiers TargetKeyFamilyRef TargetMetadataStructureRef
    TargetObjectClass TargetOrganisationID TargetOrganisationSchemeRef TargetRef TargetStep TargetValue TargetValues
    Telephone Text TextFormat TimeDimension TimeRange ToTextFormat ToValueType ToVtlMapping ToVtlSubSpace Tolerance
    Transformation TransformationScheme TransformationSchemes Transformations Transition URI URN UserDefinedOperator
    UserDefinedOperatorScheme UserDefinedOperatorSchemes UserDefinedOperators ValidFrom ValidTo ValidityPeriod Value
    ValueItem ValueList ValueLists ValueMap ValueMapping Version VtlDefaultName VtlLiteralFormat VtlMapping
    VtlMappingScheme VtlMappingSchemes VtlMappings VtlScalarType WADLURL WSDLURL WSDLUrl X400 id
    """.split()  # noqa: SIM905 - a list would fill the screen
)
"""Local names of the elements of structure messages."""

_is_plain: Final = re.compile(rb"[!#-%(-)+-;=?-z|~]*").fullmatch
"""A match for an attribute value that is a namespace as written, and that lxml can search: no references, no stars."""
_UNDECLARED: Final = ("http://www.w3.org/XML/1998/namespace", "http://www.w3.org/2001/XMLSchema-instance")
"""Namespaces that elements may have without a declaration in the document: that of xsi is added if it is missing."""
_MANY: Final = 16
"""The number of namespaces from which on comparing those of all elements is faster than searching them."""


class ForeignElements:
    """The elements of artefacts in namespaces that are not of SDMX.

    Args:
        document: the document.
        names: the names of its elements.
    """

    def __init__(self, document: ParsedDocument, names: Names) -> None:
        self._names = names
        self._may_exist = _has_other_namespaces(document)

    def refuse_in(self, *elements: etree._Element) -> None:
        """Raise MessageError if one of these artefacts has such a part.

        An artefact that is itself in another namespace is not searched, unless the namespace is a mistyped one.
        """
        if not self._may_exist:
            return
        for element in elements:
            if not self._names[element.tag]:
                if is_mistyped(_namespace_of(element)):
                    refuse(element)
                continue
            searched = [element]
            for parent in searched:
                for child in parent:
                    if self._names[child.tag]:
                        if len(child):
                            searched.append(child)
                    elif is_part(child):
                        refuse(child)


def is_part(element: etree._Element) -> bool:
    """Return whether an element of another namespace is lost if it is ignored; comments and extensions are not."""
    tag: object = element.tag
    if not isinstance(tag, str):
        return False
    namespace, _, local = tag.rpartition("}")
    return local in NAMES or is_mistyped(namespace[1:])


def is_lost(element: etree._Element, names: Names, *kinds: str) -> bool:
    """Return whether an element has one of these local names, and only its namespace is not of SDMX."""
    tag: object = element.tag
    return isinstance(tag, str) and not names[tag] and tag.rpartition("}")[2] in kinds


def lost_in(root: etree._Element, names: Names, *kinds: str) -> list[etree._Element]:
    """Return the elements with these local names in a message that only their namespaces exclude from a search.

    Those around the message, such as a SOAP envelope, are not included, nor those in extensions and in elements that
    the search finds.
    """
    if all(names[element.tag] for element in root.iter(*(f"{{*}}{kind}" for kind in kinds))):
        return []
    found: list[etree._Element] = []
    searched = [(root, False)]
    for parent, is_inside in searched:
        # Elements without a namespace belong to those around them.
        is_in_message = is_inside or (bool(names[parent.tag]) and parent.tag[0] == "{")
        for child in parent:
            name = names[child.tag]
            if is_in_message and is_lost(child, names, *kinds):
                found.append(child)
            elif len(child) and name not in kinds and (name or not is_in_message or is_part(child)):
                searched.append((child, is_in_message))
    return found


def refuse(element: etree._Element) -> NoReturn:
    """Raise MessageError for an element of another namespace."""
    fail(element, f"its namespace {_namespace_of(element)[:80]!r} is not one of SDMX; correct it")


def _has_other_namespaces(document: ParsedDocument) -> bool:
    """Return whether elements may have namespaces that are not of SDMX."""
    root, declared = document.root, document.namespaces
    if declared is None or not all(map(_is_plain, declared)):
        return True
    others = [uri for uri in (each.decode("ascii") for each in declared) if uri and of_namespace(uri) is None]
    if len(others) > _MANY:
        return True
    return next(root.iter(*(f"{{{uri}}}*" for uri in (*others, *_UNDECLARED))), None) is not None


def _namespace_of(element: etree._Element) -> str:
    # Not by QName, which refuses some namespaces.
    return str(element.tag)[1:].rpartition("}")[0]
