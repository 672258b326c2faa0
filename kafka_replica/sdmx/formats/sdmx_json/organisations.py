"""Organisation schemes of SDMX-JSON."""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx.containers import InternationalString, stored_items
from kafka_replica.sdmx.formats.json_shared.items import read_items
from kafka_replica.sdmx.formats.json_shared.values import Json, obj
from kafka_replica.sdmx.formats.sdmx_json.edition import Edition
from kafka_replica.sdmx.formats.sdmx_json.items import item_scheme, local_id, written_id
from kafka_replica.sdmx.formats.sdmx_json.values.reading import Context
from kafka_replica.sdmx.formats.sdmx_json.values.wire import Localised, Wire, WireMaintainable, WireNameable
from kafka_replica.sdmx.formats.sdmx_json.values.writing import write_maintained, write_named, write_texts
from kafka_replica.sdmx.model.organisations import (
    ORGANISATION_SCHEMES,
    Contact,
    Organisation,
    OrganisationScheme,
    OrganisationUnit,
)
from kafka_replica.sdmx.urns.urn import Urn


class WireContact(Wire, gc=False):
    """A contact; some writers put texts by language under the singular names."""

    id: str | None = None
    name: str | Localised = None
    names: Localised = None
    department: str | Localised = None
    departments: Localised = None
    role: str | Localised = None
    roles: Localised = None
    telephones: list[str] | None = None
    faxes: list[str] | None = None
    x400s: list[str] | None = None
    uris: list[str] | None = None
    emails: list[str] | None = None


class WireOrganisation(WireNameable, gc=False):
    """An organisation; the parent of a unit is a URN in 1.0."""

    contacts: list[WireContact] | None = None
    parent: str | None = None


class WireOrganisationScheme(WireMaintainable, gc=False):
    """A scheme; each class has its own name for the list of organisations."""

    agencies: list[WireOrganisation] | None = None
    data_providers: list[WireOrganisation] | None = None
    data_consumers: list[WireOrganisation] | None = None
    metadata_providers: list[WireOrganisation] | None = None
    organisation_units: list[WireOrganisation] | None = None


_LISTS: Final = {
    "AgencyScheme": ("agencies", "agencies"),
    "DataProviderScheme": ("data_providers", "dataProviders"),
    "DataConsumerScheme": ("data_consumers", "dataConsumers"),
    "MetadataProviderScheme": ("metadata_providers", "metadataProviders"),
    "OrganisationUnitScheme": ("organisation_units", "organisationUnits"),
}
"""The field that has the list of organisations, and its name in JSON, by the class of the scheme."""


def read_organisation_scheme(urn: Urn, wire: WireOrganisationScheme, context: Context) -> OrganisationScheme:
    """Build a scheme of any kind of organisation."""
    scheme, kind = ORGANISATION_SCHEMES[urn.cls]
    field, _ = _LISTS[urn.cls]

    def organisation(own: Urn, one: WireOrganisation) -> Organisation:
        return kind(
            urn=own,
            contacts=tuple(_read_contact(contact, context) for contact in one.contacts or ()),
            parent=None if one.parent is None else local_id(one.parent),
            **context.named(one),
        )

    found = read_items(urn, kind.__name__, getattr(wire, field), organisation)
    return scheme(urn=urn, organisations=item_scheme(urn, wire, found), **context.maintained(wire))


def _read_contact(wire: WireContact, context: Context) -> Contact:
    return Contact(
        id=wire.id,
        names=_texts(context, wire.name, wire.names),
        departments=_texts(context, wire.department, wire.departments),
        roles=_texts(context, wire.role, wire.roles),
        telephones=tuple(wire.telephones or ()),
        faxes=tuple(wire.faxes or ()),
        x400s=tuple(wire.x400s or ()),
        uris=tuple(wire.uris or ()),
        emails=tuple(wire.emails or ()),
    )


def _texts(context: Context, best: str | Localised, localised: Localised) -> InternationalString:
    return context.texts(None, localised or best) if isinstance(best, dict) else context.texts(best, localised)


def write_organisation_scheme(organisation_scheme: OrganisationScheme, edition: Edition) -> Json:
    """Write a scheme of any kind of organisation."""
    found = [
        _write_organisation(organisation_scheme.urn, each, edition)
        for each in stored_items(organisation_scheme.organisations)
    ]
    _, name = _LISTS[organisation_scheme.urn.cls]
    return obj(write_maintained(organisation_scheme, edition), {name: found})


def _write_organisation(scheme: Urn, organisation: Organisation, edition: Edition) -> Json:
    parent = written_id(scheme, organisation.urn.cls, organisation.parent, edition)
    if edition.is_21 and not isinstance(organisation, OrganisationUnit):
        parent = None  # the schema allows parents only for units; the comparison after reading back reports the loss
    return obj(
        write_named(organisation, edition),
        contacts=[_write_contact(each, edition) for each in organisation.contacts],
        parent=parent,
    )


def _write_contact(contact: Contact, edition: Edition) -> Json:
    edition.since_2(contact.id is not None, "the id of a contact")
    return obj(
        write_texts("name", "names", contact.names),
        write_texts("department", "departments", contact.departments),
        write_texts("role", "roles", contact.roles),
        id=contact.id,
        telephones=list(contact.telephones),
        faxes=list(contact.faxes),
        x400s=list(contact.x400s),
        uris=list(contact.uris),
        emails=list(contact.emails),
    )
