"""Organisations of SDMX-ML 1.0 and 2.0: agencies, data providers, data consumers.

Source: SDMXStructure.xsd of both, AgencyType, OrganisationType and ContactType.
"""

from __future__ import annotations

from typing import Any, Final

from lxml import etree

from kafka_replica.sdmx.containers import NO_TEXT, InternationalString, Items
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.ml.reading.child_elements import international, text, texts
from kafka_replica.sdmx.formats.ml.reading.tree import Names
from kafka_replica.sdmx.formats.ml.reading.values import Child, named
from kafka_replica.sdmx.formats.ml.writing.values import write_texts
from kafka_replica.sdmx.formats.ml.writing.xml import el, leaf
from kafka_replica.sdmx.formats.ml20.reading.message_context import MessageContext, stated
from kafka_replica.sdmx.formats.ml20.reading.values import RepeatedItems, id_of, item_urn, read_maintained
from kafka_replica.sdmx.formats.ml20.writing.values import Edition, write_annotations, write_maintained
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION
from kafka_replica.sdmx.formats.shared.reading.standalone_items import synthetic_name
from kafka_replica.sdmx.model.earlier_editions import (
    ContactOfKind,
    VersionedAgency,
    VersionedDataConsumer,
    VersionedDataProvider,
)
from kafka_replica.sdmx.model.organisations import (
    ORGANISATION_SCHEMES,
    Contact,
    Organisation,
    OrganisationScheme,
)
from kafka_replica.sdmx.urns.urn import Urn

# Reading

_VERSIONED: Final[dict[str, type[Organisation]]] = {
    "AgencyScheme": VersionedAgency,
    "DataProviderScheme": VersionedDataProvider,
    "DataConsumerScheme": VersionedDataConsumer,
}
"""The class of the items that have a version, by the class of the scheme."""

_CONTACTS: Final = {
    "MaintenanceContact": "Maintenance",
    "CollectorContact": "Collector",
    "DisseminatorContact": "Disseminator",
    "ReporterContact": "Reporter",
    "OtherContact": None,
}
"""The element of a contact -> its kind, which is its role if it states none."""


def read_organisations(urn: Urn, elements: list[etree._Element], context: MessageContext) -> OrganisationScheme:
    """Return the scheme of these <Agency>, <DataProvider> or <DataConsumer> elements."""
    scheme, kind = ORGANISATION_SCHEMES[urn.cls]
    versioned = _VERSIONED[urn.cls]
    found = RepeatedItems[Organisation]()
    for element in elements:
        id_ = id_of(element, {})
        arguments, rest = named(element, context.names)
        own = _read_own_marks(element)
        organisation = (versioned if own else kind)(
            urn=item_urn(urn, kind.__name__, element, id_),
            contacts=tuple(_read_contacts(rest, context.names)),
            parent=stated(element, "parentOrganisation"),
            **arguments,
            **own,
        )
        found.add(id_, organisation)
    return scheme(urn=urn, organisations=Items(found.united()), **_scheme(urn, elements[0], context))


def _read_own_marks(element: etree._Element) -> dict[str, Any]:
    """Return the version and validity of an organisation itself, as far as they are stated."""
    version = stated(element, "version") or DEFAULT_VERSION
    marks = {
        "version": version if version != DEFAULT_VERSION else None,
        "valid_from": element.get("validFrom"),
        "valid_to": element.get("validTo"),
    }
    return marks if any(marks.values()) else {}


def _scheme(urn: Urn, element: etree._Element, context: MessageContext) -> dict[str, Any]:
    """Return the arguments of a scheme of providers or consumers; the agency scheme has no single source."""
    holder = element.getparent()
    scheme = None if holder is None else holder.getparent()
    named = {"names": synthetic_name(urn)}
    if urn.cls == "AgencyScheme" or scheme is None or context.names[scheme.tag] != "OrganisationScheme":
        return named
    arguments, _ = read_maintained(scheme, context)
    # The members are here, so the scheme is not an external reference.
    return named | arguments | {"is_external_reference": False, "structure_url": None}


def _read_contacts(rest: list[Child], names: Names) -> list[Contact]:
    return [_read_contact(element, names, _CONTACTS[kind]) for kind, element in rest if kind in _CONTACTS]


def _read_contact(element: etree._Element, names: Names, kind: str | None) -> Contact:
    arguments, rest = named(element, names)
    implied = InternationalString([("en", kind)]) if kind else NO_TEXT
    roles = international(rest, "Role") or implied
    own = {"kind": kind} if kind and roles != implied else {}
    return (ContactOfKind if own else Contact)(
        **own,
        id=text(rest, "id"),
        names=arguments.get("names", NO_TEXT),
        departments=international(rest, "Department"),
        roles=roles,
        telephones=texts(rest, "Telephone"),
        faxes=texts(rest, "Fax"),
        x400s=texts(rest, "X400"),
        uris=texts(rest, "URI"),
        emails=texts(rest, "Email"),
    )


# Writing

_CONTACT_OF_ROLE: Final = {role: kind for kind, role in _CONTACTS.items() if role is not None}


def write_agencies(organisation_scheme: OrganisationScheme, edition: Edition) -> str:
    """Write the <Agency> elements, which are standalone in 1.0 and in a scheme without meaning in 2.0."""
    if organisation_scheme.organisations.is_stub:
        raise UnwritableError("SDMX-ML before 2.1 cannot represent a scheme of agencies, nor a stub of one")
    found = [_organisation("str:Agency", each, edition) for each in organisation_scheme.organisations.values()]
    if edition.is_10:
        return "".join(found)
    name = el("str:Name", "Agencies", **{"xml:lang": "en"})
    inside = el("str:Agencies", *found) if found else ""
    return el(
        "str:OrganisationScheme",
        name,
        inside,
        id=organisation_scheme.id,
        agencyID=organisation_scheme.agency,
        version=organisation_scheme.version,
    )


def write_providers(organisation_scheme: OrganisationScheme, edition: Edition) -> str:
    """Write an <OrganisationScheme> of data providers or consumers."""
    edition.since_20(True, "data providers and consumers")
    kind = organisation_scheme.urn.cls.removesuffix("Scheme")
    found = [] if organisation_scheme.organisations.is_stub else organisation_scheme.organisations.values()
    inside = [_organisation(f"str:{kind}", each, edition) for each in found]
    return write_maintained(
        "str:OrganisationScheme", organisation_scheme, edition, el(f"str:{kind}s", *inside) if inside else ""
    )


def _organisation(tag: str, organisation: Organisation, edition: Edition) -> str:
    edition.since_20(
        organisation.parent is not None or organisation.annotations, "parents and annotations of organisations"
    )
    return el(
        tag,
        write_texts("str:Name", organisation.names),
        write_texts("str:Description", organisation.descriptions),
        *_write_contacts(organisation.contacts),
        write_annotations(organisation.annotations),
        id=organisation.id,
        uri=organisation.uri,
        parentOrganisation=organisation.parent,
        **_write_own_marks(organisation, edition),
    )


def _write_own_marks(organisation: Organisation, edition: Edition) -> dict[str, str | None]:
    if not isinstance(organisation, (VersionedAgency, VersionedDataProvider, VersionedDataConsumer)):
        return {}
    edition.since_20(organisation.valid_from or organisation.valid_to, "the validity of organisations")
    return {"version": organisation.version, "validFrom": organisation.valid_from, "validTo": organisation.valid_to}


def _write_contacts(found: tuple[Contact, ...]) -> list[str]:
    """Write the contacts: first one of each kind in the order of the schema, then all others with their roles."""
    written: list[str] = []
    kinds = list(_CONTACT_OF_ROLE.values())
    for one in found:
        kind = _CONTACT_OF_ROLE.get(_kind_of(one) or "")
        if kind in kinds:
            del kinds[: kinds.index(kind) + 1]
        else:
            kind = "OtherContact"
            kinds.clear()
        written.append(_write_contact(one, kind))
    return written


def _kind_of(contact: Contact) -> str | None:
    """Return the kind of a contact: its own, or else its only role."""
    if isinstance(contact, ContactOfKind):
        return contact.kind
    return contact.roles.texts[0][1] if len(contact.roles.texts) == 1 else None


def _write_contact(contact: Contact, kind: str) -> str:
    return el(
        f"str:{kind}",
        write_texts("str:Name", contact.names),
        leaf("str:id", contact.id),
        write_texts("str:Department", contact.departments),
        write_texts("str:Role", contact.roles),
        *[leaf("str:Telephone", each) for each in contact.telephones],
        *[leaf("str:Fax", each) for each in contact.faxes],
        *[leaf("str:X400", each) for each in contact.x400s],
        *[leaf("str:URI", each) for each in contact.uris],
        *[leaf("str:Email", each) for each in contact.emails],
    )
