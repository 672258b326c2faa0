"""An encoder of record batches of its own, so that parsers are compared with something that they do not share."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from aiokafka import codec

from kafka_replica.records import Headers

_HEAD: Final = struct.Struct(">qiibIhiqqqhii")
HEAD_BYTES: Final = _HEAD.size
_ENCODERS: Final = (bytes, codec.gzip_encode, codec.snappy_encode, codec.lz4_encode, codec.zstd_encode)


@dataclass(frozen=True)
class Written:
    """A record as a producer writes it."""

    key: bytes | None = None
    value: bytes | None = None
    offset_delta: int = 0
    timestamp_delta: int = 0
    headers: Headers = ()
    attributes: int = 0


def varint(value: int, least_bytes: int = 1) -> bytes:
    """Encode a number; with more bytes than needed if that is requested."""
    left = (value << 1 ^ value >> 63) & (1 << 64) - 1
    out = bytearray()
    while left > 0x7F or len(out) < least_bytes - 1:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*out, left])


def _nullable(value: bytes | None) -> bytes:
    return varint(-1) if value is None else varint(len(value)) + value


def record_bytes(record: Written) -> bytes:
    """Encode a record."""
    body = varint(record.attributes) + varint(record.timestamp_delta) + varint(record.offset_delta)
    body += _nullable(record.key) + _nullable(record.value) + varint(len(record.headers))
    for name, value in record.headers:
        body += _nullable(name.encode(errors="surrogateescape")) + _nullable(value)
    return varint(len(body)) + body


def batch_bytes(
    records: Sequence[Written],
    *,
    base_offset: int = 0,
    first_timestamp: int = 0,
    max_timestamp: int = 0,
    codec_number: int = 0,
    attributes: int = 0,
    content: bytes | None = None,
) -> bytes:
    """Encode a batch; its checksum is 0.

    Args:
        records: its records.
        base_offset: the offset to which those of the records are relative.
        first_timestamp: the timestamp to which those of the records are relative.
        max_timestamp: the timestamp of all records if it is the append time.
        codec_number: Kafka's number of the compression.
        attributes: the other attributes.
        content: the encoded records, if they are not to be encoded as they are.
    """
    body = _ENCODERS[codec_number](b"".join(map(record_bytes, records)) if content is None else content)
    last = min(records[-1].offset_delta, (1 << 31) - 1) if records else 0
    numbers = (attributes | codec_number, last, first_timestamp, max_timestamp, 7, 1, 0, len(records))
    return _HEAD.pack(base_offset, HEAD_BYTES - 12 + len(body), 3, 2, 0, *numbers) + body
