"""The URNs that a format can represent: those of artefacts and items, and those in their references.

Source: SDMXCommonReferences.xsd of SDMX-ML 2.1, 3.0 and 3.1; the patterns of URNs in the schemas of SDMX-JSON 2.x;
IDType in SDMXCommon.xsd of 2.0, and the attributes in SDMXStructure.xsd of 1.0.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from kafka_replica.sdmx.containers import StubTuple, stored_parts
from kafka_replica.sdmx.errors import UnwritableError, UrnError
from kafka_replica.sdmx.formats.shared.reading.identity import FIXED_IDS
from kafka_replica.sdmx.formats.shared.writing.rewriting import Change
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model.base import Link
from kafka_replica.sdmx.model.representation import Representation
from kafka_replica.sdmx.urns.classes import CLASSES
from kafka_replica.sdmx.urns.urn import Urn, own_id

SINCE_3: Final = frozenset({Format.SDMX_ML_3_0, Format.SDMX_ML_3_1, Format.SDMX_JSON_2_0, Format.SDMX_JSON_2_1})
SINCE_2_1: Final = SINCE_3 | {Format.SDMX_ML_2_1, Format.SDMX_JSON_1_0}
WITHOUT_URN: Final = {
    Format.SDMX_JSON_2_0: ("ValueList", "GeographicCodelist", "GeoGridCodelist", "MetadataSet"),
    Format.SDMX_JSON_2_1: ("GeographicCodelist", "GeoGridCodelist", "MetadataSet"),
}
"""The classes whose URNs match none of the patterns in the schemas of an edition."""
_WITHOUT_DOTS: Final = frozenset({Format.SDMX_ML_2_1, Format.SDMX_JSON_2_0, Format.SDMX_JSON_2_1})
"""The formats whose schemas forbid dots where a reference must name a code or concept."""

_is_id = re.compile(r"[A-Za-z0-9_@$\-]+", re.ASCII).fullmatch
_is_name = re.compile(r"[A-Za-z][A-Za-z0-9_\-]*", re.ASCII).fullmatch
_is_agency = re.compile(r"[A-Za-z][A-Za-z0-9_\-]*(?:\.[A-Za-z][A-Za-z0-9_\-]*)*", re.ASCII).fullmatch
_is_id_of_2_0 = re.compile(r"[A-Za-z0-9_@$\-*]*", re.ASCII).fullmatch
_is_token = re.compile(r"[A-Za-z0-9_\-.:]+", re.ASCII).fullmatch
_is_name_of_xml = re.compile(r"[A-Za-z_][A-Za-z0-9_\-.]*", re.ASCII).fullmatch
_NAMED_1_0: Final = frozenset({"Agency", "Codelist", "Concept", "DataStructure"})
_is_version_2 = re.compile(r"[0-9]+(?:\.[0-9]+)*", re.ASCII).fullmatch
_NUMBER: Final = r"(?:0|[1-9][0-9]*)"
_is_version_3 = re.compile(rf"{_NUMBER}(?:\.{_NUMBER})?|{_NUMBER}(?:\.{_NUMBER}){{2}}(?:-[0-9A-Za-z.\-]+)?").fullmatch
_is_rule_3 = re.compile(rf"(?:{_NUMBER}\+?\.){{2}}{_NUMBER}\+?").fullmatch
_NAMED: Final = frozenset({
    "Agency", "CategoryScheme", "Codelist", "Concept", "ConceptScheme", "ConstraintTarget", "DataAttribute",
    "DataSetTarget", "Dimension", "DimensionDescriptorValuesTarget", "GeoGridCodelist", "GeographicCodelist",
    "IdentifiableObjectTarget", "Measure", "MeasureDimension", "MetadataAttribute", "PrimaryMeasure",
    "ReportPeriodTarget", "TimeDimension",
})  # fmt: skip
"""Classes whose ids begin with a letter."""
_FIXED_COMPONENTS: Final = {"TimeDimension": "TIME_PERIOD", "PrimaryMeasure": "OBS_VALUE"}
_FIXED_SCHEMES: Final = FIXED_IDS | {scheme.removesuffix("Scheme"): id_ for scheme, id_ in FIXED_IDS.items()}
_OTHERWISE_IN_2_1: Final = frozenset({
    "Measure", "MetadataAttributeDescriptor", "VtlCodelistMapping", "VtlConceptMapping", "VtlDataflowMapping",
})  # fmt: skip
"""Classes that a <Ref> of 2.1 cannot name."""
_UNTIL_2_1: Final = frozenset({
    "AttachmentConstraint", "CategoryMap", "CodeMap", "CodelistMap", "ConceptMap", "ConstraintTarget",
    "ContentConstraint", "CrossSectionalMeasure", "DataSetTarget", "DimensionDescriptorValuesTarget",
    "HierarchicalCodelist", "HybridCodeMap", "HybridCodelistMap", "IdentifiableObjectTarget", "MeasureDimension",
    "MetadataTarget", "OrganisationMap", "PrimaryMeasure", "ReportPeriodTarget", "ReportStructure",
    "ReportingCategoryMap", "ReportingYearStartDay", "StructureSet",
})  # fmt: skip
_NO_URN_3: Final = frozenset({
    "GeoFeatureSetCode", "GeoGridCode", "GeoGridCodelist", "GeographicCodelist", "MetadataAttributeDescriptor",
    "Registration",
})  # fmt: skip
"""Classes that the patterns of URNs in the schemas of 3.x leave out."""


def check_identity(format_: Format) -> Change:
    """Return a check of an object's identity: its agency, version and id. The check changes nothing."""
    is_version = _is_version_3 if format_ in SINCE_3 else _is_version_2
    fixed = {} if format_ is Format.SDMX_JSON_1_0 else _FIXED_COMPONENTS

    def checked(urn: Urn, _: Any) -> Urn:
        own = own_id(urn)
        if not _is_id(own) or (urn.cls in _NAMED and not _is_name(own)):
            raise UnwritableError(f"the format cannot represent the id {own!r} of a {urn.cls}")
        if fixed.get(urn.cls, own) != own:
            raise UnwritableError(f"the format cannot represent an id of a {urn.cls} other than {fixed[urn.cls]}")
        if urn.item is None and not (_is_agency(urn.agency) and is_version(urn.version)):
            raise UnwritableError(f"the format cannot represent the agency or the version of {urn}")
        return urn

    return checked


def _check_earlier(format_: Format) -> Change:
    """Return a check of ids, agencies and references in formats before 2.1. The check changes nothing."""
    is_10 = format_ is Format.SDMX_ML_1_0
    is_id = _is_token if is_10 else _is_id_of_2_0

    def check(urn: Urn) -> None:
        own = own_id(urn)
        if not (is_id(urn.id) and is_id(urn.agency)):
            raise UnwritableError(f"the format cannot represent the id or the agency of {urn}")
        if not is_id(own) or (is_10 and urn.cls in _NAMED_1_0 and not _is_name_of_xml(own)):
            raise UnwritableError(f"the format cannot represent the id {own!r} of a {urn.cls}")

    return _of_each_urn(check)


def check_references(format_: Format, *classes: str) -> Change:
    """Return a check of references: their classes, ids and versions. The check changes nothing."""
    since_3 = format_ in SINCE_3
    is_plain = format_ in _WITHOUT_DOTS
    absent = _UNTIL_2_1 | _NO_URN_3 if since_3 else _OTHERWISE_IN_2_1
    is_version = _is_version_2 if not since_3 else lambda text: _is_version_3(text) or _is_rule_3(text)

    def check(urn: Urn) -> None:
        if classes:
            _check_class(urn, classes)
            if is_plain and urn.cls in {"Code", "Concept"} and not _is_id(urn.item or ""):
                raise UnwritableError(f"the format cannot represent the id {urn.item!r} in a reference to a {urn.cls}")
        known = CLASSES.get(urn.cls)
        if since_3 and (known is None or urn.package not in {known.package, known.item_package}):
            raise UnwritableError(f"the format cannot represent a reference to {urn}, which is not of an SDMX class")
        if urn.cls in absent:
            raise UnwritableError(f"the format cannot represent a reference to {urn}")
        if not (_is_agency(urn.agency) and is_version(urn.version)):
            raise UnwritableError(f"the format cannot represent the agency or the version of {urn}")
        if since_3 and _FIXED_SCHEMES.get(urn.cls, urn.id) != urn.id:
            raise UnwritableError(f"the format cannot represent a scheme other than {_FIXED_SCHEMES[urn.cls]} in {urn}")

    return _of_each_urn(check)


def _of_each_urn(check: Callable[[Urn], None]) -> Change:
    """Return a change that checks a URN, or each URN of several parts, and changes nothing."""

    def checked(found: Any, _: Any) -> Any:
        for stored_part in stored_parts(found) if isinstance(found, tuple) else (found,):
            if isinstance(stored_part, Urn):
                check(stored_part)
        return found

    return checked


def _check_class(urn: Urn, classes: tuple[str, ...]) -> None:
    """Raise UnwritableError for a URN of another class, or of a metadata structure with an item, which 2.0 can contain.

    Other artefacts may have an item: the schemas of SDMX-JSON accept this, and such files exist.
    """
    if urn.cls not in classes:
        raise UnwritableError(f"the format has a place for a {' or '.join(classes)} where it refers to {urn}")
    if urn.item is not None and urn.cls == "MetadataStructure":
        raise UnwritableError(
            f"the reference to {urn} names the item {urn.item!r}, where the format has a place for a {urn.cls} alone "
            "(remove the item from the reference to use this format)"
        )


def with_address(links: tuple[Link, ...], _: Any) -> tuple[Link, ...]:
    """Return the links that SDMX-ML 3.x can represent: those with an address."""
    return (
        links if all(link.url is not None for link in links) else tuple(link for link in links if link.url is not None)
    )


def with_target(links: tuple[Link, ...], _: Any) -> tuple[Link, ...]:
    """Return the links that SDMX-JSON can represent: those with an address or a URN."""
    kept = tuple(link for link in links if link.url is not None or link.urn is not None)
    return links if len(kept) == len(links) else kept


def with_known_urns(links: tuple[Link, ...], _: Any) -> tuple[Link, ...]:
    """Return the links that SDMX-JSON 2.x can represent: with an address or an allowed URN; other URNs are dropped."""
    if not links:  # as in most codes, which are many
        return links
    if all(_is_urn_3(link.urn) for link in links):
        return with_target(links, None)
    return with_target(tuple(link if _is_urn_3(link.urn) else replace(link, urn=None) for link in links), None)


def _is_urn_3(text: str | None) -> bool:
    if text is None:
        return True
    try:
        urn = Urn.parse(text)
        check_references(Format.SDMX_JSON_2_0)(urn, None)
    except (UrnError, UnwritableError):
        return False
    return urn.cls != "MetadataSet"


def _once(found: tuple[Any, ...], _: Any) -> tuple[Any, ...]:
    """Remove duplicates: SDMX-JSON 2.x demands unique parts, and a repeated part has no further meaning."""
    if isinstance(found, StubTuple):
        return found
    kept = tuple(dict.fromkeys(found))
    return found if len(kept) == len(found) else kept


def changes_of(format_: Format) -> dict[str, Change]:
    """Return the checks of all URNs in an artefact, by field, and the changes of links."""
    if format_ in {Format.SDMX_ML_1_0, Format.SDMX_ML_2_0}:
        references = {field: _checked_reference(_check_earlier(format_), field) for field in (*_TO_ANYTHING, *_CLASSES)}
        return {"Identifiable.urn": _check_earlier(format_), **references}
    if format_ not in SINCE_2_1:
        return {}
    found = {"Identifiable.urn": check_identity(format_)}
    if format_ is Format.SDMX_JSON_1_0:  # its references may be any addresses
        return found | {"links": with_target}
    general = {field: check_references(format_) for field in _TO_ANYTHING}
    if format_ in {Format.SDMX_ML_3_0, Format.SDMX_ML_3_1}:
        general["links"] = with_address
    elif format_ in SINCE_3:
        general["links"] = with_known_urns
        general |= dict.fromkeys(_SETS, _once)
    found |= general | {field: _checked(format_, field, classes) for field, classes in _CLASSES.items()}
    return found


def _checked(format_: Format, field: str, classes: str) -> Change:
    check = check_references(format_, *classes.split())
    if format_ in {Format.SDMX_JSON_2_0, Format.SDMX_JSON_2_1} and field in _SETS_OF_REFERENCES:
        return lambda found, owner: check(_once(found, owner), owner)
    return _checked_reference(check, field)


def _checked_reference(check: Change, field: str) -> Change:
    if not field.endswith("representation"):
        return check

    def unchanged(found: Representation | None, owner: Any) -> Representation | None:
        check(None if found is None else found.enumeration, owner)
        return found

    return unchanged


_TO_ANYTHING: Final = ("Categorisation.source", "InputOutput.object_reference", "HierarchyAssociation.linked_object",
                       "HierarchyAssociation.context_object", "VtlMapping.mapped", "Representation.enumeration",
                       "MemberSelection.objects")  # fmt: skip
_SETS_OF_REFERENCES: Final = (
    "Component.concept_roles", "ConstraintAttachment.references", "ReportingCategory.provisioning_metadata",
    "ReportingCategory.structural_metadata", "VtlDefinitionScheme.ruleset_schemes",
    "TransformationScheme.user_defined_operator_schemes",
)  # fmt: skip
_SETS: Final = (
    "AttributeRelationship.dimensions", "AttributeRelationship.measures", "CodelistExtension.exclusive",
    "CodelistExtension.inclusive", "ConstraintAttachment.simple_data_sources", "Group.dimensions",
    "MetadataProvisionAgreement.targets", "Metadataflow.targets", "VtlMethod.space_keys",
)  # fmt: skip
_CLASSES: Final = {
    "CategorySchemeMap.source": "CategoryScheme",
    "CategorySchemeMap.target": "CategoryScheme",
    "Categorisation.target": "Category",
    "CodelistExtension.codelist": "Codelist GeographicCodelist GeoGridCodelist",
    "Component.concept": "Concept",
    "Component.concept_roles": "Concept",
    "ComponentMap.representation_map": "RepresentationMap",
    "Concept.core_representation": "Codelist ValueList",
    "ConceptSchemeMap.source": "ConceptScheme",
    "ConceptSchemeMap.target": "ConceptScheme",
    "ConstraintAttachment.references": "DataProvider DataStructure Dataflow MetadataProvider MetadataSet "
    "MetadataStructure Metadataflow MetadataProvisionAgreement ProvisionAgreement",
    "DataStructure.metadata": "MetadataStructure",
    "Dataflow.structure_reference": "DataStructure",
    "Group.attachment_constraint": "AttachmentConstraint",
    "HierarchicalCode.code": "Code",
    "HierarchyAssociation.linked_hierarchy": "Hierarchy",
    "IncludedCodelist.codelist": "Codelist",
    "MetadataProvisionAgreement.metadata_provider": "MetadataProvider",
    "MetadataProvisionAgreement.metadataflow": "Metadataflow",
    "MetadataSet.metadata_provision_agreement": "MetadataProvisionAgreement",
    "MetadataSet.metadataflow": "Metadataflow",
    "Metadataflow.structure_reference": "MetadataStructure",
    "OrganisationSchemeMap.source": " ".join((*FIXED_IDS, "OrganisationUnitScheme")),
    "OrganisationSchemeMap.target": " ".join((*FIXED_IDS, "OrganisationUnitScheme")),
    "ProvisionAgreement.data_provider": "DataProvider",
    "ProvisionAgreement.structure_usage": "Dataflow Metadataflow",
    "Registration.provision_agreement": "ProvisionAgreement",
    "ReportingCategory.provisioning_metadata": "Dataflow Metadataflow",
    "ReportingCategory.structural_metadata": "DataStructure MetadataStructure",
    "ReportingTaxonomyMap.source": "ReportingTaxonomy",
    "ReportingTaxonomyMap.target": "ReportingTaxonomy",
    "RepresentationMap.sources": "Codelist ValueList",
    "RepresentationMap.targets": "Codelist ValueList",
    "SetReference.provider": "DataProvider",
    "StructureMap.source": "DataStructure Dataflow MetadataStructure Metadataflow",
    "StructureMap.target": "DataStructure Dataflow MetadataStructure Metadataflow",
    "StructureMapInSet.source": "DataStructure Dataflow MetadataStructure Metadataflow",
    "StructureMapInSet.target": "DataStructure Dataflow MetadataStructure Metadataflow",
    "StructureSet.related_structures": "DataStructure Dataflow MetadataStructure Metadataflow ConceptScheme Codelist "
    "CategoryScheme HierarchicalCodelist OrganisationUnitScheme ReportingTaxonomy",
    "TransformationScheme.custom_type_scheme": "CustomTypeScheme",
    "TransformationScheme.name_personalisation_scheme": "NamePersonalisationScheme",
    "TransformationScheme.user_defined_operator_schemes": "UserDefinedOperatorScheme",
    "VtlDefinitionScheme.ruleset_schemes": "RulesetScheme",
    "VtlDefinitionScheme.vtl_mapping_scheme": "VtlMappingScheme",
}
"""The classes that a field refers to, in the schemas of all editions since 2.1."""
