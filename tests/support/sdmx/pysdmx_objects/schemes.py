"""Codelists, value lists, concepts, organisations, categories, hierarchies."""

from __future__ import annotations

from typing import Any

from kafka_replica.sdmx.model import (
    Agency,
    Category,
    CategoryScheme,
    Code,
    Codelist,
    ConceptScheme,
    HierarchicalCode,
    Hierarchy,
    HierarchyAssociation,
    Level,
    Organisation,
    OrganisationScheme,
    ValueList,
)
from support.sdmx.pysdmx_objects.basics import Work, written
from support.sdmx.pysdmx_objects.library import pysdmx

_VALIDITY = "FR_VALIDITY_PERIOD"  # the type of Fusion Metadata Registry's annotation


def codelist(one: Codelist, work: Work) -> Any:
    """Convert a codelist, which has no extensions in pysdmx."""
    if one.extensions:
        raise work.refused("it has no codelists that extend others; the codes would not be all")
    codes = () if one.codes.is_stub else [_plain_code(code, work) for code in one.codes.values()]
    return pysdmx().Codelist(**work.maintained(one, partial=True), items=tuple(codes))


def _plain_code(one: Code, work: Work) -> Any:
    """Convert a code; registries write its validity into an annotation, pysdmx into fields."""
    periods = [note for note in one.annotations if note.type == _VALIDITY and note.title]
    if not periods:
        return pysdmx().Code(**work.named(one))
    start, _, end = (periods[0].title or "").partition("/")
    base = work.named(one) | {
        "annotations": work.annotations(tuple(note for note in one.annotations if note not in periods))
    }
    return pysdmx().Code(**base, valid_from=work.instant(start or None), valid_to=work.instant(end or None))


def value_list(one: ValueList, work: Work) -> Any:
    """Convert a value list: a codelist of type ``valuelist``."""
    items = () if one.is_stub else one.values
    codes = tuple(
        pysdmx().Code(
            id=value.id,
            name=value.name(work.language),
            description=value.description(work.language),
            annotations=work.annotations(value.annotations),
        )
        for value in items
    )
    return pysdmx().Codelist(**work.maintained(one, partial=True), items=codes, sdmx_type="valuelist")


def concept_scheme(one: ConceptScheme, work: Work) -> Any:
    """Convert a concept scheme."""
    found = () if one.concepts.is_stub else one.concepts.values()
    concepts = [
        pysdmx().Concept(**work.named(concept), **work.representation(concept.core_representation)) for concept in found
    ]
    return pysdmx().ConceptScheme(**work.maintained(one, partial=True), items=tuple(concepts))


def organisations(one: OrganisationScheme, work: Work) -> Any:
    """Convert a scheme of organisations with its own name, although pysdmx's own readers use the id as the name."""
    found = () if one.items.is_stub else one.organisations.values()
    kind = getattr(pysdmx(), one.urn.cls.removesuffix("Scheme"))
    items = [
        kind(
            **work.named(organisation) | {"id": _id(organisation, one)}, contacts=_contacts(organisation.contacts, work)
        )
        for organisation in found
    ]
    return getattr(pysdmx(), one.urn.cls)(**work.maintained(one, partial=True), items=tuple(items))


def _id(organisation: Organisation, scheme: OrganisationScheme) -> str:
    """Return the id of an agency: the path below the agencies of SDMX, with dots."""
    is_top = not isinstance(organisation, Agency) or scheme.agency == "SDMX"
    return organisation.id if is_top else f"{scheme.agency}.{organisation.id}"


def _contacts(found: Any, work: Work) -> tuple[Any, ...]:
    return tuple(
        pysdmx().Contact(
            id=one.id,
            name=one.names.in_language(work.language),
            department=one.departments.in_language(work.language),
            role=one.roles.in_language(work.language),
            telephones=one.telephones or None,
            faxes=one.faxes or None,
            uris=one.uris or None,
            emails=one.emails or None,
        )
        for one in found
    )


def category_scheme(one: CategoryScheme, work: Work) -> Any:
    """Convert a category scheme; categorisations assign flows to categories."""
    found = () if one.categories.is_stub else one.categories.values()
    return pysdmx().CategoryScheme(
        **work.maintained(one, partial=True), items=tuple(_category(category, work) for category in found)
    )


def _category(one: Category, work: Work) -> Any:
    below = tuple(_category(category, work) for category in one.categories.values())
    return pysdmx().Category(**work.named(one), categories=below)


def hierarchy(one: Hierarchy, work: Work) -> Any:
    """Convert a hierarchy; names of codes are in their codelists."""
    found = () if one.codes.is_stub else one.codes.values()
    return pysdmx().Hierarchy(
        **work.maintained(one, partial=True),
        codes=tuple(_code(code, work) for code in found),
        has_formal_levels=one.has_formal_levels,
        level=_level(one.level, work),
    )


def _code(one: HierarchicalCode, work: Work) -> Any:
    """Convert a hierarchical code; its id in pysdmx is the code's, and a different own id becomes an annotation."""
    own = one.id if one.code is None or one.code.item is None else one.code.item
    notes = work.annotations(one.annotations)
    if own != one.id:
        notes = (pysdmx().Annotation(id="hcode", type="pysdmx", text=one.id), *notes)
    return pysdmx().HierarchicalCode(
        id=own,
        rel_valid_from=work.instant(one.valid_from),
        rel_valid_to=work.instant(one.valid_to),
        codes=tuple(_code(code, work) for code in one.codes.values()),
        annotations=notes,
        urn=written(one.code),
        level=one.level,
    )


def _level(one: Level | None, work: Work) -> Any:
    if one is None:
        return None
    form = one.coding_format
    values = {} if form is None else {"dtype": work.data_type(form), "facets": work.facets(form)}
    return pysdmx().LevelType(**work.named(one), level=_level(one.level, work), **values)


def hierarchy_association(one: HierarchyAssociation, work: Work) -> Any:
    """Convert the association of a hierarchy with the objects that use it."""
    return pysdmx().HierarchyAssociation(
        **work.maintained(one),
        hierarchy=written(one.linked_hierarchy),
        component_ref=written(one.linked_object),
        context_ref=written(one.context_object),
        operator=next((link.urn for link in one.links if link.rel == "UserDefinedOperator"), None),
    )
