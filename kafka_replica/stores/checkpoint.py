"""A checkpoint: one version of a memory store in one file. Who starts from it maps the file, and reads little of it.

    header    what the file is, and where its parts lie
    records   one after the other
    keys      a line each; where each key ends; where the record of each key lies
    notes     the number of the version, its places and its bookmark; the last whole one counts

Every byte is under a checksum (CRC-32). That of the header, the keys and the notes is looked at on loading; that of
a record covers its key, too, and is looked at when the record is read. A file is written aside, forced to the disk
and put in its place by renaming, so that a crash leaves the old one or the new one; notes are added at its end, and one
that is torn does not count. Integers are little-endian.

A file that was replaced stays readable for who has it mapped. (Windows refuses to replace a mapped file: there the
old one stays, and the log says so.)
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
from kafka_replica.records import Partition, Record, Stored, key_text
from kafka_replica.stores.packed_headers import unpack_headers
from kafka_replica.transactions.resume_point import ResumePoint

FORMAT = 1
Kept: TypeAlias = Stored | int
"""What a memory store keeps of a record: the record, or where it lies in the file that the store began with."""

MAGIC = b"\x89kafka-replica\r\n"
HEADER = struct.Struct("<16sIIQQQQQ")  # magic, format, checksum of the keys, how many, where parts begin
CHECKSUM = struct.Struct("<I")
FIRST_RECORD = HEADER.size + CHECKSUM.size
RECORD = struct.Struct("<IIqqII")  # checksum, bytes in all, offset, timestamp in ms, number of the place, of headers
REST = struct.Struct("<IqqII")  # the same without the checksum
NOTE = struct.Struct("<II")  # checksum, bytes


class Note(NamedTuple):
    """What is known of a version beside its records."""

    version: int
    places: list[Partition]
    resume_point: ResumePoint

    def encode(self) -> bytes:
        """With its checksum."""
        plain = {"version": self.version, "places": self.places}
        data = json.dumps(plain).encode() + b"\n" + self.resume_point.encode()
        return NOTE.pack(crc32(data), len(data)) + data

    @staticmethod
    def decode(data: bytes) -> Note:
        """The note that was encoded so, without its checksum."""
        first, resume_point = data.split(b"\n", 1)
        plain = json.loads(first)
        return Note(
            plain["version"], [Partition(*place) for place in plain["places"]], ResumePoint.decode(resume_point)
        )


class Saved:
    """The records of a mapped file. Any thread may read them; the mapping goes with the last who has it."""

    __slots__ = ("_path", "_view", "is_damaged", "places")

    def __init__(self, path: Path, view: memoryview, places: Sequence[Partition]) -> None:
        self.places = places
        self.is_damaged = False
        """Whether a record was met that is not what was written."""
        self._path = path
        self._view = view

    def record(self, key: bytes, at: int) -> Record:
        """The record of a key, which begins there.

        Raises:
            StoreDamagedError: it is not what was written.
        """
        checksum, size, offset, timestamp_ms, place, header_bytes = RECORD.unpack_from(self._view, at)
        data = self._view[at + CHECKSUM.size : at + size]
        if crc32(data, crc32(key)) != checksum:
            raise self._damage(key, at)
        headers = unpack_headers(bytes(data[REST.size : REST.size + header_bytes])) if header_bytes else ()
        value = bytes(data[REST.size + header_bytes :])
        record: Record = tuple.__new__(Record, (key, value, offset, timestamp_ms, headers, self.places[place]))
        return record

    def place(self, at: int) -> tuple[Partition, int]:
        """The partition and the offset of the record that begins there, unchecked."""
        _, _, offset, _, place, _ = RECORD.unpack_from(self._view, at)
        return self.places[place], offset

    def packed(self, key: bytes, at: int) -> memoryview:
        """The record of a key as it lies there.

        Raises:
            StoreDamagedError: it is not what was written.
        """
        checksum, size, *_ = RECORD.unpack_from(self._view, at)
        data = self._view[at : at + size]
        if crc32(data[CHECKSUM.size :], crc32(key)) != checksum:
            raise self._damage(key, at)
        return data

    def _damage(self, key: bytes, at: int) -> StoreDamagedError:
        self.is_damaged = True
        return StoreDamagedError(
            f"reading {key_text(key)} in the checkpoint file {self._path}: what lies at byte {at} is not what was "
            "written; check the disk. The replica that has the file is built anew"
        )


NOTHING_SAVED = Saved(Path(), memoryview(b""), ())


class Loaded(NamedTuple):
    """What a file holds."""

    records: dict[bytes, Kept]
    saved: Saved
    note: Note
    end: int
    """After its last whole note."""


def load(path: Path) -> Loaded:
    """Maps a file.

    Raises:
        OSError: there is none, or it cannot be read.
        StoreDamagedError: it is not what was written.
        StoreError: it is something else, or of a newer version of kafka_replica.
    """
    with path.open("rb") as file:
        return _load(path, file)


def _load(path: Path, file: BinaryIO) -> Loaded:
    start = file.read(FIRST_RECORD)
    if start[: len(MAGIC)] != MAGIC[: len(start)]:
        raise StoreError(f"{path} is no checkpoint file of kafka_replica; name a file that is one, or a new one")
    _check(len(start) == FIRST_RECORD, path, "it is cut off")
    _, number, checksum, count, keys_at, ends_at, places_at, notes_at = HEADER.unpack_from(start)
    if number > FORMAT:
        raise StoreError(f"{path} has format {number}, this version of kafka_replica writes {FORMAT}: use a newer one")
    _check(CHECKSUM.unpack_from(start, HEADER.size)[0] == crc32(start[: HEADER.size]), path, "its header")
    size = os.fstat(file.fileno()).st_size
    _check(size > notes_at, path, "it is cut off")
    file.seek(keys_at)
    lines, ends, places = (file.read(until - at) for at, until in pairwise((keys_at, ends_at, places_at, notes_at)))
    _check(crc32(places, crc32(ends, crc32(lines))) == checksum, path, "its keys")
    note, note_bytes = _last_note(file.read())
    if note is None:
        raise _damaged(path, "its bookmark")
    keys = _keys(lines, _integers(ends))
    records: dict[bytes, Kept] = dict(zip(keys, _integers(places), strict=True))
    _check(len(records) == count, path, "its keys")
    view = memoryview(mmap.mmap(file.fileno(), keys_at, access=mmap.ACCESS_READ))
    return Loaded(records, Saved(path, view, note.places), note, notes_at + note_bytes)


def _keys(lines: bytes, ends: array[int]) -> list[bytes]:
    found = lines.split(b"\n")
    if len(found) == len(ends) + 1:  # no key has an end of line in it
        found.pop()
        return found
    at = -1
    return [lines[at + 1 : (at := end)] for end in ends]


def _last_note(data: bytes) -> tuple[Note | None, int]:
    """The last note before one that is torn, and where it ends."""
    found, at = b"", 0
    while len(head := data[at : at + NOTE.size]) == NOTE.size:
        checksum, size = NOTE.unpack(head)
        note = data[at + NOTE.size : at + NOTE.size + size]
        if len(note) != size or crc32(note) != checksum:
            break
        found, at = note, at + NOTE.size + size
    with suppress(ValueError, KeyError, TypeError, StoreError):
        return Note.decode(found), at
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
    return StoreDamagedError(
        f"the checkpoint file {path} is damaged ({what}); the replica is built anew. Check the disk"
    )
