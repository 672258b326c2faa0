r"""The layout of a history in RocksDB.

    c <sequence> <number>    keys that a version touched, for comparisons and for removing what they replaced
    d <key> <sequence>       a record as of a version, or nothing if the version deleted the key
    m                        the oldest and the newest version that are kept
    p                        the partitions, by their index in records
    v <sequence>             a version
    z                        the end: see ``Database.items``

Versions are counted by a *sequence* without gaps, whatever their numbers are. Each version only adds the records that
it put or deleted, so that its cost does not depend on the number of keys. The record of a key in a version is the
newest one up to the version's sequence. Finding it takes one look-up, however old the version is, because sequences are
stored in descending order. Records are never changed once written; only ``sweep`` removes them, when no version needs
them any more. Older versions are therefore as fast as newer ones, and take the space of the records that newer versions
have replaced.

In keys, ``00`` is written as ``00 ff`` and the end as ``00 00``, which keeps their order. Integers are big-endian.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

CHUNK, AFTER_CHUNK = b"c", b"d"
DATA, AFTER_DATA = b"d", b"e"
META, PARTITIONS, VERSION, END = b"m", b"p", b"v", b"z"
DELETED = b""
"""The data of a key that a version deleted."""

_LAST = (1 << 64) - 1
_SEQUENCE_BYTES = 8
_SIZE_BYTES = 4


def record_key(key: bytes, sequence: int) -> bytes:
    """Return the entry's key for a record; a seek to it finds the newest record up to this version."""
    return data_prefix(key) + (_LAST - sequence).to_bytes(_SEQUENCE_BYTES, "big")


def data_prefix(key: bytes) -> bytes:
    """Return the common beginning of the entries of a key; no other key's entries begin with it."""
    return DATA + key.replace(b"\0", b"\0\xff") + b"\0\0"


def split_record_key(entry: bytes) -> tuple[bytes, int]:
    """Return the prefix of an entry's key (see ``data_prefix``), and its sequence."""
    return entry[:-_SEQUENCE_BYTES], _LAST - int.from_bytes(entry[-_SEQUENCE_BYTES:], "big")


def key_of(prefix: bytes) -> bytes:
    """Return the key that a ``data_prefix`` was made from."""
    return prefix[1:-2].replace(b"\0\xff", b"\0")


def version_key(sequence: int) -> bytes:
    """Return the entry's key for a version."""
    return VERSION + sequence.to_bytes(_SEQUENCE_BYTES, "big")


def chunk_key(sequence: int, number: int = 0) -> bytes:
    """Return the entry's key for a chunk of the keys that a version touched."""
    return CHUNK + sequence.to_bytes(_SEQUENCE_BYTES, "big") + number.to_bytes(_SIZE_BYTES, "big")


def sequence_of_chunk(entry: bytes) -> int:
    """Return the sequence in a chunk's key."""
    return int.from_bytes(entry[1 : 1 + _SEQUENCE_BYTES], "big")


def pack_keys(keys: Iterable[bytes]) -> bytes:
    """Encode keys, each after its size."""
    return b"".join(part for key in keys for part in (len(key).to_bytes(_SIZE_BYTES, "big"), key))


def unpack_keys(data: bytes) -> Iterator[bytes]:
    """Yield the keys that ``pack_keys`` has encoded."""
    at = 0
    while at < len(data):
        begin = at + _SIZE_BYTES
        at = begin + int.from_bytes(data[at:begin], "big")
        yield data[begin:at]
