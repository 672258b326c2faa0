"""Organisation schemes of SDMX-ML."""

from __future__ import annotations

from typing import Final

from lxml import etree

from kafka_replica.sdmx.containers import NO_TEXT
from kafka_replica.sdmx.model import (
    Agency,
    AgencyScheme,
    Contact,
    DataConsumer,
    DataConsumerScheme,
    DataProvider,
    DataProviderScheme,
    MetadataProvider,
    MetadataProviderScheme,
    Organisation,
    OrganisationScheme,
    OrganisationUnit,
    OrganisationUnitScheme,
)
from kafka_replica.sdmx.readers.ml.parts import first, international, pick, scheme_items, texts
from kafka_replica.sdmx.readers.ml.tree import Names
from kafka_replica.sdmx.readers.ml.values import Item, local_id, named

_KINDS: Final[dict[str, tuple[type[OrganisationScheme], type[Organisation]]]] = {
    "AgencyScheme": (AgencyScheme, Agency),
    "DataProviderScheme": (DataProviderScheme, DataProvider),
    "DataConsumerScheme": (DataConsumerScheme, DataConsumer),
    "MetadataProviderScheme": (MetadataProviderScheme, MetadataProvider),
    "OrganisationUnitScheme": (OrganisationUnitScheme, OrganisationUnit),
}


def organisation_scheme(item: Item) -> OrganisationScheme:
    """Read an <AgencyScheme>, or another scheme of organisations."""
    urn, base, rest, names = item.parts
    scheme, kind = _KINDS[urn.cls]

    def make(one: Item) -> Organisation:
        parent = first(one.rest, "Parent")
        return kind(
            urn=one.urn,
            contacts=tuple(contact(element, names) for element in pick(one.rest, "Contact")),
            parent=None if parent is None else local_id(parent, names),
            **one.arguments,
        )

    return scheme(
        urn=urn,
        organisations=scheme_items(urn, base, kind.__name__, pick(rest, kind.__name__), names, make),
        **base,
    )


def contact(element: etree._Element, names: Names) -> Contact:
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
