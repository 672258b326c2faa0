"""Detect elements that are repeated although their parent may have only one.

It cannot be known which of the two is valid, so such a message is rejected; the readers would silently use one of them.

Source: maxOccurs in the schemas of structures, metadata and registry messages of SDMX-ML 1.0, 2.0, 2.1, 3.0 and 3.1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import Enum, auto
from typing import Final

from lxml import etree

from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.ml.reading.metadata_header import is_of_3
from kafka_replica.sdmx.formats.ml.reading.plain_tags import NotPlainError
from kafka_replica.sdmx.formats.ml.reading.plain_xml import is_plain
from kafka_replica.sdmx.formats.ml.reading.tree import Names, fail
from kafka_replica.sdmx.formats.shared.reading.error_collector import ErrorCollector
from kafka_replica.sdmx.messages.format import Format

_SINCE_21: Final = frozenset(
    """
    AfterPeriod AnnotationTitle AnnotationType AnnotationValue Annotations AttributeList AttributeRelationship
    AttributeSet BeforePeriod CodeID CodelistAliasRef CodingFormat Computation ConceptAgency ConceptID
    ConceptIdentity ConceptSchemeID ConstraintAttachment ConstraintContentReference ContextObject CoreRepresentation
    DataSetReference DataStructureComponents DataType DataURL DatePattern Datasource DimensionConstraint
    DimensionList DimensionReference EndPeriod Enumeration EnumerationFormat ExclusiveCodeSelection Expression
    FrequencyDimension FrequencyId FromVtlMapping FromVtlSuperSpace GenericDataflow GeoCell GridDefinition ID
    ISOConceptReference InclusiveCodeSelection Level LinkedHierarchy LinkedObject LocalRepresentation MeasureList
    MeasureRelationship Metadata MetadataAttributeList MetadataAttributeReference MetadataStructureComponents
    NullValue ObjectReference Offset OperatorDefinition OutputFormat Parent Periodicity PersonalisedName Prepared
    PrimaryMeasure Ref ReferencePeriod ReleaseCalendar ReportPeriod RulesetDefinition Sender StartPeriod
    StructureUsage TargetFrequencyID TargetStep Test TextFormat TimeRange ToTextFormat ToValueType ToVtlMapping
    ToVtlSubSpace Tolerance URN ValueMap VtlDefaultName VtlLiteralFormat VtlScalarType WADLURL WSDLURL
    """.split()  # noqa: SIM905 - a list would fill the screen
)
_SINCE_21_IN: Final = {
    "AttachmentConstraint": "Group",
    "Code": "HierarchicalCode",
    "Codelist": "CodelistExtension VtlMapping",
    "CodelistMap": "RepresentationMapping",
    "Concept": "VtlMapping",
    "ConceptScheme": "VtlMapping",
    "CubeRegion": "AvailabilityConstraint",
    "CustomTypeScheme": "TransformationScheme",
    "DataKey": "ReferenceValue",
    "DataProvider": "ConstraintAttachment DataSet Header MetadataSet ProvisionAgreement",
    "Dataflow": "ProvisionAgreement VtlMapping",
    "MetadataProvider": "ConstraintAttachment Header MetadataProvisionAgreement",
    "MetadataProvisionAgreement": "MetadataSet",
    "Metadataflow": "MetadataProvisionAgreement MetadataSet",
    "NamePersonalisationScheme": "TransformationScheme",
    "ProvisionAgreement": "Registration Structure",
    "RepresentationMap": "ComponentMap",
    "RepresentationMapping": "ComponentMap",
    "Source": "Categorisation CategoryMap CategorySchemeMap CodeMap CodelistMap ConceptMap ConceptSchemeMap "
    "FixedValueMap HybridCodeMap HybridCodelistMap OrganisationMap OrganisationSchemeMap ReportingCategoryMap "
    "ReportingTaxonomyMap StructureMap",
    "SourceValue": "ItemMap",
    "Structure": "Dataflow Metadataflow Structure",
    "Target": "Categorisation CategoryMap CategorySchemeMap CodeMap CodelistMap ConceptMap ConceptSchemeMap "
    "FixedValueMap HybridCodeMap HybridCodelistMap OrganisationMap OrganisationSchemeMap Report ReportingCategoryMap "
    "ReportingTaxonomyMap StructureMap",
    "TargetValue": "ItemMap",
    "VtlMappingScheme": "RulesetScheme TransformationScheme UserDefinedOperatorScheme",
}
_BEFORE_21: Final = frozenset(
    """
    Alias AnnotationTitle AnnotationType AnnotationURL Annotations AttachmentConstraintRef CategorySchemeMap
    CategorySchemeVersion CategoryVersion CodeID CodelistAliasRef CodelistID CodelistMap CodingType CollectorContact
    Components ConceptID ConceptSchemeMap Constraint ConstraintID DataProviderVersion DataSetAction DataSetAgency
    DataSetID DataUrl DataflowAgencyID DataflowVersion Datasource DisseminatorContact EndDate FullTargetIdentifier
    ID Key KeyFamilyAgency KeyFamilyAgencyID LevelRef MaintenanceContact MapCodeRef MapConceptRef MapTargetCodeRef
    MapTargetConceptRef MetadaflowRef MetadataConceptSet MetadataStructureAgencyID MetadataStructureAgencyRef
    NodeAliasID Offset Order OrganisationID OrganisationSchemeAgencyID OrganisationSchemeMap Periodicity Prepared
    PrimaryMeasure ProvisionAgreementRef QueryableDatasource ReferencePeriod RelatedStructures ReleaseCalendar
    ReportRef ReporterContact RepresentationMapAgencyID RepresentationMapID RepresentationMapRef
    RepresentationScheme SimpleDatasource StartDate StartTime StructureMap TargetCategoryID TargetCategorySchemeRef
    TargetCodelistRef TargetConceptID TargetConceptSchemeRef TargetHierarchicalCodelistRef TargetIdentifiers
    TargetKeyFamilyRef TargetMetadataStructureRef TargetObjectClass TargetOrganisationID TargetOrganisationSchemeRef
    TargetRef TargetStep TargetValues Test TextFormat TimeDimension ToTextFormat ToValueType Tolerance URN ValidFrom
    ValidTo ValidityPeriod Version WSDLUrl id
    """.split()  # noqa: SIM905 - a list would fill the screen
)
_BEFORE_21_IN: Final = {
    "AgencyID": "AgencyRef CategorySchemeRef CodelistRef ConceptSchemeRef DataflowRef HierarchicalCodelistRef "
    "KeyFamilyRef MetadaflowRef MetadataStructureRef MetadataflowRef MetadatataflowRef OrganisationSchemeRef "
    "TargetCategorySchemeRef TargetCodelistRef TargetConceptSchemeRef TargetHierarchicalCodelistRef "
    "TargetOrganisationSchemeRef",
    "CategoryID": "CategoryID CategoryMap CategoryRef TargetCategoryID",
    "CategorySchemeAgencyID": "CategoryRef",
    "CategorySchemeID": "CategoryRef CategorySchemeRef TargetCategorySchemeRef",
    "CategorySchemeRef": "CategorySchemeMap",
    "CodelistRef": "CodelistMap",
    "ComponentRef": "Member",
    "ConceptSchemeID": "ConceptSchemeRef TargetConceptSchemeRef",
    "ConceptSchemeRef": "ConceptSchemeMap",
    "DataProviderID": "DataProviderRef ProvisionAgreementRef",
    "DataProviderRef": "ProvisionAgreement",
    "DataflowID": "DataflowRef MetadataflowRef ProvisionAgreementRef",
    "DataflowRef": "ProvisionAgreement",
    "HierarchicalCodelistID": "HierarchicalCodelistRef TargetHierarchicalCodelistRef",
    "HierarchicalCodelistRef": "CodelistMap",
    "KeyFamilyID": "KeyFamilyRef TargetKeyFamilyRef",
    "KeyFamilyRef": "Dataflow StructureMap",
    "MetadataStructureID": "MetadataStructureRef TargetMetadataStructureRef",
    "MetadataStructureRef": "MetadataSet Metadataflow StructureMap",
    "MetadataflowID": "MetadaflowRef MetadataflowRef MetadatataflowRef",
    "MetadataflowRef": "ProvisionAgreement",
    "OrganisationSchemeID": "AgencyRef DataProviderRef OrganisationSchemeRef ProvisionAgreementRef "
    "TargetOrganisationSchemeRef",
    "OrganisationSchemeRef": "OrganisationSchemeMap",
    "Value": "MemberValue",
}
_CODELISTS: Final = frozenset({"Codelist", "CodeList"})
_BESIDE_CODES: Final = ("{*}Annotations", "{*}CodelistExtension", "{*}GridDefinition")
_MARKS: Final = ("{*}Code", "{*}Annotation")
_IN_CODES: Final = (
    "Ref", "URN", *(f"{{*}}{name}" for name in (
        "Parent", "GeoCell", "Annotations", "AnnotationTitle", "AnnotationType", "AnnotationURL", "AnnotationValue",
    )),
)  # fmt: skip
"""Elements that may occur only once somewhere in a code."""
_IN_ANNOTATIONS: Final = {"AnnotationTitle", "AnnotationType", "AnnotationURL", "AnnotationValue"}


class _Rules:
    """The elements that may occur only once, in the editions before 2.1 or in those since 2.1."""

    def __init__(self, anywhere: frozenset[str], within: dict[str, str]) -> None:
        self._anywhere = anywhere
        self._within = {name: frozenset(parents.split()) for name, parents in within.items()}

    def is_single(self, name: str, parent: str) -> bool:
        """Return True if an element of this name may occur only once in a parent of that name."""
        return name in self._anywhere or parent in self._within.get(name, ())


class _Place(Enum):
    """The place of an element: around the message, in it, or in a metadata set of 2.1."""

    AROUND = auto()
    MESSAGE = auto()
    SET = auto()


_RULES_SINCE_21: Final = _Rules(_SINCE_21, _SINCE_21_IN)
_RULES_BEFORE_21: Final = _Rules(_BEFORE_21, _BEFORE_21_IN)


def refuse_repeated_outside(
    root: etree._Element, artefacts: Iterable[etree._Element], names: Names, format_: Format, collector: ErrorCollector
) -> bool:
    """Reject a message with repeated elements; if errors are collected, only those outside its artefacts.

    Returns:
        True if an artefact has such elements, so that each artefact has to be checked before it is read.

    Raises:
        MessageError: an element is repeated where it may occur only once.
    """
    try:
        refuse_repeated(root, names, format_)
    except MessageError:
        if not collector.collects:
            raise
        refuse_repeated(root, names, format_, frozenset(artefacts))
        return True
    return False


def refuse_repeated(
    root: etree._Element, names: Names, format_: Format, apart: Collection[etree._Element] = ()
) -> None:
    """Raise MessageError if an element below is repeated where it may occur only once.

    Elements in ``apart`` are not searched, nor those of other namespaces, except for those around the message and those
    in metadata sets of 2.1, which have namespaces of their own. NotPlainError is raised for a document that was parsed
    by ``plain_xml`` and has elements of other namespaces.
    """
    rules = _RULES_BEFORE_21 if format_ in {Format.SDMX_ML_1_0, Format.SDMX_ML_2_0} else _RULES_SINCE_21
    if is_plain(root):
        _check_plain(root, names, rules)
        return
    level = [([root], _Place.AROUND if root.getparent() is None else _Place.MESSAGE)]
    while level:
        below: list[tuple[list[etree._Element], _Place]] = []
        for siblings, place in level:
            for sibling in siblings:
                if not len(sibling) or sibling in apart:
                    continue
                name = names[sibling.tag]
                if not name and place is _Place.MESSAGE:
                    continue
                # libxml2 creates an element on each access, so long codelists are checked in another way.
                if name in _CODELISTS and not _may_repeat(sibling, names, rules):
                    children = list(sibling.iterchildren(*_BESIDE_CODES))
                else:
                    children = list(sibling)
                if len(children) > 1 and len({child.tag for child in children}) < len(children):
                    _check_children(sibling, children, names, rules)
                below.append((children, _place_in(sibling, name, place)))
        level = below


def _place_in(element: etree._Element, name: str, place: _Place) -> _Place:
    """Return the place of the children of an element, given its own place."""
    if name == "MetadataSet" and not is_of_3(element):
        return _Place.SET
    # Elements without a namespace belong to those around them.
    return _Place.MESSAGE if place is _Place.AROUND and name and element.tag[0] == "{" else place


def _check_plain(root: etree._Element, names: Names, rules: _Rules) -> None:
    parents = [root]
    found: set[str] = set()
    for parent in parents:
        tags = {child.tag for child in parent}
        if len(tags) < len(parent):
            _check_children(parent, parent, names, rules)
        found |= tags
        parents += [child for child in parent if child]
    if not all(map(names.__getitem__, found)):
        raise NotPlainError("an element of another namespace")


def _check_children(parent: etree._Element, children: Iterable[etree._Element], names: Names, rules: _Rules) -> None:
    above = names[parent.tag]
    if above == "AttributeSet":
        return  # in structure-specific metadata sets, its children have the ids of any attributes
    seen: set[str] = set()
    for child in children:
        name = names[child.tag]
        if above and name in seen and rules.is_single(name, above):
            fail(child, f"it is duplicated in <{above}>, so its meaning is ambiguous")
        seen.add(name)


def _may_repeat(codelist: etree._Element, names: Names, rules: _Rules) -> bool:
    """Return whether codes of a list may have repeated elements: libxml2 finds the relevant ones, in document order."""
    if next(codelist.iter(*_IN_CODES), None) is None:
        return False
    seen: set[str] = set()
    for element in codelist.iter(*_MARKS, *_IN_CODES):
        name = names[element.tag]
        if name == "Code":
            if element.getparent() is not codelist:
                return True
            seen = set()
        elif name == "Annotation":
            seen -= _IN_ANNOTATIONS
        elif name in seen and (parent := element.getparent()) is not None:
            # The annotations of the list itself may follow the last code.
            is_own = parent is codelist and name == "Annotations"
            if not is_own and rules.is_single(name, names[parent.tag]):
                return True
        seen.add(name)
    return False
