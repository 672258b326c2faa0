"""The encoding of records in RocksDB: a header of fixed size, the record's headers, the unchanged value.

Integers are big-endian. The partition of a record is an index into the store's list of partitions.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from kafka_replica.records import Partition, Record, Stored, own_key
from kafka_replica.stores.packed_headers import pack_headers, unpack_headers

_HEAD = struct.Struct(">qqII")  # offset, timestamp in ms, index of the partition, bytes of headers

HEAD_BYTES = _HEAD.size
PLACE_BYTES = struct.calcsize(">qqI")  # these bytes of the header contain origin and time; the rest is content


def pack_record(record: Stored, number: int) -> bytes:
    """Encode a record that is not a tombstone; ``number`` is the index of its partition."""
    headers = pack_headers(record[4]) if record[4] else b""
    return _HEAD.pack(record[2], record[3], number, len(headers)) + headers + (record[1] or b"")


def unpack_location(data: bytes) -> tuple[int, int]:
    """Return the offset of a record, and the index of its partition."""
    offset, _, number, _ = _HEAD.unpack_from(data)
    return offset, number


def unpack_record(key: bytes, data: bytes, partitions: Sequence[Partition], has_key_spaces: bool) -> Record:
    """Decode the record of a key of the store."""
    offset, timestamp_ms, number, header_bytes = _HEAD.unpack_from(data)
    if has_key_spaces:
        key = own_key(partitions[number], key)
    if not header_bytes:
        return Record(key, data[HEAD_BYTES:], offset, timestamp_ms, (), partitions[number])
    begin = HEAD_BYTES + header_bytes
    headers = unpack_headers(data[HEAD_BYTES:begin])
    return Record(key, data[begin:], offset, timestamp_ms, headers, partitions[number])
