"""Organisation schemes: agencies, providers, consumers, units.

Source: SDMX 3.1 Section 2, "Organisation Scheme"; SDMXStructureOrganisation.xsd.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from kafka_replica.sdmx.containers import NO_TEXT, InternationalString, Items
from kafka_replica.sdmx.model.base import ItemScheme, Nameable
from kafka_replica.sdmx.model.value_object import ValueObject


class Contact(ValueObject, frozen=True, gc=False, kw_only=True):
    """A contact person or office, and the means of contact; each means may occur several times."""

    id: str | None = None
    names: InternationalString = NO_TEXT
    departments: InternationalString = NO_TEXT
    roles: InternationalString = NO_TEXT
    telephones: tuple[str, ...] = ()
    faxes: tuple[str, ...] = ()
    x400s: tuple[str, ...] = ()
    uris: tuple[str, ...] = ()
    emails: tuple[str, ...] = ()


class Organisation(Nameable, frozen=True, gc=False, kw_only=True):
    """The common part of all organisations; ``parent``, for organisation units only, is the id of another unit."""

    contacts: tuple[Contact, ...] = ()
    parent: str | None = None


class Agency(Organisation, frozen=True, gc=False, kw_only=True):
    """An agency, which maintains artefacts."""


class DataProvider(Organisation, frozen=True, gc=False, kw_only=True):
    """A provider of data."""


class DataConsumer(Organisation, frozen=True, gc=False, kw_only=True):
    """A consumer of data."""


class MetadataProvider(Organisation, frozen=True, gc=False, kw_only=True):
    """A provider of reference metadata (3.x)."""


class OrganisationUnit(Organisation, frozen=True, gc=False, kw_only=True):
    """A unit of an organisation."""


class OrganisationScheme(ItemScheme, frozen=True, gc=False, kw_only=True):
    """The common part of all organisation schemes: the organisations by id, in the order of the message."""

    items_field: ClassVar[str] = "organisations"

    organisations: Items[Organisation]


class AgencyScheme(OrganisationScheme, frozen=True, gc=False, kw_only=True):
    """The agencies that an agency maintains (always AGENCIES, 1.0)."""


class DataProviderScheme(OrganisationScheme, frozen=True, gc=False, kw_only=True):
    """The data providers of an agency (always DATA_PROVIDERS, 1.0)."""


class DataConsumerScheme(OrganisationScheme, frozen=True, gc=False, kw_only=True):
    """The data consumers of an agency (always DATA_CONSUMERS, 1.0)."""


class MetadataProviderScheme(OrganisationScheme, frozen=True, gc=False, kw_only=True):
    """The metadata providers of an agency (always METADATA_PROVIDERS, 1.0)."""


class OrganisationUnitScheme(OrganisationScheme, frozen=True, gc=False, kw_only=True):
    """Organisation units, with their parents."""


ORGANISATION_SCHEMES: Final[Mapping[str, tuple[type[OrganisationScheme], type[Organisation]]]] = {
    "AgencyScheme": (AgencyScheme, Agency),
    "DataProviderScheme": (DataProviderScheme, DataProvider),
    "DataConsumerScheme": (DataConsumerScheme, DataConsumer),
    "MetadataProviderScheme": (MetadataProviderScheme, MetadataProvider),
    "OrganisationUnitScheme": (OrganisationUnitScheme, OrganisationUnit),
}
"""The classes of a scheme and of its items, by the name of the scheme's class."""
