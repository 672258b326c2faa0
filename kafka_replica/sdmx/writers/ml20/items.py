"""Codelists, concepts, organisations and categories as SDMX-ML 2.0 and 1.0."""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx.earlier import (
    CategorisedDataflow,
    CategorisedMetadataflow,
    CategoryOfFlows,
    TaxonomyOfFlows,
    VersionedAgency,
    VersionedConcept,
    VersionedDataConsumer,
    VersionedDataProvider,
    VersionedReportingCategory,
)
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.ml.writing.xml import el, leaf
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION
from kafka_replica.sdmx.formats.shared.reading.standalone import STANDALONE_CONCEPTS
from kafka_replica.sdmx.model import (
    Category,
    CategoryScheme,
    Code,
    Codelist,
    Concept,
    ConceptScheme,
    Contact,
    Dataflow,
    Metadataflow,
    Organisation,
    OrganisationScheme,
    ReportingCategory,
    ReportingTaxonomy,
)
from kafka_replica.sdmx.urn import Urn
from kafka_replica.sdmx.writers.ml20.references import category, reference
from kafka_replica.sdmx.writers.ml20.values import Edition, annotations_of, maintained, representation, texts

_CONTACTS: Final = {
    "Maintenance": "MaintenanceContact", "Collector": "CollectorContact", "Disseminator": "DisseminatorContact",
    "Reporter": "ReporterContact",
}  # fmt: skip


def codelist(one: Codelist, edition: Edition) -> str:
    """Write a <CodeList>; the name of a code is in its Description."""
    codes = [] if one.codes.is_stub else [_code(each, edition) for each in one.codes.values()]
    return maintained("str:CodeList", one, edition, *codes)


def _code(one: Code, edition: Edition) -> str:
    edition.since_20(one.parent is not None, "the parents of codes")
    content = texts("str:Description", one.names) + annotations_of(one.annotations)
    return el("str:Code", content, value=one.id, parentCode=one.parent)


def concept_scheme(one: ConceptScheme, edition: Edition) -> str:
    """Write a <ConceptScheme>, or standalone concepts, which are the only kind in 1.0."""
    concepts = [] if one.concepts.is_stub else [_concept(each, one.urn, edition) for each in one.concepts.values()]
    if one.id == STANDALONE_CONCEPTS and one.version == DEFAULT_VERSION:
        return "".join(concepts)
    edition.since_20(True, "concept schemes: its concepts stand alone")
    return maintained("str:ConceptScheme", one, edition, *concepts)


def _concept(one: Concept, scheme: Urn, edition: Edition) -> str:
    edition.since_20(one.parent is not None or one.core_representation, "parents or representations of concepts")
    core, content = one.core_representation, ""
    attributes: dict[str, str | None] = {}
    if core is not None:
        _, content = representation(core, edition)
        list_ = core.enumeration
        if list_ is not None:
            attributes = {"coreRepresentation": list_.id, "coreRepresentationAgency": list_.agency}
    is_alone = scheme.id == STANDALONE_CONCEPTS and scheme.version == DEFAULT_VERSION
    return el(
        "str:Concept",
        texts("str:Name", one.names),
        texts("str:Description", one.descriptions),
        content,
        annotations_of(one.annotations),
        id=one.id,
        **({edition.agency: scheme.agency} if is_alone else {}),
        uri=one.uri,
        version=one.version if isinstance(one, VersionedConcept) else None,
        parent=one.parent,
        **attributes,
    )


def agencies(one: OrganisationScheme, edition: Edition) -> str:
    """Write the <Agency> elements, which are standalone in 1.0 and in a scheme without meaning in 2.0."""
    if one.organisations.is_stub:
        raise UnwritableError("SDMX-ML before 2.1 has no place for a scheme of agencies, so for no stub of one")
    found = [_organisation("str:Agency", each, edition) for each in one.organisations.values()]
    if edition.is_10:
        return "".join(found)
    name = el("str:Name", "Agencies", **{"xml:lang": "en"})
    inside = el("str:Agencies", *found) if found else ""
    return el("str:OrganisationScheme", name, inside, id=one.id, agencyID=one.agency, version=one.version)


def providers(one: OrganisationScheme, edition: Edition) -> str:
    """Write an <OrganisationScheme> of data providers or consumers."""
    edition.since_20(True, "data providers and consumers")
    kind = one.urn.cls.removesuffix("Scheme")
    found = [] if one.organisations.is_stub else one.organisations.values()
    inside = [_organisation(f"str:{kind}", each, edition) for each in found]
    return maintained("str:OrganisationScheme", one, edition, el(f"str:{kind}s", *inside) if inside else "")


def _organisation(tag: str, one: Organisation, edition: Edition) -> str:
    edition.since_20(one.parent is not None or one.annotations, "parents and annotations of organisations")
    return el(
        tag,
        texts("str:Name", one.names),
        texts("str:Description", one.descriptions),
        *_contacts(one.contacts),
        annotations_of(one.annotations),
        id=one.id,
        uri=one.uri,
        parentOrganisation=one.parent,
        **_own_marks(one, edition),
    )


def _own_marks(one: Organisation, edition: Edition) -> dict[str, str | None]:
    if not isinstance(one, (VersionedAgency, VersionedDataProvider, VersionedDataConsumer)):
        return {}
    edition.since_20(one.valid_from or one.valid_to, "the validity of organisations")
    return {"version": one.version, "validFrom": one.valid_from, "validTo": one.valid_to}


def _contacts(found: tuple[Contact, ...]) -> list[str]:
    """Write the contacts: first one of each kind in the order of the schema, then all others with their roles."""
    written: list[str] = []
    kinds = list(_CONTACTS.values())
    for one in found:
        kind = _CONTACTS.get(one.roles.texts[0][1]) if len(one.roles.texts) == 1 else None
        if kind in kinds:
            del kinds[: kinds.index(kind) + 1]
        else:
            kind = "OtherContact"
            kinds.clear()
        written.append(_contact(one, kind))
    return written


def _contact(one: Contact, kind: str) -> str:
    return el(
        f"str:{kind}",
        texts("str:Name", one.names),
        leaf("str:id", one.id),
        texts("str:Department", one.departments),
        texts("str:Role", one.roles),
        *[leaf("str:Telephone", each) for each in one.telephones],
        *[leaf("str:Fax", each) for each in one.faxes],
        *[leaf("str:X400", each) for each in one.x400s],
        *[leaf("str:URI", each) for each in one.uris],
        *[leaf("str:Email", each) for each in one.emails],
    )


def category_scheme(one: CategoryScheme, edition: Edition) -> str:
    """Write a <CategoryScheme>."""
    found = [] if one.categories.is_stub else one.categories.values()
    return maintained("str:CategoryScheme", one, edition, *[_category(each) for each in found])


def _category(one: Category | ReportingCategory) -> str:
    if isinstance(one, ReportingCategory):
        flows, below = one.provisioning_metadata, list(map(_category, one.reporting_categories.values()))
    else:
        flows = one.flows if isinstance(one, CategoryOfFlows) else ()
        below = list(map(_category, one.categories.values()))
    return el(
        "str:Category",
        texts("str:Name", one.names),
        texts("str:Description", one.descriptions),
        *_flows(flows),
        *below,
        annotations_of(one.annotations),
        id=one.id,
        uri=one.uri,
        version=one.version if isinstance(one, (CategoryOfFlows, VersionedReportingCategory)) else None,
    )


def _flows(flows: tuple[Urn, ...]) -> list[str]:
    # The schema demands the dataflows first.
    return [reference(f"str:{flow.cls}Ref", flow) for flow in sorted(flows, key=lambda flow: flow.cls != "Dataflow")]


def reporting_taxonomy(one: ReportingTaxonomy, edition: Edition) -> str:
    """Write a <ReportingTaxonomy>."""
    found = [] if one.reporting_categories.is_stub else one.reporting_categories.values()
    flows = one.flows if isinstance(one, TaxonomyOfFlows) else ()
    return maintained("str:ReportingTaxonomy", one, edition, *_flows(flows), *[_category(each) for each in found])


def dataflow(one: Dataflow | Metadataflow, edition: Edition) -> str:
    """Write a <Dataflow> or <Metadataflow>."""
    categories = one.categories if isinstance(one, (CategorisedDataflow, CategorisedMetadataflow)) else ()
    word = "str:KeyFamilyRef" if isinstance(one, Dataflow) else "str:MetadataStructureRef"
    used = "" if one.structure_reference is None else reference(word, one.structure_reference)
    return maintained(f"str:{one.urn.cls}", one, edition, used, *[category(each) for each in categories])
