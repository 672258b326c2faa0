"""Organisations of SDMX-ML 1.0 and 2.0: agencies, data providers, data consumers.

Source: SDMXStructure.xsd of both, AgencyType, OrganisationType and ContactType.
"""

from __future__ import annotations

from typing import Any, Final

from lxml import etree

from kafka_replica.sdmx.containers import NO_TEXT, InternationalString, Items
from kafka_replica.sdmx.earlier import VersionedAgency, VersionedDataConsumer, VersionedDataProvider
from kafka_replica.sdmx.formats.ml.reading.parts import international, text, texts
from kafka_replica.sdmx.formats.ml.reading.tree import Names
from kafka_replica.sdmx.formats.ml.reading.values import Child, named
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION
from kafka_replica.sdmx.formats.shared.reading.standalone import synthetic_name
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
from kafka_replica.sdmx.readers.ml20.edition import Source
from kafka_replica.sdmx.readers.ml20.values import id_of, item_urn, maintained
from kafka_replica.sdmx.urn import Urn

_KINDS: Final[dict[str, tuple[type[OrganisationScheme], type[Organisation], type[Organisation]]]] = {
    "AgencyScheme": (AgencyScheme, Agency, VersionedAgency),
    "DataProviderScheme": (DataProviderScheme, DataProvider, VersionedDataProvider),
    "DataConsumerScheme": (DataConsumerScheme, DataConsumer, VersionedDataConsumer),
}
"""Class -> the scheme, its items, and those items that have a version."""

_CONTACTS: Final = {
    "MaintenanceContact": "Maintenance",
    "CollectorContact": "Collector",
    "DisseminatorContact": "Disseminator",
    "ReporterContact": "Reporter",
    "OtherContact": None,
}
"""Kind of contact -> its role; only an OtherContact states a role of its own."""


def organisations(urn: Urn, elements: list[etree._Element], source: Source) -> OrganisationScheme:
    """Return the scheme of these <Agency>, <DataProvider> or <DataConsumer> elements."""
    scheme, kind, versioned = _KINDS[urn.cls]
    found: dict[str, Organisation] = {}
    for element in elements:
        id_ = id_of(element, {})
        arguments, rest = named(element, source.names)
        own = _own_marks(element)
        organisation = (versioned if own else kind)(
            urn=item_urn(urn, kind.__name__, element, id_),
            contacts=tuple(_contacts(rest, source.names)),
            parent=element.get("parentOrganisation"),
            **arguments,
            **own,
        )
        if found.setdefault(id_, organisation) != organisation:
            id_of(element, found)
    return scheme(urn=urn, organisations=Items(found), **_scheme(urn, elements[0], source))


def _own_marks(element: etree._Element) -> dict[str, Any]:
    """Return the version and validity of an organisation itself, as far as they are stated."""
    version = element.get("version", "").strip() or DEFAULT_VERSION
    said = {
        "version": version if version != DEFAULT_VERSION else None,
        "valid_from": element.get("validFrom"),
        "valid_to": element.get("validTo"),
    }
    return said if any(said.values()) else {}


def _scheme(urn: Urn, element: etree._Element, source: Source) -> dict[str, Any]:
    """Return the arguments of a scheme of providers or consumers; the agency scheme has no single source."""
    holder = element.getparent()
    scheme = None if holder is None else holder.getparent()
    named = {"names": synthetic_name(urn)}
    if urn.cls == "AgencyScheme" or scheme is None or source.names[scheme.tag] != "OrganisationScheme":
        return named
    arguments, _ = maintained(scheme, source)
    # The members are here, so the scheme is not an external reference.
    return named | arguments | {"is_external_reference": False, "structure_url": None}


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
