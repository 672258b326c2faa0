"""The entry point for reading bytes: format detection and reading."""

from __future__ import annotations

from typing import Literal, TypeAlias

from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.json_shared.fast_path import try_fast_path
from kafka_replica.sdmx.formats.json_shared.format_detection import JsonMessage, opened
from kafka_replica.sdmx.formats.registry import json_reader, reader, xml_reader
from kafka_replica.sdmx.formats.shared.reading.error_collector import STRICT, ErrorCollector, OnError
from kafka_replica.sdmx.messages.encodings import by_charset
from kafka_replica.sdmx.messages.format import MAX_BYTES, Format, of_content_type, unpacked
from kafka_replica.sdmx.messages.message import Message

_OBJECT = (b'{"', b"{\n", b"{ ", b"{\r", b"{\t")  # the beginning of JSON in UTF-8, and of no other encoding of it
_UNZIPPED = 10  # workbooks are zipped XML


def read_message(data: bytes, content_type: str | None = None, *, on_error: OnError = "raise") -> Message:
    """Return the structure message in these bytes, plain or compressed with gzip.

    The bytes determine their format; ``content_type``, a media type, is used only if the bytes are
    ambiguous, because registries send one edition under the name of another.

    Args:
        data: the message.
        content_type: its media type, if known.
        on_error: how to treat an artefact that cannot be read. ``raise``: raise its error, so the message has all
            of its artefacts or none. ``collect``: return the other artefacts, and list this one in ``errors``. A
            message that cannot be read as a whole (not well-formed, no structures) raises its error in both modes.

    Raises:
        MessageError: the message is damaged, hostile, or not a structure message.
        UnreadableContentError: a workbook that holds no structures.
    """
    collector = STRICT if on_error == "raise" else ErrorCollector(on_error)
    if content_type is None and data.startswith(_OBJECT):
        return _json_message(data, None, collector)
    if data[:1] == b"<":
        found = xml_reader().read_fast(data)
        if found is not None:
            return found
    kind, plain = kind_of(data, content_type)
    if kind == "xml":
        return xml_reader().read_message(plain, collector)
    if kind == "json":
        return _json_message(plain, content_type, collector)
    return reader(kind).read_message(plain, collector)


def _json_message(plain: bytes, content_type: str | None, collector: ErrorCollector) -> Message:
    claimed = of_content_type(content_type) if content_type else None
    # A guess; the fast path declines if it is wrong. Lists end one of the formats, an object with lists the other.
    end = plain[-3:]
    is_fusion = end != b"]}}" and (end[1:] == b"]}" or plain.find(b'"data"', 0, 4096) < 0)
    found = try_fast_path(json_reader("fusion" if is_fusion else "sdmx_json").read_fast, plain, claimed)
    if found is not None:
        return found
    message = opened(plain, claimed, collector)
    is_fusion = message.format is Format.FUSION_JSON
    return json_reader("fusion" if is_fusion else "sdmx_json").read_message(message, collector)


Kind: TypeAlias = Literal["xml", "json", "edi", "xlsx"]
"""A syntax of messages, found by the first bytes."""


def kind_of(data: bytes, content_type: str | None) -> tuple[Kind, bytes]:
    """Return ``xml``, ``json``, ``edi`` or ``xlsx``, and the bytes unpacked. Raises MessageError."""
    plain = unpacked(data)
    if content_type:
        plain = by_charset(plain, content_type)
    start = plain[:64]
    if start[:1].isspace():
        stripped = plain.lstrip()
        start = stripped[:64]
        # Nothing may precede an XML declaration; otherwise whitespace stays, so that errors have the right line.
        plain = stripped if start.startswith(b"<?xml") else plain
    if start.startswith(b"<"):
        return "xml", plain
    if start.startswith((b"{", b"[")):
        return "json", plain
    if start.startswith((b"UNA", b"UNB+", b"UNH+")):
        return "edi", plain
    if start.startswith(b"PK\x03\x04"):
        return "xlsx", plain
    claim = f" (its content type is {content_type[:80]!r})" if content_type else ""
    seen = f"it begins with {start[:20]!r}" if start else "it is empty"
    raise MessageError(f"reading a structure message{claim}: {seen}, which is not an SDMX format")


def opened_json(plain: bytes, content_type: str | None, collector: ErrorCollector) -> JsonMessage:
    """Return the outermost levels of a JSON message. Raises MessageError."""
    return opened(plain, of_content_type(content_type) if content_type else None, collector)


def size_of(data: bytes) -> int:
    """Return the approximate size of an unpacked message, in bytes, without unpacking it."""
    if data[:2] == b"\x1f\x8b":  # gzip states the size at its end (RFC 1952, ISIZE)
        return max(len(data), min(int.from_bytes(data[-4:], "little"), MAX_BYTES))
    return len(data) * (_UNZIPPED if data[:2] == b"PK" else 1)
