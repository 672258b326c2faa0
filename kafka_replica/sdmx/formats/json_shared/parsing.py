"""Decode the JSON of structure messages: errors name the place and line, and some wrong types are accepted."""

from __future__ import annotations

import re
from typing import Final, TypeVar

import msgspec

from kafka_replica.common.json_decoders import json_decoder
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.json_shared.literals import is_of_literal, with_texts
from kafka_replica.sdmx.formats.shared.reading.error_collector import STRICT, ErrorCollector

T = TypeVar("T")

_OPENED: Final = json_decoder(dict[str, msgspec.Raw])
_TEXT: Final = json_decoder(str)


def decoded(decoder: msgspec.json.Decoder[T], data: bytes | msgspec.Raw, what: str) -> T:
    """Decode the bytes. Raises MessageError with the place in ``what``."""
    try:
        return decoder.decode(data)
    except RecursionError:
        raise MessageError(f"reading {what}: it is nested too deep to be a structure message") from None
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
        raise MessageError(f"reading {what}: {error}{_line(bytes(data), str(error))}") from None


def members_of(data: bytes | msgspec.Raw, what: str) -> dict[str, msgspec.Raw]:
    """Return the members of an object as written. Raises MessageError."""
    return decoded(_OPENED, data, what)


def is_null(raw: msgspec.Raw | None) -> bool:
    """Return whether a member, as a decoder took it from its object, is null or missing."""
    return raw is None or bytes(memoryview(raw)[:1]) == b"n"


def scalar_text(written: msgspec.Raw, what: str) -> str:
    """Return a text, or any other value as written, without whitespace: ``1.10`` stays ``1.10``.

    Raises MessageError.
    """
    data = bytes(written).strip()
    if data.startswith((b"{", b"[")):
        return msgspec.json.format(data, indent=-1).decode()
    return decoded(_TEXT, data, what) if data.startswith(b'"') else data.decode()


def decoded_artefact(decoder: msgspec.json.Decoder[T], data: bytes | msgspec.Raw, what: str) -> T:
    """Decode as ``decoded``; numbers and booleans where a text is expected become texts, as written."""
    try:
        return decoded(decoder, data, what)
    except MessageError as error:
        if not is_of_literal(str(error)):
            raise
        try:
            mended = with_texts(bytes(data), decoder.type)
        except (ValueError, RecursionError):
            raise error from None
    return decoded(decoder, mended, what)


def decoded_header(
    decoder: msgspec.json.Decoder[T], meta: msgspec.Raw, what: str, collector: ErrorCollector = STRICT
) -> T:
    """Decode a header without its members of a wrong type.

    Raises MessageError if it is not an object, or if ``test`` has a wrong type, unless errors are collected: without
    it, a test message would look like any other.
    """
    try:
        return decoder.decode(meta)
    except msgspec.ValidationError:
        members = members_of(meta, what)
    needed = "" if collector.collects else "test"
    kept = {name: raw for name, raw in members.items() if name == needed or _fits(decoder, {name: raw})}
    return decoded(decoder, msgspec.json.encode(kept), what)


def _fits(decoder: msgspec.json.Decoder[T], member: dict[str, msgspec.Raw]) -> bool:
    try:
        decoder.decode(msgspec.json.encode(member))
    except msgspec.ValidationError:
        return False
    return True


def _line(data: bytes, error: str) -> str:
    found = re.search(r"\(byte ([0-9]+)\)", error)
    if found is None:
        return ""
    line = data.count(b"\n", 0, int(found[1])) + 1
    return f", at line {line}"
