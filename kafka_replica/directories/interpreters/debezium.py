"""Interpret change events of Debezium.

Sources: the documentation of Debezium's connector for PostgreSQL (sections "Data change events", "Truncate events",
"Primary key updates", "Tombstone events", "Toasted values"), of "New Record State Extraction", and of transaction
metadata.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import Final

from msgspec import Raw, Struct

from kafka_replica.common.json_decoders import json_decoder
from kafka_replica.directories.interpreters.connect_json import ConnectJson
from kafka_replica.directories.interpreters.connect_types import convert_logical_types
from kafka_replica.directories.records.interpretation import DeleteAll, Put
from kafka_replica.records import Record

_NULL: Final = b"null"

_HEARTBEAT: Final = {"ts_ms"}
_TRANSACTION: Final = {"status", "id", "event_count"}
_SCHEMA_CHANGE: Final = {"databaseName", "ddl"}  # not from PostgreSQL


class _Source(Struct):
    ts_ms: int | None = None
    name: str = ""
    db: str = ""
    schema: str | None = None
    table: str | None = None
    collection: str | None = None

    @property
    def scope(self) -> str:
        return ".".join(part for part in (self.name, self.db, self.schema, self.table or self.collection) if part)


class _Envelope(Struct):
    op: str | None = None
    after: Raw = Raw(_NULL)
    source: _Source | None = None


_decode_envelope: Final = json_decoder(_Envelope).decode
_decode_fields: Final = json_decoder(dict[str, Raw]).decode


@dataclass(frozen=True, slots=True)
class DebeziumEvents:
    """An interpreter of Debezium's change events, in JSON with or without schemas.

    ::

        Directory(replica, Terminal, interpreter=DebeziumEvents())

    Created, updated and snapshot rows (``op`` c, u and r) put their state ``after``. Deleted rows (d) put nothing, and
    neither do heartbeats, logical messages (m), transaction metadata and schema changes. Keys, decimals, dates and
    times are treated as by ``ConnectJson``.

    A truncate event (t) with a key deletes all older rows of its table. Debezium writes it without a key: a compacted
    topic refuses it then, and in other topics it is a bad record of the replica. Keep ``skipped.operations`` at its
    default, t.

    Args:
        flattened: whether the events are rows from the transformation ExtractNewRecordState; rows marked ``__deleted``
            are deletions.
        schemas: whether values and keys have a schema; None means that this is detected.
        unavailable_value: the connector's ``unavailable.value.placeholder``, for a large value that PostgreSQL did not
            send because it has not changed. A row with the placeholder is bad, because compaction may have removed the
            record with the value.
    """

    flattened: bool = False
    schemas: bool | None = None
    unavailable_value: str = "__debezium_unavailable_value"

    def __call__(self, record: Record) -> Put | DeleteAll | None:
        """Return the row that an event puts, or its deletion; None if it puts nothing."""
        connect = ConnectJson(self.schemas)
        payload, schema = connect.read(record.value or b"")
        if payload == _NULL:
            return None
        if self.flattened:
            if _is_deleted(payload):
                return None
            self._check_is_whole(payload)
            return Put(connect.key(record), convert_logical_types(payload, schema))
        envelope = _decode_envelope(payload)
        source = envelope.source or _Source()
        if envelope.op == "t":
            return DeleteAll(source.scope, source.ts_ms)
        row = _row(envelope, payload)
        if row is None:
            return None
        self._check_is_whole(row)
        return Put(connect.key(record), convert_logical_types(row, schema, "after"), source.scope, source.ts_ms)

    def _check_is_whole(self, row: bytes) -> None:
        marks = self.unavailable_value.encode(), b64encode(self.unavailable_value.encode())
        if any(b'"' + mark + b'"' in row for mark in marks):
            raise ValueError(
                "a large value is missing because it has not changed; set REPLICA IDENTITY FULL for the table, or "
                "let the connector select the value (reselect columns post processor)"
            )


def _row(envelope: _Envelope, payload: bytes) -> bytes | None:
    """Return the state of a row after a change; None if the row was deleted, or the event is not about a row.

    Raises:
        ValueError: the payload is not an event of Debezium.
    """
    if envelope.op in {"c", "u", "r"}:
        row = bytes(envelope.after)
        if row == _NULL:
            raise ValueError(f"an event with op={envelope.op} has no state after")
        return row
    if envelope.op in {"d", "m"}:
        return None
    if envelope.op is None:
        fields = _decode_fields(payload).keys()
        if fields == _HEARTBEAT or fields >= _TRANSACTION or fields >= _SCHEMA_CHANGE:
            return None
        raise ValueError("it is not an event of Debezium: it has no op; set flattened=True if the events are rows")
    raise ValueError(f"Debezium has no op={envelope.op!r}")


def _is_deleted(payload: bytes) -> bool:
    """Return whether a flattened row is marked as deleted."""
    return b'"__deleted"' in payload and bytes(_decode_fields(payload).get("__deleted", b"")) in {b'"true"', b"true"}
