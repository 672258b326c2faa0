"""Organisations, categories, provisions and VTL schemes of Fusion-JSON: structs and their conversion to the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from kafka_replica.sdmx.containers import Items, items_of, parts_of
from kafka_replica.sdmx.formats.fusion.common import maintained, named, texts_of
from kafka_replica.sdmx.formats.fusion.wire import Text, Wire, WireMaintainable, WireNameable
from kafka_replica.sdmx.formats.json_shared.values import item_urn, reference
from kafka_replica.sdmx.model import (
    Agency,
    AgencyScheme,
    Categorisation,
    Category,
    CategoryScheme,
    Contact,
    DataConsumer,
    DataConsumerScheme,
    DataProvider,
    DataProviderScheme,
    MetadataProvider,
    MetadataProviderScheme,
    MetadataProvisionAgreement,
    Organisation,
    OrganisationScheme,
    OrganisationUnit,
    OrganisationUnitScheme,
    ProvisionAgreement,
)
from kafka_replica.sdmx.urn import Urn

T = TypeVar("T")
W = TypeVar("W", bound=WireNameable)

_ORGANISATIONS: Final[dict[str, tuple[type[OrganisationScheme], type[Organisation]]]] = {
    "AgencyScheme": (AgencyScheme, Agency),
    "DataProviderScheme": (DataProviderScheme, DataProvider),
    "DataConsumerScheme": (DataConsumerScheme, DataConsumer),
    "MetadataProviderScheme": (MetadataProviderScheme, MetadataProvider),
    "OrganisationUnitScheme": (OrganisationUnitScheme, OrganisationUnit),
}


def read_items(
    holder: Urn, class_: str, wires: list[W] | None, make: Callable[[Urn, W], T], path: str | None = None
) -> dict[str, T]:
    """Return items by id; ``path`` is the path of their parent. Raises MessageError."""
    found: dict[str, T] = {}
    for wire in wires or ():
        # The id is checked alone first: a missing id must not hide behind the path.
        own = item_urn(holder, class_, wire.id, found)
        if path:
            own = item_urn(holder, class_, f"{path}.{wire.id}", {})
        found[wire.id or ""] = make(own, wire)
    return found


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


def organisation_scheme(urn: Urn, wire: WireOrganisationScheme) -> OrganisationScheme:
    """Build an AgencyScheme, or another scheme of organisations."""
    scheme, kind = _ORGANISATIONS[urn.cls]

    def make(own: Urn, one: WireOrganisation) -> Organisation:
        contacts = tuple(_contact(contact) for contact in one.contacts or ())
        return kind(urn=own, contacts=contacts, parent=one.parent, **named(one))

    base = maintained(wire)
    found = read_items(urn, kind.__name__, wire.items, make)
    return scheme(urn=urn, organisations=items_of(urn, found, is_stub=base["is_external_reference"]), **base)


def _contact(wire: WireContact) -> Contact:
    return Contact(
        id=wire.id,
        names=texts_of(wire.names),
        departments=texts_of(wire.departments),
        roles=texts_of(wire.roles),
        telephones=_several(wire.telephone),
        faxes=_several(wire.fax),
        x400s=_several(wire.x400),
        uris=_several(wire.uri),
        emails=_several(wire.email),
    )


def _several(value: list[str] | str | None) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value or ())


class WireCategory(WireNameable, gc=False):
    """A category."""

    items: list[WireCategory] | None = None


class WireCategoryScheme(WireMaintainable, gc=False):
    """A category scheme."""

    items: list[WireCategory] | None = None


def category_scheme(urn: Urn, wire: WireCategoryScheme) -> CategoryScheme:
    """Build a CategoryScheme."""
    base = maintained(wire)
    found = read_items(urn, "Category", wire.items, _category)
    return CategoryScheme(urn=urn, categories=items_of(urn, found, is_stub=base["is_external_reference"]), **base)


def _category(own: Urn, wire: WireCategory) -> Category:
    below = read_items(own, "Category", wire.items, _category, own.item)
    return Category(urn=own, categories=Items(below), **named(wire))


class WireCategorisation(WireMaintainable, gc=False):
    """A categorisation."""

    structure_reference: str | None = None
    category_reference: str | None = None


def categorisation(urn: Urn, wire: WireCategorisation) -> Categorisation:
    """Build a Categorisation."""
    return Categorisation(
        urn=urn,
        source=reference(wire.structure_reference, urn),
        target=reference(wire.category_reference, urn),
        **maintained(wire),
    )


class WireProvision(WireMaintainable, gc=False):
    """A provision agreement; registries write the key of the provider in lower case."""

    structure_usage: str | None = None
    dataprovider_ref: str | None = None


def provision_agreement(urn: Urn, wire: WireProvision) -> ProvisionAgreement:
    """Build a ProvisionAgreement."""
    return ProvisionAgreement(
        urn=urn,
        structure_usage=reference(wire.structure_usage, urn),
        data_provider=reference(wire.dataprovider_ref, urn),
        **maintained(wire),
    )


class WireMetadataProvision(WireMaintainable, gc=False):
    """A provision agreement for metadata."""

    metadataflow_ref: str | None = None
    metadataprovider_ref: str | None = None
    targets: list[str] | None = None


def metadata_provision_agreement(urn: Urn, wire: WireMetadataProvision) -> MetadataProvisionAgreement:
    """Build a MetadataProvisionAgreement."""
    base = maintained(wire)
    flow = reference(wire.metadataflow_ref, urn)
    return MetadataProvisionAgreement(
        urn=urn,
        metadataflow=flow,
        metadata_provider=reference(wire.metadataprovider_ref, urn),
        targets=parts_of(urn, wire.targets or (), is_stub=base["is_external_reference"] and flow is None),
        **base,
    )
