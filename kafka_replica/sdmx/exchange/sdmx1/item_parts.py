"""Parts of items that only one class has, in both directions: contacts, core representations, VTL mappings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from kafka_replica.sdmx.exchange.sdmx1.library import sdmx1
from kafka_replica.sdmx.exchange.sdmx1.representations import representation_from, representation_to
from kafka_replica.sdmx.exchange.sdmx1.shared_parts import Edition, reference_from, reference_to, texts_from
from kafka_replica.sdmx.model import Contact, Organisation, VtlMapping, VtlMethod
from kafka_replica.sdmx.model.representation import ItemReference


def _contacts_to(organisation: Organisation, _: Edition) -> list[Any]:
    return [
        sdmx1().common.Contact(
            name=dict(contact.names),
            org_unit=dict(contact.departments),
            responsibility=dict(contact.roles),
            telephone=contact.telephones[0] if contact.telephones else None,
            email=list(contact.emails),
            fax=list(contact.faxes),
            uri=list(contact.uris),
            x400=list(contact.x400s),
        )
        for contact in organisation.contacts
    ]


def _contacts_from(obj: Any) -> tuple[Contact, ...]:
    return tuple(
        Contact(
            names=texts_from(contact.name),
            departments=texts_from(contact.org_unit),
            roles=texts_from(contact.responsibility),
            telephones=() if contact.telephone is None else (contact.telephone,),
            emails=tuple(contact.email),
            faxes=tuple(contact.fax),
            uris=tuple(contact.uri),
            x400s=tuple(contact.x400),
        )
        for contact in obj.contact
    )


def _iso_to(value: Any, _: Edition) -> Any:
    iso = value.iso_concept
    return None if iso is None else sdmx1().common.ISOConceptReference(iso.agency, iso.id, iso.scheme)


def _iso_from(obj: Any) -> ItemReference | None:
    iso = obj.iso_concept
    return None if iso is None else ItemReference(agency=iso.agency, scheme=iso.scheme_id, id=iso.id)


def _sdmx_to_vtl(vtl_mapping: VtlMapping, _: Edition) -> Any:
    method = (
        None if vtl_mapping.to_vtl is None or vtl_mapping.to_vtl.method is None else vtl_mapping.to_vtl.method.lower()
    )
    methods = sdmx1().common.SDMXtoVTL
    return methods[method] if method in methods.__members__ else None


def _method_from(obj: Any) -> VtlMethod | None:
    keys = tuple(to_vtl_subspace.key for to_vtl_subspace in obj.to_vtl_subspace)
    if obj.to_vtl_method is None and not keys:
        return None
    name = None if obj.to_vtl_method is None else obj.to_vtl_method.name
    return VtlMethod(method=None if name is None else name[:1].upper() + name[1:], space_keys=keys)


def _keys_to(vtl_mapping: VtlMapping, _: Edition) -> list[Any]:
    keys = () if vtl_mapping.to_vtl is None else vtl_mapping.to_vtl.space_keys
    return [sdmx1().common.ToVTLSpaceKey(key) for key in keys]


def _mapped_to(vtl_mapping: VtlMapping, edition: Edition) -> Any:
    return reference_to(vtl_mapping.mapped, edition)


_ORGANISATIONS: Final = ("Agency", "DataProvider", "DataConsumer", "MetadataProvider")

EXTRAS_TO: Final[dict[str, dict[str, Callable[[Any, Edition], Any]]]] = {
    **{name: {"contact": _contacts_to} for name in _ORGANISATIONS},
    "Concept": {
        "core_representation": lambda one, edition: representation_to(one.core_representation, edition),
        "iso_concept": _iso_to,
    },
    "VTLDataflowMapping": {
        "dataflow_alias": _mapped_to,
        "to_vtl_method": _sdmx_to_vtl,
        "to_vtl_subspace": _keys_to,
    },
    "VTLConceptMapping": {"concept_alias": _mapped_to},
}
"""Class of sdmx1 -> its field -> the function that builds it from our item."""

EXTRAS_FROM: Final[dict[str, dict[str, Callable[[Any], Any]]]] = {
    **{name: {"contacts": _contacts_from} for name in _ORGANISATIONS},
    "Concept": {
        "core_representation": lambda obj: representation_from(obj.core_representation),
        "iso_concept": _iso_from,
    },
    "VTLDataflowMapping": {"mapped": lambda obj: reference_from(obj.dataflow_alias), "to_vtl": _method_from},
    "VTLConceptMapping": {"mapped": lambda obj: reference_from(obj.concept_alias)},
}
"""Class of sdmx1 -> our field -> the function that builds it from sdmx1's item."""
