"""Interpret records of Kafka Connect's JsonConverter.

The converter writes a value as JSON, alone or with its schema (``schemas.enable``): ``{"schema": {...}, "payload":
...}``. A null value with a schema is not a tombstone: the converter writes the four bytes ``null``, or a null payload.
Both forms delete the key. Source: ``org.apache.kafka.connect.json.JsonConverter``.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, NamedTuple

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Encoder

from kafka_replica.common.json_decoders import json_decoder
from kafka_replica.directories.interpreters.connect_types import convert_logical_types
from kafka_replica.directories.records.interpretation import Put
from kafka_replica.records import Record

_NULL: Final = b"null"


class _WithSchema(Struct, forbid_unknown_fields=True):
    """A key or value as written with ``schemas.enable=true``."""

    schema: Raw
    payload: Raw


_with_schema: Final = json_decoder(_WithSchema)
_decode: Final = json_decoder(float_hook=Decimal).decode  # so that keys with different digits remain different
_encode: Final = Encoder(decimal_format="number").encode


class ConnectValue(NamedTuple):
    """A key or value, and its schema."""

    payload: bytes
    """The payload as JSON text."""
    schema: bytes | None


@dataclass(frozen=True, slots=True)
class ConnectJson:
    """An interpreter of records that Kafka Connect's JsonConverter has written, with or without schemas.

    ::

        Directory(replica, Terminal, interpreter=ConnectJson())

    The directory's key is derived from the record's key: for a struct with one field, it is the field's value as text,
    ``"7"`` for ``{"id": 7}``; for a struct with several fields, their JSON without spaces,
    ``'{"bank":1,"terminal":7}'``; otherwise the text itself. With a schema, decimals become numbers, and dates and
    times become texts in ISO 8601; without a schema, they remain as the converter writes them.

    Args:
        schemas: whether values and keys have a schema; None means that this is detected. Set it if the rows of a table
            have exactly the fields ``schema`` and ``payload``.
    """

    schemas: bool | None = None

    def __call__(self, record: Record) -> Put | None:
        """Return the payload that a record puts; None if the payload is null."""
        payload, schema = self.read(record.value or b"")
        return None if payload == _NULL else Put(self.key(record), convert_logical_types(payload, schema))

    def read(self, data: bytes) -> ConnectValue:
        """Separate the payload of a key or value from its schema.

        Raises:
            ValueError: a schema is required (``schemas=True``), but missing.
        """
        may_have = b'"payload"' in data and b'"schema"' in data
        if self.schemas is False or (self.schemas is None and not may_have):
            return ConnectValue(data, None)
        try:
            found = _with_schema.decode(data)
        except DecodeError as error:
            if self.schemas and data != _NULL:
                raise ValueError(
                    f"it has no schema and payload: {error}; set schemas=False if it should not"
                ) from error
            return ConnectValue(data, None)
        schema = bytes(found.schema)
        return ConnectValue(bytes(found.payload), None if schema == _NULL else schema)

    def key(self, record: Record) -> str:
        """Return the directory's key for a record."""
        payload, schema = self.read(record.key)
        return _key_text(convert_logical_types(payload, schema))


def _key_text(payload: bytes) -> str:
    if payload[:1] in {b"{", b'"'}:
        try:
            found: Any = _decode(payload)
        except (DecodeError, ArithmeticError):  # the latter for an exponent that a Decimal cannot have
            return payload.decode()  # because StringConverter writes any text, not only JSON
        if isinstance(found, dict):
            found = next(iter(found.values())) if len(found) == 1 else found
        return key_of(found)
    return payload.decode()


def key_of(found: Any) -> str:
    """Return the directory's key for a value that was decoded with its fractions as Decimal."""
    return found if isinstance(found, str) else _encode(found).decode()
