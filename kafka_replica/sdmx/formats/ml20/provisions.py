"""Provision agreements of SDMX-ML 2.0, which come in the messages of registries.

Source: SDMXRegistry.xsd 2.0, ProvisionAgreementType, DataProviderRefType and DatasourceType. There, an agreement has an
id, but no agency and no version: these are in the URN that a registry gives it. If it has no URN, its agency is that of
the flow and its version 1.0.

An agreement without an id is identified by its URN alone, as in the standard's own sample of a response:
``...ProvisionAgreement=SDMX:DATA_PROVIDERS.BIS.BIS:BIS_JEDH_DEBT,1.2`` has the data provider
``SDMX:DATA_PROVIDERS.BIS``, the flow ``BIS:BIS_JEDH_DEBT`` and a version. (The schema demands the URN in responses.) A
URN of later editions has no place for a provider, so it becomes a part of the id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from lxml import etree

from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.formats.ml.reading.child_elements import first, known, text
from kafka_replica.sdmx.formats.ml.reading.foreign_namespaces import is_lost, refuse
from kafka_replica.sdmx.formats.ml.reading.tree import fail
from kafka_replica.sdmx.formats.ml.reading.values import Child, boolean, text_of
from kafka_replica.sdmx.formats.ml20.constraints import read_constraint
from kafka_replica.sdmx.formats.ml20.reading.message_context import MessageContext
from kafka_replica.sdmx.formats.ml20.reading.references import by_urn, made, parts_of, read_reference
from kafka_replica.sdmx.formats.ml20.reading.values import read_maintained
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION, FIXED_IDS, artefact_urn
from kafka_replica.sdmx.model import ProvisionAgreement, QueryableDataSource
from kafka_replica.sdmx.model.earlier_editions import Provision, ProvisionAgreementOfSources
from kafka_replica.sdmx.urns.urn import MAX_URN, Urn

_FLOWS: Final = ("Dataflow", "Metadataflow")
_ID: Final = r"([A-Za-z0-9_$\-]+)"
_match_urn_of_20 = re.compile(
    rf"urn:sdmx:org\.sdmx\.infomodel\.registry\.ProvisionAgreement={_ID}:{_ID}\.{_ID}\.{_ID}:{_ID}"
    r"(?:,([^,\s]+)|\(([^()\s]+)\))?"
).fullmatch
"""The URN that a registry of 2.0 derives from provider and flow; the parts have no @, which the id has between them."""


def agreements(holder: etree._Element, context: MessageContext) -> Iterator[etree._Element]:
    """Return the agreements in a request, a response or an event. Raises MessageError for a deletion.

    References to flows and providers next to the agreements are not artefacts. Agreements in another namespace are
    included: ``agreement_urn`` rejects them.
    """
    for child in holder:
        if context.names[child.tag] == "ProvisionAgreement" or is_lost(child, context.names, "ProvisionAgreement"):
            refuse_deletion(child, context)
            yield child


def refuse_deletion(element: etree._Element, context: MessageContext) -> None:
    """Raise MessageError for a deletion: artefacts to be deleted must not be read as existing ones."""
    action = text_of(element).strip() if context.names[element.tag] == "EventAction" else element.get("action")
    if action == "Delete":
        fail(element, "it reports a deletion, so its content no longer exists; delete the key instead")


def agreement_urn(element: etree._Element, context: MessageContext) -> Urn:
    """Return the URN of an agreement: its id, with the agency and version of its own URN, or of its flow.

    Without an id, everything is taken from its URN. Raises MessageError if it has neither.
    """
    if not context.names[element.tag]:
        refuse(element)
    stated = _stated(element)
    id_ = (element.get("id") or "").strip() or (None if stated is None else stated.id)
    where = f"at line {element.sourceline}"
    if stated is not None and stated.id == id_:
        return artefact_urn("ProvisionAgreement", stated.agency, id_, stated.version, None, where)
    if id_ is None and (derived := _derived(element)) is not None:
        agency, id_, version = derived
        return artefact_urn("ProvisionAgreement", agency, id_, version, None, where)
    flow = _flow(known(element, context.names), context)
    return artefact_urn("ProvisionAgreement", None if flow is None else flow.agency, id_, None, None, where)


def _urn_attribute(element: etree._Element) -> str:
    return element.get("urn", "").strip().replace("[", "(").replace("]", ")")


def _derived(element: etree._Element) -> tuple[str, str, str | None] | None:
    """Return agency, id and version from a URN of 2.0, or None if it has another form.

    The @ between the parts of the id distinguishes it from ids that agreements are given.
    """
    written = _urn_attribute(element)
    found = _match_urn_of_20(written) if len(written) <= MAX_URN else None
    if found is None:
        return None
    scheme_agency, scheme, provider, agency, flow, version, bracketed = found.groups()
    return agency, f"{scheme_agency}@{scheme}@{provider}@{flow}", version or bracketed


def _stated(element: etree._Element) -> Urn | None:
    written = _urn_attribute(element)
    try:
        found = Urn.parse(written)
    except UrnError:
        return None
    return found if found.cls == "ProvisionAgreement" and found.item is None else None


def read_provision_agreement(urn: Urn, elements: list[etree._Element], context: MessageContext) -> ProvisionAgreement:
    """Read a <ProvisionAgreement>."""
    element = elements[0]
    base, rest = read_maintained(element, context)
    base |= {"structure_usage": _flow(rest, context), "data_provider": _provider(urn, rest, context)}
    more: dict[str, Any] = {
        "provision": _provision(rest, context),
        "flow_provision": _beside(first(rest, "DataflowRef", "MetadataflowRef"), context),
        "provider_provision": _beside(first(rest, "DataProviderRef"), context),
        "index_time_series": boolean(element, "indexTimeSeries") or False,
        "index_data_set": boolean(element, "indexDataSet") or False,
        "index_reporting_period": boolean(element, "indexReportingPeriod") or False,
    }
    if any(more.values()):
        return ProvisionAgreementOfSources(urn=urn, **base, **more)
    return ProvisionAgreement(urn=urn, **base)


def _flow(rest: list[Child], context: MessageContext) -> Urn | None:
    for word in _FLOWS:
        found = first(rest, f"{word}Ref")
        if found is not None:
            return read_reference(found, context, word, "")
    return None


def _provider(urn: Urn, rest: list[Child], context: MessageContext) -> Urn | None:
    """Return the provider; since 2.1 an agency has one scheme of providers, with a fixed id."""
    found = first(rest, "DataProviderRef")
    if found is None:
        return None
    parts = parts_of(found, context)
    item, agency = parts.get("DataProviderID"), parts.get("OrganisationSchemeAgencyID")
    if not item:
        provider = by_urn(found, parts.get("URN", ""), "DataProvider")
        item, agency = provider.item, provider.agency
    scheme = FIXED_IDS["DataProviderScheme"]
    return made(found, "DataProvider", agency or urn.agency, scheme, DEFAULT_VERSION, item or "")


def _beside(element: etree._Element | None, context: MessageContext) -> Provision | None:
    return None if element is None else _provision(known(element, context.names), context)


def _provision(rest: list[Child], context: MessageContext) -> Provision | None:
    """Read the <Datasource> and <Constraint> among these children; the data source of an agreement is a service."""
    held, limit = first(rest, "Datasource"), first(rest, "Constraint")
    if held is None and limit is None:
        return None
    sources = [] if held is None else known(held, context.names)
    service = held if first(sources, "DataUrl") is not None else first(sources, "QueryableDatasource")
    simple = first(sources, "SimpleDatasource")
    return Provision(
        simple_data_source=None if simple is None else text_of(simple).strip(),
        queryable_data_source=None if service is None else _service(service, known(service, context.names)),
        constraint=None if limit is None else read_constraint(limit, context.names),
    )


def _service(element: etree._Element, rest: list[Child]) -> QueryableDataSource:
    wsdl = text(rest, "WSDLUrl")
    return QueryableDataSource(
        data_url=(text(rest, "DataUrl") or "").strip(),
        wsdl_url=wsdl.strip() if wsdl else None,
        is_rest=boolean(element, "isRESTDatasource") or False,
        is_web_service=boolean(element, "isWebServiceDatasource") or False,
    )
