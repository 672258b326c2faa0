"""Registrations as SDMX-ML, in a registry's response to a query, the only message that can hold all their parts.

Source: SDMXRegistryRegistration.xsd and SDMXRegistryBase.xsd. They have no place for agency, version and names.
"""

from __future__ import annotations

from kafka_replica.sdmx.model import Registration
from kafka_replica.sdmx.writers.ml.constraints import queryable
from kafka_replica.sdmx.writers.ml.edition import Edition
from kafka_replica.sdmx.writers.ml.values import parts
from kafka_replica.sdmx.writers.ml.xml import el, leaf, true


def registration(one: Registration, edition: Edition) -> str:
    """Write a <QueryResult> with a <Registration>, and the constraints next to it."""
    sources = [leaf("reg:SimpleDataSource", each) for each in parts(one.simple_data_sources)]
    sources += [queryable("reg:QueryableDataSource", each) for each in one.queryable_data_sources]
    own = el(
        "reg:Registration",
        edition.ref("reg:ProvisionAgreement", one.provision_agreement),
        el("reg:Datasource", *sources),
        id=one.id,
        validFrom=one.valid_from,
        validTo=one.valid_to,
        lastUpdated=one.last_updated,
        indexTimeSeries=true(one.index_time_series),
        indexDataSet=true(one.index_data_set),
        indexAttributes=true(one.index_attributes),
        indexReportingPeriod=true(one.index_reporting_period),
    )
    constraint = "reg:ContentConstraint" if edition.is_21 else "reg:Constraint"
    result = el("reg:DataResult", own, edition.refs(constraint, one.constraints))
    # The attribute belongs to a query, and there was none.
    return el("reg:QueryResult", result, timeSeriesMatch="false")


def answer(results: list[str]) -> str:
    """Return the body of the message."""
    return el("mes:QueryRegistrationResponse", el("reg:StatusMessage", status="Success"), *results)
