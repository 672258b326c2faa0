"""How a record lies in RocksDB: a head of fixed size, the headers, the value as it is.

Integers are big-endian. The place of a record is a number of the list of partitions that the store keeps.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from kafka_replica.records import Partition, Record
from kafka_replica.stores.packed_headers import unpack_headers

_HEAD = struct.Struct(">qqII")  # offset, timestamp in ms, number of the partition, bytes of headers

pack_head = _HEAD.pack
HEAD_BYTES = _HEAD.size
PLACE_BYTES = struct.calcsize(">qqI")  # of it say where and when; the rest is what a record holds
_new = tuple.__new__  # half the time of Record(...)


def unpack_place(data: bytes) -> tuple[int, int]:
    """The offset of a record, and the number of its partition."""
    offset, _, number, _ = _HEAD.unpack_from(data)
    return offset, number


def unpack_record(key: bytes, data: bytes, partitions: Sequence[Partition]) -> Record:
    """The record of a key."""
    offset, timestamp_ms, number, header_bytes = _HEAD.unpack_from(data)
    if not header_bytes:
        plain: Record = _new(Record, (key, data[HEAD_BYTES:], offset, timestamp_ms, (), partitions[number]))
        return plain
    begin = HEAD_BYTES + header_bytes
    headers = unpack_headers(data[HEAD_BYTES:begin])
    return Record(key, data[begin:], offset, timestamp_ms, headers, partitions[number])
