"""How a record lies in RocksDB: a head of fixed size, the headers, the value as it is.

Integers are big-endian. The place of a record is a number of the list of partitions that the store keeps.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from kafka_replica.records import Headers, Partition, Record

_HEAD = struct.Struct(">qqII")  # offset, timestamp in ms, number of the partition, bytes of headers
_SIZE = struct.Struct(">i")
_NULL = -1

pack_head = _HEAD.pack
HEAD_BYTES = _HEAD.size


def pack_headers(headers: Headers) -> bytes:
    """Names and values, each with its size before it; a null value has the size -1."""
    parts: list[bytes] = []
    for name, value in headers:
        encoded = name.encode(errors="surrogateescape")
        parts += [_SIZE.pack(len(encoded)), encoded, _SIZE.pack(_NULL if value is None else len(value)), value or b""]
    return b"".join(parts)


def unpack_headers(data: bytes) -> Headers:
    """The headers that were packed so."""
    headers: list[tuple[str, bytes | None]] = []
    at = 0
    while at < len(data):
        name, at = _piece(data, at)
        value, at = _piece(data, at)
        headers.append(((name or b"").decode(errors="surrogateescape"), value))
    return tuple(headers)


def unpack_record(key: bytes, data: bytes, partitions: Sequence[Partition]) -> Record:
    """The record of a key."""
    offset, timestamp_ms, number, header_bytes = _HEAD.unpack_from(data)
    if not header_bytes:
        return Record(key, data[HEAD_BYTES:], offset, timestamp_ms, (), partitions[number])
    begin = HEAD_BYTES + header_bytes
    headers = unpack_headers(data[HEAD_BYTES:begin])
    return Record(key, data[begin:], offset, timestamp_ms, headers, partitions[number])


def _piece(data: bytes, at: int) -> tuple[bytes | None, int]:
    (size,) = _SIZE.unpack_from(data, at)
    at += _SIZE.size
    return (None, at) if size == _NULL else (data[at : at + size], at + size)
