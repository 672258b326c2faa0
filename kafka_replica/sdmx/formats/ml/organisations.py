"""Organisation schemes of SDMX-ML."""

from __future__ import annotations

from lxml import etree

from kafka_replica.sdmx.containers import NO_TEXT
from kafka_replica.sdmx.formats.ml.reading.child_elements import first, international, pick, scheme_items, texts
from kafka_replica.sdmx.formats.ml.reading.tree import Names
from kafka_replica.sdmx.formats.ml.reading.values import Item, local_id, named
from kafka_replica.sdmx.formats.ml.writing.edition import Edition
from kafka_replica.sdmx.formats.ml.writing.values import artefact, item, write_texts
from kafka_replica.sdmx.formats.ml.writing.xml import el, escaped_text
from kafka_replica.sdmx.model.organisations import (
    ORGANISATION_SCHEMES,
    Contact,
    Organisation,
    OrganisationScheme,
    OrganisationUnit,
)

# Reading


def read_organisation_scheme(item: Item) -> OrganisationScheme:
    """Read an <AgencyScheme>, or another scheme of organisations."""
    urn, base, rest, names = item.parts
    scheme, kind = ORGANISATION_SCHEMES[urn.cls]

    def make(one: Item) -> Organisation:
        parent = first(one.rest, "Parent")
        return kind(
            urn=one.urn,
            contacts=tuple(_read_contact(element, names) for element in pick(one.rest, "Contact")),
            parent=None if parent is None else local_id(parent, names),
            **one.arguments,
        )

    return scheme(
        urn=urn,
        organisations=scheme_items(urn, base, kind.__name__, pick(rest, kind.__name__), names, make),
        **base,
    )


def _read_contact(element: etree._Element, names: Names) -> Contact:
    """Read a <Contact>."""
    arguments, rest = named(element, names)
    return Contact(
        id=element.get("id"),
        names=arguments.get("names", NO_TEXT),
        departments=international(rest, "Department"),
        roles=international(rest, "Role"),
        telephones=texts(rest, "Telephone"),
        faxes=texts(rest, "Fax"),
        x400s=texts(rest, "X400"),
        uris=texts(rest, "URI"),
        emails=texts(rest, "Email"),
    )


# Writing


def write_organisation_scheme(organisation_scheme: OrganisationScheme, edition: Edition) -> str:
    """Write an <AgencyScheme>, or another scheme of organisations."""
    found = [] if organisation_scheme.organisations.is_stub else list(organisation_scheme.organisations.values())
    return artefact(
        f"str:{organisation_scheme.urn.cls}",
        organisation_scheme,
        edition,
        [_organisation(each, edition) for each in found],
    )


def _organisation(organisation: Organisation, edition: Edition) -> str:
    parent = edition.local("str:Parent", organisation.parent)
    contacts = [_contact(each) for each in organisation.contacts]
    if parent and not isinstance(organisation, OrganisationUnit):
        parent = ""  # the schema allows parents only for units; the comparison after reading back reports the loss
    return item(f"str:{organisation.urn.cls}", organisation, edition, parent, *contacts)


def _contact(contact: Contact) -> str:
    return el(
        "str:Contact",
        write_texts("com:Name", contact.names),
        write_texts("str:Department", contact.departments),
        write_texts("str:Role", contact.roles),
        *[f"<str:Telephone>{escaped_text(each)}</str:Telephone>" for each in contact.telephones],
        *[f"<str:Fax>{escaped_text(each)}</str:Fax>" for each in contact.faxes],
        *[f"<str:X400>{escaped_text(each)}</str:X400>" for each in contact.x400s],
        *[f"<str:URI>{escaped_text(each)}</str:URI>" for each in contact.uris],
        *[f"<str:Email>{escaped_text(each)}</str:Email>" for each in contact.emails],
        id=contact.id,
    )
