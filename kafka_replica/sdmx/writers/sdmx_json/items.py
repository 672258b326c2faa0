"""Codelists, value lists and concept schemes as SDMX-JSON."""

from __future__ import annotations

from typing import Any, Final

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.model import (
    Code,
    Codelist,
    CodelistExtension,
    Concept,
    ConceptScheme,
    GeoFeatureSetCode,
    GeoGridCode,
    GeoGridCodelist,
    MemberValue,
    ValueItem,
    ValueList,
)
from kafka_replica.sdmx.representation import ItemReference
from kafka_replica.sdmx.urn import Urn
from kafka_replica.sdmx.writers.json_parts import Json, obj, urn
from kafka_replica.sdmx.writers.sdmx_json.values import (
    Edition,
    annotations_of,
    maintained,
    named,
    representation,
    texts,
)

_CODES: Final = {"GeographicCodelist": "geoFeatureSetCodes", "GeoGridCodelist": "geoGridCodes"}


def items_of(found: Any) -> list[Any]:
    """Return the items, or none for a stub."""
    return [] if found.is_stub else list(found.values())


def codelist(one: Codelist, edition: Edition) -> Json:
    """Write a codelist of any kind."""
    edition.since_2(one.extensions, "codelists that extend others")
    found = maintained(one, edition)
    found |= obj({_CODES.get(one.urn.cls, "codes"): [_code(each, edition) for each in items_of(one.codes)]})
    found |= obj(codelistExtensions=[_extension(each) for each in one.extensions])
    if isinstance(one, GeoGridCodelist):
        found |= obj(gridDefinition=one.grid_definition)
    if one.urn.cls in _CODES:
        found["geoType"] = one.urn.cls
    return found


def _code(one: Code, edition: Edition) -> Json:
    found = named(one, edition)
    if one.parent is not None:
        found["parent"] = one.parent
    if isinstance(one, GeoFeatureSetCode) and one.value is not None:
        found["value"] = one.value
    if isinstance(one, GeoGridCode) and one.geo_cell is not None:
        found["geoCell"] = one.geo_cell
    return found


def _extension(one: CodelistExtension) -> Json:
    return obj(
        codelist=urn(one.codelist),
        prefix=one.prefix,
        inclusiveCodeSelection=_selection(one.inclusive),
        exclusiveCodeSelection=_selection(one.exclusive),
    )


def _selection(members: tuple[MemberValue, ...]) -> Json | None:
    if not members:
        return None
    wild = [one.value for one in members if "%" in one.value and one.cascade_values is None]
    plain = [_member(one) for one in members if "%" not in one.value or one.cascade_values is not None]
    return obj(wildcardedMemberValues=wild, memberValues=plain)


def _member(one: MemberValue) -> Json:
    if "%" in one.value:
        raise UnwritableError("SDMX-JSON has no place for a pattern of codes that takes their children too")
    cascade = {"true": True, "false": False}.get(one.cascade_values or "", one.cascade_values)
    return obj(value=one.value, cascadeValues=cascade)


def value_list(one: ValueList, edition: Edition) -> Json:
    """Write a value list (2.x)."""
    return obj(maintained(one, edition), valueItems=[_value(each, edition) for each in one.value_items])


def _value(one: ValueItem, edition: Edition) -> Json:
    names = texts("name", "names", one.names) | texts("description", "descriptions", one.descriptions)
    return obj({"id": one.id}, names, annotations=annotations_of(one.annotations, edition))


def concept_scheme(one: ConceptScheme, edition: Edition) -> Json:
    """Write a concept scheme."""
    found = [_concept(one.urn, each, edition) for each in items_of(one.concepts)]
    return obj(maintained(one, edition), concepts=found)


def local(scheme: Urn, class_: str, id_: str | None, edition: Edition) -> str | None:
    """Write a reference within an artefact: a URN in 1.0, otherwise an id."""
    return str(scheme.with_item(class_, id_)) if edition.is_10 and id_ is not None else id_


def _concept(scheme: Urn, one: Concept, edition: Edition) -> Json:
    return obj(
        named(one, edition),
        parent=local(scheme, "Concept", one.parent, edition),
        coreRepresentation=representation(one.core_representation, edition),
        isoConceptReference=_iso_concept(one.iso_concept, edition),
    )


def _iso_concept(one: ItemReference | None, edition: Edition) -> Json | str | None:
    if one is None:
        return None
    if edition.is_10:
        raise UnwritableError("SDMX-JSON 1.0 has no place for a concept of ISO 11179 without a version")
    return {"conceptAgency": one.agency, "conceptSchemeID": one.scheme, "conceptID": one.id}
