"""A checkpoint: a version of a memory store in a file. A store that starts from it maps the file and reads little.

    header    the type of the file, and the offsets of its sections
    records   one after the other
    keys      a line each; the end of each key; the offset of each key's record
    notes     the version's number, its source partitions and its resume point; the last complete note is valid

Checksums (CRC-32) cover every byte. Those of the header, the keys and the notes are checked on loading; the checksum
of a record also covers its key, and is checked when the record is read. A file is written under a temporary name,
synced to disk and renamed, so that a crash leaves either the old or the new file; notes are appended, and an incomplete
note is ignored. Integers are little-endian.

A replaced file stays readable for processes that have mapped it. (Windows refuses to replace a mapped file: there the
old file stays, and an error is logged.)
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import sys
from array import array
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeAlias
from zlib import crc32

from kafka_replica.errors import StoreDamagedError, StoreError
from kafka_replica.records import Partition, Record, Stored, key_text, own_key
from kafka_replica.stores.packed_headers import unpack_headers
from kafka_replica.transactions.resume_point import ResumePoint

FORMAT = 1
Kept: TypeAlias = Stored | int
"""An entry of a memory store: a record, or its offset in the checkpoint file that the store started from."""

MAGIC = b"\x89kafka-replica\r\n"
HEADER = struct.Struct("<16sIIQQQQQ")  # magic, format, checksum of the keys, their number, offsets of sections
CHECKSUM = struct.Struct("<I")
FIRST_RECORD = HEADER.size + CHECKSUM.size
RECORD = struct.Struct("<IIqqII")  # checksum, total bytes, offset, timestamp in ms, source index, header bytes
REST = struct.Struct("<IqqII")  # like RECORD, without the checksum
NOTE = struct.Struct("<II")  # checksum, bytes


class VersionNote(NamedTuple):
    """The metadata of a version."""

    version: int
    partitions: list[Partition]
    resume_point: ResumePoint

    def encode(self) -> bytes:
        """Encode the note with its checksum."""
        plain = {"version": self.version, "places": self.partitions}
        data = json.dumps(plain).encode() + b"\n" + self.resume_point.encode()
        return NOTE.pack(crc32(data), len(data)) + data

    @staticmethod
    def decode(data: bytes) -> VersionNote:
        """Decode a note without its checksum."""
        first, resume_point = data.split(b"\n", 1)
        plain = json.loads(first)
        return VersionNote(
            plain["version"], [Partition(*place) for place in plain["places"]], ResumePoint.decode(resume_point)
        )


class SavedRecords:
    """The records of a mapped file. Thread-safe; the mapping lives as long as a reference to it."""

    __slots__ = ("_has_key_spaces", "_path", "_view", "is_damaged", "partitions")

    def __init__(self, path: Path, view: memoryview, partitions: Sequence[Partition], *, has_key_spaces: bool) -> None:
        self._has_key_spaces = has_key_spaces
        self.partitions = partitions
        self.is_damaged = False
        """True once a damaged record was found."""
        self._path = path
        self._view = view

    def record(self, key: bytes, at: int) -> Record:
        """Return the record of a key at a byte offset in the file.

        Raises:
            StoreDamagedError: the data is damaged.
        """
        checksum, size, offset, timestamp_ms, number, header_bytes = RECORD.unpack_from(self._view, at)
        data = self._view[at + CHECKSUM.size : at + size]
        if crc32(data, crc32(key)) != checksum:
            raise self._damage(key, at)
        headers = unpack_headers(bytes(data[REST.size : REST.size + header_bytes])) if header_bytes else ()
        value = bytes(data[REST.size + header_bytes :])
        source = self.partitions[number]
        if self._has_key_spaces:
            key = own_key(source, key)
        return Record(key, value, offset, timestamp_ms, headers, source)

    def location(self, key: bytes, at: int) -> tuple[Partition, int]:
        """Return partition and offset of the record of a key at a byte offset in the file.

        Raises:
            StoreDamagedError: the data is damaged.
        """
        checksum, size, offset, _, number, _ = RECORD.unpack_from(self._view, at)
        if crc32(self._view[at + CHECKSUM.size : at + size], crc32(key)) != checksum:
            raise self._damage(key, at)
        return self.partitions[number], offset

    def packed(self, key: bytes, at: int) -> memoryview:
        """Return the encoded record of a key at a byte offset in the file.

        Raises:
            StoreDamagedError: the data is damaged.
        """
        checksum, size, *_ = RECORD.unpack_from(self._view, at)
        data = self._view[at : at + size]
        if crc32(data[CHECKSUM.size :], crc32(key)) != checksum:
            raise self._damage(key, at)
        return data

    def _damage(self, key: bytes, at: int) -> StoreDamagedError:
        self.is_damaged = True
        return StoreDamagedError(
            f"reading {key_text(key)} in the checkpoint file {self._path}: the data at byte {at} differs from the data "
            "written; check the disk. The replica of the file is rebuilt"
        )


NOTHING_SAVED = SavedRecords(Path(), memoryview(b""), (), has_key_spaces=False)


class LoadedCheckpoint(NamedTuple):
    """The content of a checkpoint file."""

    records: dict[bytes, Kept]
    saved: SavedRecords
    note: VersionNote
    end: int
    """The offset of the end of the last complete note."""


def load(path: Path) -> LoadedCheckpoint:
    """Map a file.

    Raises:
        OSError: the file does not exist, or cannot be read.
        StoreDamagedError: the data is damaged.
        StoreError: the file has another type, or comes from a newer version of kafka_replica.
    """
    with path.open("rb") as file:
        return _load(path, file)


def _load(path: Path, file: BinaryIO) -> LoadedCheckpoint:
    start = file.read(FIRST_RECORD)
    if start[: len(MAGIC)] != MAGIC[: len(start)]:
        raise StoreError(f"{path} is not a checkpoint file of kafka_replica; use a checkpoint file or a new file")
    _check(len(start) == FIRST_RECORD, path, "it is truncated")
    _, number, checksum, count, keys_at, ends_at, starts_at, notes_at = HEADER.unpack_from(start)
    if number > FORMAT:
        raise StoreError(f"{path} has format {number}, this version of kafka_replica writes {FORMAT}: use a newer one")
    _check(number > 0, path, "its format")
    _check(CHECKSUM.unpack_from(start, HEADER.size)[0] == crc32(start[: HEADER.size]), path, "its header")
    size = os.fstat(file.fileno()).st_size
    _check(size > notes_at, path, "it is truncated")
    file.seek(keys_at)
    lines, ends, starts = (file.read(until - at) for at, until in pairwise((keys_at, ends_at, starts_at, notes_at)))
    _check(crc32(starts, crc32(ends, crc32(lines))) == checksum, path, "its keys")
    note, note_bytes = _last_note(file.read())
    if note is None:
        raise _damaged(path, "its resume point")
    keys = _keys(lines, _integers(ends))
    records: dict[bytes, Kept] = dict(zip(keys, _integers(starts), strict=True))
    _check(len(records) == count, path, "its keys")
    view = memoryview(mmap.mmap(file.fileno(), keys_at, access=mmap.ACCESS_READ))
    saved = SavedRecords(path, view, note.partitions, has_key_spaces=note.resume_point.has_key_spaces)
    return LoadedCheckpoint(records, saved, note, notes_at + note_bytes)


def _keys(lines: bytes, ends: array[int]) -> list[bytes]:
    found = lines.split(b"\n")
    if len(found) == len(ends) + 1:  # no key contains a line feed
        found.pop()
        return found
    at = -1
    return [lines[at + 1 : (at := end)] for end in ends]


def _last_note(data: bytes) -> tuple[VersionNote | None, int]:
    """Return the last complete note, and its end; an incomplete note may follow."""
    found, at = b"", 0
    while len(head := data[at : at + NOTE.size]) == NOTE.size:
        checksum, size = NOTE.unpack(head)
        note = data[at + NOTE.size : at + NOTE.size + size]
        if len(note) != size or crc32(note) != checksum:
            break
        found, at = note, at + NOTE.size + size
    with suppress(ValueError, KeyError, TypeError, StoreError):
        return VersionNote.decode(found), at
    return None, 0


def _integers(data: bytes) -> array[int]:
    found = array("Q")
    found.frombytes(data)
    if sys.byteorder == "big":
        found.byteswap()
    return found


def _check(is_so: bool, path: Path, what: str) -> None:
    if not is_so:
        raise _damaged(path, what)


def _damaged(path: Path, what: str) -> StoreDamagedError:
    return StoreDamagedError(f"the checkpoint file {path} is damaged ({what}); the replica is rebuilt. Check the disk")
