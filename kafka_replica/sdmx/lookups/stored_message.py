"""Stored messages that hold one artefact and nothing else."""

from __future__ import annotations

from typing import NamedTuple

from kafka_replica.records import Record
from kafka_replica.sdmx.lookups.decoding import RecordDecoder, media_type
from kafka_replica.sdmx.messages.format import Format, unpacked
from kafka_replica.sdmx.messages.message import Message
from kafka_replica.sdmx.messages.root_element import has_structure_root
from kafka_replica.sdmx.model import Codelist
from kafka_replica.sdmx.urns.urn import Urn

_GZIP = b"\x1f\x8b"


class StoredMessage(NamedTuple):
    """The bytes of a structure message, without compression, and their format."""

    data: bytes
    format: Format


def stored_message(decoder: RecordDecoder, urn: Urn) -> StoredMessage | None:
    """Return the message of an artefact's record, as stored; None if other bytes are needed to represent the artefact.

    These are needed if the artefact has no record of its own, the message holds others, or it is not a structure
    message in UTF-8 (SDMX-ML: in any encoding that it declares).

    Raises:
        MessageError: the record cannot be read.
    """
    record, message = decoder.record(urn), decoder.message(urn)
    if record is None or message is None or not _is_alone(urn, message):
        return None
    data = record.value or b""
    data = unpacked(data) if data[:2] == _GZIP else data
    return StoredMessage(data, message.format) if _is_readable_as_stored(data, record) else None


def complete_format(urn: Urn, record: Record, message: Message) -> Format | None:
    """Return the format of a record whose bytes are a message that lacks nothing of its artefact; None otherwise.

    The bytes are those that :func:`stored_message` returns, without unpacking, and the artefact inherits no codes.
    """
    if not _is_alone(urn, message) or not _is_readable_as_stored(record.value or b"", record):
        return None
    artefact = message.artefacts[urn]
    return None if isinstance(artefact, Codelist) and artefact.extensions else message.format


def _is_alone(urn: Urn, message: Message) -> bool:
    return list(message.artefacts) == [urn] and not message.errors and not message.availability_constraints


def _is_readable_as_stored(data: bytes, record: Record) -> bool:
    if data[:1] == b"<" or data[:1].isspace():
        return has_structure_root(data)  # a message of another kind, such as a registry's, may hold structures, too
    return data[:1] == b"{" and data[1:2] != b"\0" and "charset" not in (media_type(record) or "").lower()
