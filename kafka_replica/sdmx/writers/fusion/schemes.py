"""Codelists, concepts, organisations, categories and provisions as Fusion-JSON."""

from __future__ import annotations

from kafka_replica.sdmx.model import (
    Categorisation,
    Category,
    CategoryScheme,
    Code,
    Codelist,
    CodelistExtension,
    ConceptScheme,
    Contact,
    MemberValue,
    MetadataProvisionAgreement,
    OrganisationScheme,
    ProvisionAgreement,
    ValueItem,
    ValueList,
)
from kafka_replica.sdmx.writers.fusion.values import annotations_of, items_of, maintained, named, representation, texts
from kafka_replica.sdmx.writers.json_parts import Json, obj, parts, urn


def codelist(one: Codelist) -> Json:
    """Write a codelist, with extensions in the form of SDMX-JSON, which the reader expects."""
    extensions = [_extension(each) for each in one.extensions]
    return obj(maintained(one), items=[_code(each) for each in items_of(one.codes)], codelistExtensions=extensions)


def _extension(one: CodelistExtension) -> Json:
    return obj(
        codelist=str(one.codelist),
        prefix=one.prefix,
        inclusiveCodeSelection=_selection(one.inclusive),
        exclusiveCodeSelection=_selection(one.exclusive),
    )


def _selection(members: tuple[MemberValue, ...]) -> Json | None:
    found = [obj(value=one.value, cascadeValues=one.cascade_values) for one in members]
    return {"memberValues": found} if found else None


def _code(one: Code) -> Json:
    found = named(one)
    if one.parent is not None:
        found["parentCode"] = one.parent
    return found


def value_list(one: ValueList) -> Json:
    """Write a value list."""
    return obj(maintained(one), items=[_value(each) for each in one.value_items])


def _value(one: ValueItem) -> Json:
    names = obj(names=texts(one.names), descriptions=texts(one.descriptions))
    return obj({"id": one.id}, names, annotations=annotations_of(one.annotations))


def concept_scheme(one: ConceptScheme) -> Json:
    """Write a concept scheme."""
    found = [
        obj(named(each), parentConcept=each.parent, representation=representation(each.core_representation))
        for each in items_of(one.concepts)
    ]
    return obj(maintained(one), items=found)


def organisation_scheme(one: OrganisationScheme) -> Json:
    """Write a scheme of organisations of any kind."""
    found = [
        obj(named(each), parent=each.parent, contacts=[_contact(contact) for contact in each.contacts])
        for each in items_of(one.organisations)
    ]
    return obj(maintained(one), items=found)


def _contact(one: Contact) -> Json:
    return obj(
        id=one.id,
        names=texts(one.names),
        departments=texts(one.departments),
        roles=texts(one.roles),
        telephone=list(one.telephones),
        fax=list(one.faxes),
        x400=list(one.x400s),
        uri=list(one.uris),
        email=list(one.emails),
    )


def category_scheme(one: CategoryScheme) -> Json:
    """Write a category scheme."""
    return obj(maintained(one), items=[_category(each) for each in items_of(one.categories)])


def _category(one: Category) -> Json:
    return obj(named(one), items=[_category(each) for each in one.categories.values()])


def categorisation(one: Categorisation) -> Json:
    """Write a categorisation."""
    return obj(maintained(one), structureReference=urn(one.source), categoryReference=urn(one.target))


def provision_agreement(one: ProvisionAgreement) -> Json:
    """Write a provision agreement."""
    return obj(maintained(one), structureUsage=urn(one.structure_usage), dataproviderRef=urn(one.data_provider))


def metadata_provision_agreement(one: MetadataProvisionAgreement) -> Json:
    """Write a provision agreement for metadata."""
    return obj(
        maintained(one),
        metadataflowRef=urn(one.metadataflow),
        metadataproviderRef=urn(one.metadata_provider),
        targets=parts(one.targets),
    )
