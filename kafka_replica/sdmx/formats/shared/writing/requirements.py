"""The schema rules of a format that writing alone would not reveal: required and unsupported parts of an artefact.

Thus an artefact from a valid message of one format is either valid in another format, or refused. An artefact that no
schema allows, such as one without a name, is written as it is.

Source: the schemas of structure messages of SDMX-ML 2.0, 2.1, 3.0 and 3.1, and of SDMX-JSON 1.0, 2.0 and 2.1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from kafka_replica.sdmx.containers import Items, stored_items, stored_parts
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION, FIXED_IDS
from kafka_replica.sdmx.formats.shared.writing import constraint_requirements as constraints
from kafka_replica.sdmx.formats.shared.writing.unique_parts import repeated
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model import (
    Artefact,
    Categorisation,
    DataStructure,
    GeoGridCodelist,
    HierarchicalCodelist,
    Hierarchy,
    HierarchyAssociation,
    HierarchyOfCodelist,
    ItemSchemeMap,
    Metadataflow,
    MetadataProvisionAgreement,
    MetadataSet,
    ProvisionAgreement,
    ReportedAttribute,
    ReportingCategory,
    ReportingTaxonomy,
    RepresentationMap,
    StructureMap,
    StructureSet,
    ValueList,
    VtlDefinitionScheme,
)

ML_3: Final = frozenset({Format.SDMX_ML_3_0, Format.SDMX_ML_3_1})
JSON_2: Final = frozenset({Format.SDMX_JSON_2_0, Format.SDMX_JSON_2_1})
_ML_21: Final = frozenset({Format.SDMX_ML_2_1})
_JSON_1: Final = frozenset({Format.SDMX_JSON_1_0})
_OLD_ML: Final = frozenset({Format.SDMX_ML_1_0, Format.SDMX_ML_2_0})
_HAS_ITEMS: Final = frozenset({"ValueList", "Hierarchy", "HierarchicalCodelist", "Process"})
_UNVERSIONED: Final = frozenset({*FIXED_IDS, "OrganisationUnitScheme"})


def check(artefact: Artefact, format_: Format) -> None:
    """Raise UnwritableError if the schema of a format requires a part that is missing, or forbids one."""
    for formats, reason_of in _RULES:
        reason = reason_of(artefact) if format_ in formats else None
        if reason is not None:
            raise UnwritableError(f"{format_.title} {reason}")
    once = repeated(artefact, format_)
    if once is not None:
        raise UnwritableError(f"{format_.title} has a place for {once}")


def _version(artefact: Artefact) -> str | None:
    if artefact.urn.cls not in _UNVERSIONED or artefact.version == DEFAULT_VERSION:
        return None
    version = f"the version {artefact.version} of schemes of organisations, which is always {DEFAULT_VERSION}"
    return f"cannot represent {version}"


def _fixed_id(artefact: Artefact) -> str | None:
    known = FIXED_IDS.get(artefact.urn.cls)
    return None if known in {None, artefact.id} else f"cannot represent an id of this scheme other than {known}"


def _fixed_version_21(artefact: Artefact) -> str | None:
    return _version(artefact) if artefact.urn.cls in FIXED_IDS else None


def _final(artefact: Artefact) -> str | None:
    is_wrong = artefact.is_final and artefact.urn.cls in FIXED_IDS
    return "cannot represent the mark final of a scheme of organisations" if is_wrong else None


def _version_of_categorisation(artefact: Artefact) -> str | None:
    is_wrong = isinstance(artefact, Categorisation) and artefact.version != DEFAULT_VERSION
    return f"cannot represent the version {artefact.version} of a categorisation" if is_wrong else None


_NUMBER: Final = "(?:0|[1-9][0-9]*)"
_LABEL: Final = rf"(?:{_NUMBER}|[0-9]*[a-zA-Z\-][0-9a-zA-Z\-]*)"
_is_semantic = re.compile(rf"{_NUMBER}(?:\.{_NUMBER}){{2}}(?:-{_LABEL}(?:\.{_LABEL})*)?").fullmatch


def _version_of_set(artefact: Artefact) -> str | None:
    if artefact.urn.cls != "MetadataSet" or artefact.version == DEFAULT_VERSION or _is_semantic(artefact.version):
        return None
    return f"cannot represent the version {artefact.version} of a metadata set, which has three numbers"


def _subject_of_set(artefact: Artefact) -> str | None:
    if not isinstance(artefact, MetadataSet) or artefact.metadataflow or artefact.metadata_provision_agreement:
        return None
    return "demands the metadataflow or the metadata provision agreement of a metadata set, also of a stub"


def _kinds_of_values(artefact: Artefact) -> str | None:
    for each in _reported(artefact):
        kinds = (each.values, each.texts.texts, each.structured_texts.texts)
        if sum(map(bool, kinds)) > 1:
            return f"has either values, texts or structured texts of the attribute {each.id}"
    return None


def _several_values(artefact: Artefact) -> str | None:
    found = next((each for each in _reported(artefact) if len(each.values) > 1), None)
    return None if found is None else f"cannot represent several values of the attribute {found.id}"


def _reported(artefact: Artefact) -> Iterator[ReportedAttribute]:
    if isinstance(artefact, MetadataSet):
        pending = list(stored_parts(artefact.attributes))
        while pending:
            attribute = pending.pop()
            yield attribute
            pending += attribute.attributes


def _partial(artefact: Artefact) -> str | None:
    is_scheme = hasattr(type(artefact), "items_field") and artefact.urn.cls not in _HAS_ITEMS
    is_wrong = artefact.is_partial and (not is_scheme or isinstance(artefact, ValueList))
    return f"cannot represent the mark that a {artefact.urn.cls} is partial" if is_wrong else None


def _partial_language(artefact: Artefact) -> str | None:
    return "cannot represent the mark that languages are left out" if artefact.is_partial_language else None


def _vtl_version(artefact: Artefact) -> str | None:
    is_wrong = isinstance(artefact, VtlDefinitionScheme) and artefact.vtl_version is None
    return "demands the version of VTL" if is_wrong else None


def _needs(kind: type[Artefact] | tuple[type[Artefact], ...], *fields: str) -> Callable[[Artefact], str | None]:
    """Return a rule: an artefact of a class must have these fields to be written in this format."""

    def reason_of(artefact: Artefact) -> str | None:
        if not isinstance(artefact, kind):
            return None
        missing = [field.replace("_", " ") for field in fields if not _has(getattr(artefact, field))]
        return f"demands the {' and the '.join(missing)} of a {artefact.urn.cls}" if missing else None

    return reason_of


def _has(value: Any) -> bool:
    return value is not None and not (isinstance(value, Items) and value.is_stub) and value not in ((), "")


def _both_or_none(artefact: Artefact) -> str | None:
    if not isinstance(artefact, Categorisation) or (artefact.source is None) is (artefact.target is None):
        return None
    return "demands both source and target of a categorisation, or neither"


def _measure(artefact: Artefact) -> str | None:
    if not isinstance(artefact, DataStructure) or not _has_components(artefact):
        return None
    return None if artefact.measures else "demands a measure of a data structure"


def _has_components(data_structure: DataStructure) -> bool:
    """Return True if the structure has any content; every schema allows a structure without components."""
    lists = (data_structure.dimension_list, data_structure.attributes, data_structure.measures, data_structure.groups)
    return any(not found.is_stub and found for found in lists)


_MAPPED: Final = {
    "CodelistMap": {"Codelist"},
    "HybridCodelistMap": {"Codelist", "HierarchicalCodelist"},
    "ConceptSchemeMap": {"ConceptScheme"},
    "CategorySchemeMap": {"CategoryScheme"},
    "OrganisationSchemeMap": {*FIXED_IDS, "OrganisationUnitScheme"},
    "ReportingTaxonomyMap": {"ReportingTaxonomy"},
}


def _mapped_schemes(artefact: Artefact) -> str | None:
    if not isinstance(artefact, StructureSet):
        return None
    for each in stored_parts(artefact.scheme_maps):
        for end in (each.source, each.target):
            if end is not None and end.cls not in _MAPPED.get(each.urn.cls, {end.cls}):
                return f"cannot represent {end} in a {each.urn.cls}"
    return None


def _dimensions(artefact: Artefact) -> str | None:
    is_wrong = isinstance(artefact, DataStructure) and _has_components(artefact) and not artefact.dimension_list
    return "demands a dimension of a data structure" if is_wrong else None


def _time_alone(artefact: Artefact) -> str | None:
    if not isinstance(artefact, DataStructure) or artefact.dimension_list.is_stub or not artefact.dimension_list:
        return None
    is_wrong = all(each.is_time for each in artefact.dimension_list.values())
    return "demands a dimension in addition to the time dimension of a data structure" if is_wrong else None


def _codelists(artefact: Artefact) -> str | None:
    if not isinstance(artefact, DataStructure) or artefact.dimension_list.is_stub:
        return None
    found = [each.representation for each in artefact.dimension_list.values() if not each.is_time]
    is_wrong = any(each is None or each.enumeration is None for each in found)
    return "demands a codelist of each dimension" if is_wrong else None


def _codes(artefact: Artefact) -> str | None:
    is_wrong = isinstance(artefact, Hierarchy) and (artefact.codes.is_stub or not artefact.codes)
    return "demands a code of a hierarchy" if is_wrong else None


def _codes_of_hierarchies(artefact: Artefact) -> str | None:
    empty = next((each for each in _hierarchies(artefact) if not each.codes), None)
    return None if empty is None else f"demands a code of each hierarchy, and {empty.id} has none"


_is_number = re.compile(r"[0-9]+(?:\.[0-9]+)*").fullmatch


def _versions_of_codes(artefact: Artefact) -> str | None:
    for each in _hierarchies(artefact):
        for code in each.walk():
            if code.version is not None and not _is_number(code.version):
                return f"cannot represent the version {code.version[:40]!r} of the code {code.id} in a hierarchy"
    return None


def _hierarchies(artefact: Artefact) -> Iterable[HierarchyOfCodelist]:
    return stored_items(artefact.hierarchies) if isinstance(artefact, HierarchicalCodelist) else ()


def _reporting_category(artefact: Artefact) -> str | None:
    if not isinstance(artefact, ReportingTaxonomy) or artefact.reporting_categories.is_stub:
        return None
    mixed = any(
        each.structural_metadata and each.provisioning_metadata for each in _walk(artefact.reporting_categories)
    )
    return "cannot represent structures beside flows in a reporting category" if mixed else None


def _walk(found: Items[ReportingCategory]) -> Iterator[ReportingCategory]:
    for value in found.values():
        yield value
        yield from _walk(value.reporting_categories)


_RULES: Final[tuple[tuple[frozenset[Format], Callable[[Artefact], str | None]], ...]] = (
    (ML_3 | JSON_2 | _ML_21, _fixed_id),
    (ML_3 | JSON_2, _version),
    (_ML_21, _fixed_version_21),
    (_ML_21, _final),
    (frozenset({Format.SDMX_ML_3_1}), _version_of_categorisation),
    (JSON_2, _version_of_set),
    (ML_3, _subject_of_set),
    (ML_3 | JSON_2, _kinds_of_values),
    (JSON_2 | {Format.SDMX_ML_3_1}, _several_values),
    (ML_3 | JSON_2 | _ML_21 | _JSON_1, _partial),
    (frozenset(Format) - {Format.SDMX_ML_3_1, Format.SDMX_JSON_2_1}, _partial_language),
    (ML_3 | _ML_21, _vtl_version),
    (ML_3 | _ML_21, _both_or_none),
    (ML_3, _needs(HierarchyAssociation, "linked_hierarchy", "linked_object")),
    (ML_3, _needs(MetadataProvisionAgreement, "metadataflow", "metadata_provider")),
    (ML_3, _needs(Metadataflow, "targets")),
    (ML_3, _needs((ItemSchemeMap, StructureMap), "source", "target")),
    (ML_3, _needs(RepresentationMap, "sources", "targets")),
    (ML_3, _needs(GeoGridCodelist, "grid_definition")),
    (ML_3, _codes),
    (_ML_21 | _JSON_1, _codes_of_hierarchies),
    (_ML_21 | _JSON_1, _versions_of_codes),
    (_ML_21, constraints.attached_to(constraints.KINDS_21)),
    (frozenset({Format.SDMX_ML_3_0}), constraints.attached_to(constraints.KINDS_30)),
    (frozenset({Format.SDMX_ML_3_1, Format.SDMX_JSON_2_1}), constraints.attached_to(constraints.KINDS_31)),
    (ML_3, constraints.annotated_target_regions),
    (ML_3, constraints.values_of_keys),
    (ML_3 | JSON_2, constraints.dated_keys),
    (ML_3 | {Format.SDMX_JSON_2_1}, constraints.dated_regions),
    (ML_3 | {Format.SDMX_JSON_2_1}, constraints.dated_selections),
    (ML_3, _reporting_category),
    (ML_3 | _ML_21 | _JSON_1, _needs(ProvisionAgreement, "structure_usage", "data_provider")),
    (_ML_21 | _JSON_1, _measure),
    (_ML_21, _mapped_schemes),
    (_OLD_ML, _measure),
    (ML_3 | _ML_21 | _OLD_ML, _dimensions),
    (ML_3, _time_alone),
    (frozenset({Format.SDMX_ML_1_0}), _codelists),
)
