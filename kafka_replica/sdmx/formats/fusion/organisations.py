"""Organisation schemes of Fusion-JSON."""

from __future__ import annotations

from kafka_replica.sdmx.containers import items_of, stored_items
from kafka_replica.sdmx.formats.fusion.values import (
    Text,
    Wire,
    WireMaintainable,
    WireNameable,
    read_maintained,
    read_named,
    read_texts,
    write_maintained,
    write_named,
    write_texts,
)
from kafka_replica.sdmx.formats.json_shared.items import read_items
from kafka_replica.sdmx.formats.json_shared.values import Json, obj
from kafka_replica.sdmx.model.organisations import (
    ORGANISATION_SCHEMES,
    Contact,
    Organisation,
    OrganisationScheme,
)
from kafka_replica.sdmx.urns.urn import Urn


class WireContact(Wire, gc=False):
    """A contact."""

    id: str | None = None
    names: list[Text] | None = None
    departments: list[Text] | None = None
    roles: list[Text] | None = None
    email: list[str] | str | None = None
    telephone: list[str] | str | None = None
    fax: list[str] | str | None = None
    x400: list[str] | str | None = None
    uri: list[str] | str | None = None


class WireOrganisation(WireNameable, gc=False):
    """An organisation."""

    contacts: list[WireContact] | None = None
    parent: str | None = None


class WireOrganisationScheme(WireMaintainable, gc=False):
    """A scheme of organisations."""

    items: list[WireOrganisation] | None = None


def read_organisation_scheme(urn: Urn, wire: WireOrganisationScheme) -> OrganisationScheme:
    """Build an AgencyScheme, or another scheme of organisations."""
    scheme, kind = ORGANISATION_SCHEMES[urn.cls]

    def make(own: Urn, organisation: WireOrganisation) -> Organisation:
        contacts = tuple(_read_contact(contact) for contact in organisation.contacts or ())
        return kind(urn=own, contacts=contacts, parent=organisation.parent, **read_named(organisation))

    base = read_maintained(wire)
    found = read_items(urn, kind.__name__, wire.items, make)
    return scheme(urn=urn, organisations=items_of(urn, found, is_stub=base["is_external_reference"]), **base)


def _read_contact(wire: WireContact) -> Contact:
    return Contact(
        id=wire.id,
        names=read_texts(wire.names),
        departments=read_texts(wire.departments),
        roles=read_texts(wire.roles),
        telephones=_several(wire.telephone),
        faxes=_several(wire.fax),
        x400s=_several(wire.x400),
        uris=_several(wire.uri),
        emails=_several(wire.email),
    )


def _several(value: list[str] | str | None) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value or ())


def write_organisation_scheme(organisation_scheme: OrganisationScheme) -> Json:
    """Write a scheme of organisations of any kind."""
    found = [
        obj(write_named(each), parent=each.parent, contacts=[_write_contact(contact) for contact in each.contacts])
        for each in stored_items(organisation_scheme.organisations)
    ]
    return obj(write_maintained(organisation_scheme), items=found)


def _write_contact(contact: Contact) -> Json:
    return obj(
        id=contact.id,
        names=write_texts(contact.names),
        departments=write_texts(contact.departments),
        roles=write_texts(contact.roles),
        telephone=list(contact.telephones),
        fax=list(contact.faxes),
        x400=list(contact.x400s),
        uri=list(contact.uris),
        email=list(contact.emails),
    )
