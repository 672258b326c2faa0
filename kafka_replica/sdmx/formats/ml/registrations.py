"""Registrations, and the registry messages that hold them (SDMX-ML 2.1, 3.0, 3.1).

They are written in a registry's response to a query, the only message that can hold all their parts.

Source: SDMXRegistry.xsd, SDMXRegistryRegistration.xsd and SDMXRegistryBase.xsd of 2.1 and 3.x. In these schemas a
registration has no agency, version and names: the agency is that of the provision agreement, the version 1.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from typing import Final, TypeAlias

from lxml import etree

from kafka_replica.sdmx.containers import parts_of
from kafka_replica.sdmx.formats.ml.provisions import read_queryable_data_source, write_queryable_data_source
from kafka_replica.sdmx.formats.ml.reading.child_elements import first, known, pick, ref
from kafka_replica.sdmx.formats.ml.reading.foreign_namespaces import is_lost, lost_in, refuse
from kafka_replica.sdmx.formats.ml.reading.metadata_header import MetadataHeader
from kafka_replica.sdmx.formats.ml.reading.tree import (
    Names,
    artefacts_of,
    fail,
    failures,
    has_structures,
    is_metadata,
    refuse_failure,
    sets_of,
    urn_in_container,
)
from kafka_replica.sdmx.formats.ml.reading.values import Item, boolean, reference, text_of
from kafka_replica.sdmx.formats.ml.writing.edition import Edition
from kafka_replica.sdmx.formats.ml.writing.values import parts
from kafka_replica.sdmx.formats.ml.writing.xml import el, leaf, true
from kafka_replica.sdmx.formats.shared.reading.identity import artefact_urn
from kafka_replica.sdmx.model import Registration
from kafka_replica.sdmx.urns.urn import Urn

# Reading

_CONSTRAINTS: Final = {"ContentConstraint", "Constraint"}
"""The names of constraints in 2.1 and 3.x."""

_RESULTS: Final = ("DataResult", "MetadataResult")
"""The elements that hold registrations, and the constraints next to them, in a response to a query."""

_REQUESTS: Final = {"RegistrationRequest", "SubmitStructureRequest", "SubmittedStructure"}
"""Elements whose ``action`` says what happens to artefacts; that of one artefact precedes that of the request."""

Identify: TypeAlias = Callable[[etree._Element], Urn]  # noqa: SLF001 - the only name lxml gives this type
"""A function that builds the URN of an artefact from its element. Raises MessageError."""


def artefacts_in(root: etree._Element, names: Names) -> tuple[Identify, Iterable[etree._Element]]:
    """Return the function that identifies the artefacts of a message, and their elements.

    The message may be a structure, metadata or registry message. The elements include those that hold artefacts, or
    would be artefacts, if only their namespace were of SDMX: the function raises MessageError for each of them.

    Raises:
        MessageError: the message has no structures, reports a failure, or requests a registry to delete its content.
    """
    in_container = partial(urn_in_container, names=names)
    if any(names[element.tag] == "Structures" for element in root):
        lost = [child for child in root if is_lost(child, names, "Structures")]
        return _with_lost(lost, in_container, artefacts_of(root, names))
    if is_metadata(root, names):
        lost = lost_in(root, names, "MetadataSet")
        return _with_lost(lost, MetadataHeader(root, names).urn_of, sets_of(root, names))
    if names[root.tag] == "Error":
        fail(root, f"a registry answered with an error, not with structures: {text_of(root).strip()[:300]}")
    _refuse_deletion(root, names)
    failed = failures(root, names)
    refused = {each.getparent() for each in failed}
    found = [each for each in root.iter("{*}Registration") if names[each.tag] and each.getparent() not in refused]
    if failed and not found:
        refuse_failure(failed[0])
    lost = [each for each in lost_in(root, names, "Registration", "Structures") if each.getparent() not in refused]
    if found or any(names[each.tag] for each in root.iter("{*}QueryRegistrationResponse")):
        return _with_lost(lost, partial(_urn, names=names), found)
    if lost and not has_structures(root, names):
        return _with_lost(lost, in_container, ())
    return _with_lost(lost, in_container, artefacts_of(root, names))


def _with_lost(
    lost: list[etree._Element], identify: Identify, found: Iterable[etree._Element]
) -> tuple[Identify, Iterable[etree._Element]]:
    """Add elements of other namespaces, which are refused as soon as they are to be identified."""
    if not lost:
        return identify, found
    refused = frozenset(lost)

    def identify_or_refuse(element: etree._Element) -> Urn:
        if element in refused:
            refuse(element)
        return identify(element)

    return identify_or_refuse, chain(lost, found)


def _refuse_deletion(root: etree._Element, names: Names) -> None:
    """Reject a deletion: artefacts to be deleted must not be read as existing ones."""
    for element in root.iter(*(f"{{*}}{name}" for name in _REQUESTS), "{*}EventAction"):
        kind = names[element.tag]
        action = element.get("action") if kind in _REQUESTS else text_of(element).strip() if kind else None
        if action == "Delete":
            fail(element, "it reports a deletion, so its content no longer exists; delete the key instead")


def _urn(element: etree._Element, names: Names) -> Urn:
    agreement = ref(known(element, names), "ProvisionAgreement", names)
    agency = None if agreement is None else agreement.agency
    return artefact_urn("Registration", agency, element.get("id"), None, None, f"at line {element.sourceline}")


def read_registration(item: Item) -> Registration:
    """Read a <Registration>."""
    urn, base, rest, names = item.parts
    element = item.element
    source = first(rest, "Datasource", "DataSource")
    sources = [] if source is None else known(source, names)
    return Registration(
        urn=urn,
        provision_agreement=ref(rest, "ProvisionAgreement", names),
        simple_data_sources=parts_of(
            urn,
            [text_of(simple_data_source).strip() for simple_data_source in pick(sources, "SimpleDataSource")],
            is_stub=False,
        ),
        queryable_data_sources=tuple(
            read_queryable_data_source(queryable_data_source, names)
            for queryable_data_source in pick(sources, "QueryableDataSource")
        ),
        last_updated=element.get("lastUpdated"),
        index_time_series=boolean(element, "indexTimeSeries") or False,
        index_data_set=boolean(element, "indexDataSet") or False,
        index_attributes=boolean(element, "indexAttributes") or False,
        index_reporting_period=boolean(element, "indexReportingPeriod") or False,
        constraints=tuple(reference(one, names, "ContentConstraint") for one in beside(element, names)),
        **base,
    )


def beside(element: etree._Element, names: Names) -> list[etree._Element]:
    """Return the references to constraints that a query response has next to a registration; else an empty list.

    Raises MessageError if they are lost because of a namespace.
    """
    holder = element.getparent()
    if holder is None:
        return []
    if is_lost(holder, names, *_RESULTS):
        refuse(holder)
    if names[holder.tag] not in _RESULTS:
        return []
    for child in holder:
        if is_lost(child, names, *_CONSTRAINTS):
            refuse(child)
    return list(pick(known(holder, names), *_CONSTRAINTS))


# Writing


def write_registration(registration: Registration, edition: Edition) -> str:
    """Write a <QueryResult> with a <Registration>, and the constraints next to it."""
    sources = [leaf("reg:SimpleDataSource", each) for each in parts(registration.simple_data_sources)]
    sources += [
        write_queryable_data_source("reg:QueryableDataSource", each) for each in registration.queryable_data_sources
    ]
    own = el(
        "reg:Registration",
        edition.ref("reg:ProvisionAgreement", registration.provision_agreement),
        el("reg:Datasource", *sources),
        id=registration.id,
        validFrom=registration.valid_from,
        validTo=registration.valid_to,
        lastUpdated=registration.last_updated,
        indexTimeSeries=true(registration.index_time_series),
        indexDataSet=true(registration.index_data_set),
        indexAttributes=true(registration.index_attributes),
        indexReportingPeriod=true(registration.index_reporting_period),
    )
    constraint = "reg:ContentConstraint" if edition.is_21 else "reg:Constraint"
    result = el("reg:DataResult", own, edition.refs(constraint, registration.constraints))
    # The attribute describes the query, but there was no query.
    return el("reg:QueryResult", result, timeSeriesMatch="false")


def write_answer(results: list[str]) -> str:
    """Return the body of the message."""
    return el("mes:QueryRegistrationResponse", el("reg:StatusMessage", status="Success"), *results)
