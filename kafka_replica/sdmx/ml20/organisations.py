"""Organisations of SDMX-ML 1.0 and 2.0: agencies, data providers, data consumers.

Source: SDMXStructure.xsd of both, AgencyType, OrganisationType and ContactType.
"""

from __future__ import annotations

from typing import Final

from lxml import etree

from kafka_replica.sdmx.containers import NO_TEXT, InternationalString, Items
from kafka_replica.sdmx.ml.parts import international, text, texts
from kafka_replica.sdmx.ml.tree import Names
from kafka_replica.sdmx.ml.values import Child, named
from kafka_replica.sdmx.ml20.edition import Source
from kafka_replica.sdmx.ml20.values import id_of, item_urn
from kafka_replica.sdmx.model import (
    Agency,
    AgencyScheme,
    Contact,
    DataConsumer,
    DataConsumerScheme,
    DataProvider,
    DataProviderScheme,
    Organisation,
    OrganisationScheme,
)
from kafka_replica.sdmx.urn import Urn

_KINDS: Final[dict[str, tuple[type[OrganisationScheme], type[Organisation]]]] = {
    "AgencyScheme": (AgencyScheme, Agency),
    "DataProviderScheme": (DataProviderScheme, DataProvider),
    "DataConsumerScheme": (DataConsumerScheme, DataConsumer),
}
_CONTACTS: Final = {
    "MaintenanceContact": "Maintenance",
    "CollectorContact": "Collector",
    "DisseminatorContact": "Disseminator",
    "ReporterContact": "Reporter",
    "OtherContact": None,
}
"""Kind of contact -> the role that it is; only an OtherContact says a role of its own."""


def organisations(urn: Urn, elements: list[etree._Element], source: Source) -> OrganisationScheme:
    """The scheme of these <Agency>, <DataProvider> or <DataConsumer> elements."""
    scheme, kind = _KINDS[urn.cls]
    found: dict[str, Organisation] = {}
    for element in elements:
        id_ = id_of(element, {})
        arguments, rest = named(element, source.names)
        organisation = kind(
            urn=item_urn(urn, kind.__name__, element, id_),
            contacts=tuple(_contacts(rest, source.names)),
            parent=element.get("parentOrganisation"),
            **arguments,
        )
        if found.setdefault(id_, organisation) != organisation:
            id_of(element, found)
    return scheme(urn=urn, organisations=Items(found))


def _contacts(rest: list[Child], names: Names) -> list[Contact]:
    return [_contact(element, names, _CONTACTS[kind]) for kind, element in rest if kind in _CONTACTS]


def _contact(element: etree._Element, names: Names, role: str | None) -> Contact:
    arguments, rest = named(element, names)
    return Contact(
        id=text(rest, "id"),
        names=arguments.get("names", NO_TEXT),
        departments=international(rest, "Department"),
        roles=international(rest, "Role") or (InternationalString([("en", role)]) if role else NO_TEXT),
        telephones=texts(rest, "Telephone"),
        faxes=texts(rest, "Fax"),
        x400s=texts(rest, "X400"),
        uris=texts(rest, "URI"),
        emails=texts(rest, "Email"),
    )
