"""The piece for values that are serialised by the schemas of a registry: Avro, JSON Schema, Protobuf."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, Self
from uuid import UUID

from confluent_kafka.serialization import MessageField, SerializationContext

from kafka_replica.errors import ConfigurationError
from kafka_replica.headers.errors import ServiceUnavailableError
from kafka_replica.headers.pieces.protection import refuse_protection_before
from kafka_replica.headers.pieces.service_failures import service_failure
from kafka_replica.headers.stacks.header_keys import HeaderKey
from kafka_replica.headers.stacks.piece import Form, Piece, PieceInput, PieceOutput

_ID: Final = HeaderKey("__value_schema_id")  # the header of Confluent's serializers
_MAGIC: Final = b"\0"  # the first byte of a value that begins with the id of its schema
_FRAME_BYTES: Final = 5  # with the id, a big-endian number
_GUID_FRAME_BYTES: Final = 17

Serializer = Callable[[Any, SerializationContext], bytes | None]
"""A serializer of Confluent's client, from an object to bytes with the id of the schema."""

Deserializer = Callable[[bytes, SerializationContext], Any]
"""A deserializer of Confluent's client, from such bytes to an object."""


class RegistrySchemas(Piece):
    """Conversion of values from the format of Confluent's serializers to another format for readers, such as JSON.

    Subject strategies, the registration and evolution of schemas, and whether the id of the schema is at the beginning
    of the value or in the header ``__value_schema_id``, are options of the serializers. Give them a
    ``CachedRegistryClient``: it keeps schemas in a file, so that a restart does not need the registry, and records are
    not bad because the registry does not answer. Tombstones pass unchanged.

    Args:
        deserializer: decodes the values in the log, such as ``AvroDeserializer(client)``.
        encode: encodes a deserialised object for readers, for example ``msgspec.json.encode``.
        serializer: for producers: encodes an object for the log, such as ``AvroSerializer(client, schema)``.
        decode: for producers: decodes the application's bytes to an object for the serializer.
        unframed: ``"refuse"`` makes a record without the id of a schema bad; ``"accept"`` lets it pass.
        version: a name for the results of these functions; a store on disk is rebuilt when you change it.

    Raises:
        ConfigurationError: an argument is invalid.
    """

    name = "registry schemas"
    keys = (_ID,)
    accepts = frozenset({Form.PLAIN})

    def __init__(
        self,
        deserializer: Deserializer,
        encode: Callable[[Any], bytes],
        *,
        serializer: Serializer | None = None,
        decode: Callable[[bytes], Any] | None = None,
        unframed: Literal["refuse", "accept"] = "refuse",
        version: str = "",
    ) -> None:
        if not all(map(callable, (deserializer, encode))):
            raise ConfigurationError("RegistrySchemas needs a deserializer, and a function that encodes objects")
        if (serializer is None) != (decode is None):
            raise ConfigurationError("serializer= and decode= go together")
        if unframed not in {"refuse", "accept"}:
            raise ConfigurationError(f"unframed={unframed!r} is not possible; use 'refuse' or 'accept'")
        self._deserialize = deserializer
        self._encode = encode
        self._serialize = serializer
        self._decode = decode
        self._unframed = unframed
        self._version = version

    @property
    def identity(self) -> str:
        """The kind of the deserializer, and the version."""
        return f"{type(self._deserialize).__name__}; unframed {self._unframed}; {self._version}"

    def placed_after(self, earlier: Sequence[Piece]) -> Self:
        """Return the piece itself.

        Raises:
            ConfigurationError: a signature or encryption comes before this piece, and would be verified after the value
                was converted.
        """
        refuse_protection_before(self, earlier)
        return self

    def outgoing(self, record: PieceInput) -> PieceOutput:
        """Serialise the value by its schema."""
        if self._serialize is None or self._decode is None:
            raise ConfigurationError("this stack can only read: give RegistrySchemas a serializer, and decode=")
        if record.own_headers:
            raise ValueError(f"the record already has a header {_ID.name}")
        if record.value is None:
            return PieceOutput(None)
        headers: list[tuple[str, Any]] = []  # Confluent's serializer appends the id here if it writes it to a header
        value = self._serialize(self._decode(record.value), _context(record, headers))
        return PieceOutput(value, tuple(headers))

    def incoming(self, record: PieceInput) -> PieceOutput:
        """Deserialise the value, and encode the object for readers."""
        value = record.value
        if value is None:
            return PieceOutput(None, ())
        if self._unframed == "accept" and not record.own_headers and not value.startswith(_MAGIC):
            return PieceOutput(value)
        try:
            decoded = self._deserialize(value, _context(record, list(record.own_headers)))
        except Exception as error:
            failure = service_failure(error)
            if failure is None:
                raise
            # The request may be another one, such as that for the topic's subjects, or for the key of a rule.
            doing = f"decoding a value with {_schema_of(record)}"
            raise ServiceUnavailableError(f"{doing}: {failure}", is_refusal=failure.is_refusal) from error
        return PieceOutput(self._encode(decoded), ())


def _schema_of(record: PieceInput) -> str:
    """Return the id of a record's schema, for messages: a number, or in a header also a GUID."""
    framed = record.own_headers[-1][1] if record.own_headers else record.value
    if framed is None or len(framed) < _FRAME_BYTES:
        return "an unknown schema"
    if framed.startswith(_MAGIC):
        return f"schema {int.from_bytes(framed[1:_FRAME_BYTES])}"
    return f"the schema {UUID(bytes=framed[1:17])}" if len(framed) >= _GUID_FRAME_BYTES else "an unknown schema"


def _context(record: PieceInput, headers: list[tuple[str, Any]]) -> SerializationContext:
    if record.topic is None:
        raise ConfigurationError("RegistrySchemas needs the topic: stack.outgoing(..., topic=...)")
    return SerializationContext(record.topic, MessageField.VALUE, headers)
