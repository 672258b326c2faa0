"""The encoding of record headers in files: names and values, each after its size, big-endian."""

from __future__ import annotations

import struct

from kafka_replica.records import Headers

_SIZE = struct.Struct(">i")
_NULL = -1


def pack_headers(headers: Headers) -> bytes:
    """Encode names and values, each after its size; a null value has the size -1."""
    parts: list[bytes] = []
    for name, value in headers:
        encoded = name.encode(errors="surrogateescape")
        parts += [_SIZE.pack(len(encoded)), encoded, _SIZE.pack(_NULL if value is None else len(value)), value or b""]
    return b"".join(parts)


def unpack_headers(data: bytes) -> Headers:
    """Decode headers."""
    headers: list[tuple[str, bytes | None]] = []
    at = 0
    while at < len(data):
        name, at = _piece(data, at)
        value, at = _piece(data, at)
        headers.append(((name or b"").decode(errors="surrogateescape"), value))
    return tuple(headers)


def _piece(data: bytes, at: int) -> tuple[bytes | None, int]:
    (size,) = _SIZE.unpack_from(data, at)
    at += _SIZE.size
    return (None, at) if size == _NULL else (data[at : at + size], at + size)
