"""Codelists, value lists, concept schemes and organisation schemes as SDMX-ML."""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx.model import (
    Code,
    Codelist,
    CodelistExtension,
    Concept,
    ConceptScheme,
    Contact,
    GeoFeatureSetCode,
    GeoGridCode,
    GeoGridCodelist,
    MemberValue,
    Organisation,
    OrganisationScheme,
    OrganisationUnit,
    ValueItem,
    ValueList,
)
from kafka_replica.sdmx.representation import ItemReference
from kafka_replica.sdmx.writers.ml.edition import Edition
from kafka_replica.sdmx.writers.ml.values import annotated, annotations_of, artefact, item, representation, texts
from kafka_replica.sdmx.writers.ml.xml import attribute, el, leaf, text

_GEO: Final = {"GeographicCodelist", "GeoGridCodelist"}


def codelist(one: Codelist, edition: Edition) -> str:
    """Write a <Codelist>, <GeographicCodelist> or <GeoGridCodelist>."""
    edition.since_3(one.extensions, "codelists that extend others")
    codes = [] if one.codes.is_stub else _codes(one, edition)
    content = [*codes, *[_extension(each, edition) for each in one.extensions]]
    if isinstance(one, GeoGridCodelist):
        content.append(leaf("str:GridDefinition", one.grid_definition))
    kind = one.urn.cls
    return artefact(f"str:{kind}", one, edition, content, geoType=kind if kind in _GEO else None)


def _codes(one: Codelist, edition: Edition) -> list[str]:
    urn = one.urn
    # The prefix is the same for all: in most codes only id, names and parent differ.
    prefix = f"urn:sdmx:org.sdmx.infomodel.{urn.package}.Code={urn.reference}."
    return [
        _code(id_, code, prefix, edition) if type(code) is Code else _geographic(code, edition)
        for id_, code in one.codes.items()
    ]


def _code(id_: str, one: Code, prefix: str, edition: Edition) -> str:
    inside = annotated(one, edition) + texts("com:Name", one.names)
    if one.descriptions.texts:
        inside += texts("com:Description", one.descriptions)
    if one.parent is not None:
        inside += edition.local("str:Parent", one.parent)
    uri = "" if one.uri is None else f' uri="{attribute(one.uri)}"'
    return f'<str:Code id="{id_}" urn="{prefix}{id_}"{uri}>{inside}</str:Code>'


def _geographic(one: Code, edition: Edition) -> str:
    parent = edition.local("str:Parent", one.parent)
    names = annotated(one, edition) + texts("com:Name", one.names) + texts("com:Description", one.descriptions)
    # The schema wrongly demands the class Code in their URNs, so they are written without URNs.
    if isinstance(one, GeoFeatureSetCode):
        return el("str:GeoFeatureSetCode", names, parent, id=one.id, uri=one.uri, value=one.value)
    if isinstance(one, GeoGridCode):
        return el("str:GeoGridCode", names, parent, leaf("str:GeoCell", one.geo_cell), id=one.id, uri=one.uri)
    return el("str:Code", names, parent, id=one.id, urn=str(one.urn), uri=one.uri)


def _extension(one: CodelistExtension, edition: Edition) -> str:
    return el(
        "str:CodelistExtension",
        edition.ref("str:Codelist", one.codelist),
        _selection("str:InclusiveCodeSelection", one.inclusive),
        _selection("str:ExclusiveCodeSelection", one.exclusive),
        prefix=one.prefix,
    )


def _selection(tag: str, members: tuple[MemberValue, ...]) -> str:
    found = [leaf("str:MemberValue", one.value, cascadeValues=one.cascade_values) for one in members]
    return el(tag, *found) if found else ""


def value_list(one: ValueList, edition: Edition) -> str:
    """Write a <ValueList> (3.x)."""
    return artefact("str:ValueList", one, edition, [_value(each, edition) for each in one.value_items])


def _value(one: ValueItem, edition: Edition) -> str:
    names = texts("com:Name", one.names) + texts("com:Description", one.descriptions)
    return el("str:ValueItem", annotations_of(one.annotations, edition), names, id=one.id)


def concept_scheme(one: ConceptScheme, edition: Edition) -> str:
    """Write a <ConceptScheme>."""
    concepts = [] if one.concepts.is_stub else [_concept(each, edition) for each in one.concepts.values()]
    return artefact("str:ConceptScheme", one, edition, concepts)


def _concept(one: Concept, edition: Edition) -> str:
    return item(
        "str:Concept",
        one,
        edition,
        edition.local("str:Parent", one.parent),
        representation("str:CoreRepresentation", one.core_representation, edition),
        _iso_concept(one.iso_concept),
    )


def _iso_concept(one: ItemReference | None) -> str:
    if one is None:
        return ""
    return el(
        "str:ISOConceptReference",
        leaf("str:ConceptAgency", one.agency),
        leaf("str:ConceptSchemeID", one.scheme),
        leaf("str:ConceptID", one.id),
    )


def organisation_scheme(one: OrganisationScheme, edition: Edition) -> str:
    """Write an <AgencyScheme>, or another scheme of organisations."""
    found = [] if one.organisations.is_stub else list(one.organisations.values())
    return artefact(f"str:{one.urn.cls}", one, edition, [_organisation(each, edition) for each in found])


def _organisation(one: Organisation, edition: Edition) -> str:
    parent = edition.local("str:Parent", one.parent)
    contacts = [_contact(each) for each in one.contacts]
    if parent and not isinstance(one, OrganisationUnit):
        parent = ""  # the schema allows parents only for units; the comparison after reading back reports the loss
    return item(f"str:{one.urn.cls}", one, edition, parent, *contacts)


def _contact(one: Contact) -> str:
    return el(
        "str:Contact",
        texts("com:Name", one.names),
        texts("str:Department", one.departments),
        texts("str:Role", one.roles),
        *[f"<str:Telephone>{text(each)}</str:Telephone>" for each in one.telephones],
        *[f"<str:Fax>{text(each)}</str:Fax>" for each in one.faxes],
        *[f"<str:X400>{text(each)}</str:X400>" for each in one.x400s],
        *[f"<str:URI>{text(each)}</str:URI>" for each in one.uris],
        *[f"<str:Email>{text(each)}</str:Email>" for each in one.emails],
        id=one.id,
    )
