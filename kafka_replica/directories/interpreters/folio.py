"""Interpret domain events of FOLIO, the library services platform.

Sources: the README of mod-inventory-storage, section "Domain event pattern"; FOLIO's wiki, "Apache Kafka Messaging
System"; ``DomainEvent`` of mod-entities-links, for ``ts``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from msgspec import Raw, Struct

from kafka_replica.common.json_decoders import json_decoder
from kafka_replica.directories.records.interpretation import DeleteAll, Put
from kafka_replica.records import Record, key_text

_NULL: Final = b"null"
_TENANT_HEADER: Final = "x-okapi-tenant"


class _Event(Struct):
    type: str
    tenant: str | None = None
    new: Raw = Raw(_NULL)
    id: str | None = None
    ts: str | int | None = None


class _Entity(Struct):
    id: str | None = None


_decode_event: Final = json_decoder(_Event).decode
_decode_entity: Final = json_decoder(_Entity).decode


@dataclass(frozen=True, slots=True)
class FolioEvents:
    """An interpreter of the domain events of one tenant.

    ::

        Directory(replica, Instance, interpreter=FolioEvents(tenant="diku"))

    CREATE and UPDATE put the state ``new`` under the record's key, and DELETE puts nothing. DELETE_ALL deletes all
    older entities, compared by the event's ``ts`` if it has one. Events of other tenants put nothing.

    An event is bad in these cases:

    * It has another type, such as REINDEX, which replaces the record of its key but has no state.
    * Its key is not the id of its entity. The key of items, for example, is their instance: a replica keeps one record
      of each key, so the other items of the instance would be lost.
    * The header ``X-Okapi-Tenant`` names a tenant other than that of the event, or neither names a tenant.
    * It is a DELETE_ALL of another tenant, which replaces an earlier DELETE_ALL of this tenant: both have the same key.

    Args:
        tenant: the tenant, such as ``diku``.
    """

    tenant: str

    def __call__(self, record: Record) -> Put | DeleteAll | None:
        """Return the entity that an event puts, or its deletion; None if it puts nothing."""
        event = _decode_event(record.value or b"")
        tenant = _tenant(record, event)
        time_ms = None if event.ts is None else int(event.ts)
        if event.type == "DELETE_ALL":
            if tenant != self.tenant:
                raise ValueError(
                    f"the tenant {tenant} deletes all of its entities, under a key that {self.tenant} also uses; "
                    "use a topic for each tenant"
                )
            return DeleteAll(time_ms=time_ms)
        if event.type not in {"CREATE", "UPDATE", "DELETE"}:
            raise ValueError(f"the event's type {event.type} does not state its entity's new state")
        if tenant != self.tenant or event.type == "DELETE":
            return None
        return Put(_key(record, event), bytes(event.new), time_ms=time_ms)


def _tenant(record: Record, event: _Event) -> str:
    header = next((value for name, value in reversed(record.headers) if name.lower() == _TENANT_HEADER), None)
    named = {name for name in (event.tenant, header.decode() if header else None) if name}
    if len(named) != 1:
        raise ValueError(f"the event names the tenants {', '.join(sorted(named))}" if named else "it names no tenant")
    return named.pop()


def _key(record: Record, event: _Event) -> str:
    """Return the record's key; raise ValueError unless it is the id of the entity."""
    if bytes(event.new) == _NULL:
        raise ValueError(f"the event's type is {event.type}, but it has no new state")
    key, entity = key_text(record.key), _decode_entity(event.new).id or event.id
    if key != entity:
        raise ValueError(
            f"the key of the record is not the id of its entity, {entity}: a replica keeps one record of each key, so "
            "entities that share a key would replace each other"
        )
    return key
