"""Write checkpoint files, or append notes to them. See ``checkpoint`` for the format."""

from __future__ import annotations

import os
import sys
from array import array
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import BinaryIO
from zlib import crc32

from kafka_replica.common.folder_sync import sync_folder
from kafka_replica.records import Partition, source_of
from kafka_replica.stores.checkpoint import (
    CHECKSUM,
    FIRST_RECORD,
    FORMAT,
    HEADER,
    MAGIC,
    RECORD,
    REST,
    Kept,
    SavedRecords,
    VersionNote,
)
from kafka_replica.stores.packed_headers import pack_headers
from kafka_replica.transactions.resume_point import ResumePoint

_AT_ONCE = 200  # records per chunk: the thread that writes the store can run between two chunks


def write(
    path: Path,
    kept: Iterable[tuple[bytes, Kept]],
    saved: SavedRecords,
    source: Partition,
    version: int,
    resume_point: ResumePoint,
) -> tuple[int, list[Partition]]:
    """Write a file that replaces the existing one.

    Args:
        path: the file.
        kept: keys and records, without tombstones.
        saved: the file to which offsets in ``kept`` refer.
        source: the partition of records without a source of their own.
        version: the number of the version.
        resume_point: the resume point of the version.

    Returns:
        The end of the file, and the source partitions of its records.

    Raises:
        OSError: the file was not written; the existing file stays.
        StoreDamagedError: a record of ``saved`` is damaged; the existing file stays.
    """
    aside = temporary_path(path)
    try:
        with aside.open("wb") as file:
            writer = _Writer(file, saved, source)
            end = writer.write(kept, version, resume_point)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)
    return end, writer.partitions


def add_note(path: Path, end: int, note: VersionNote) -> int:
    """Append a note about the version in a file.

    Args:
        path: the file.
        end: the end of the file.
        note: the note, about the same version.

    Returns:
        The new end of the file.

    Raises:
        OSError: the note was not written; the previous note is still valid.
    """
    data = note.encode()
    with path.open("r+b") as file:
        file.truncate(end)  # removes an incomplete note
        file.seek(end)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return end + len(data)


def temporary_path(path: Path) -> Path:
    """Return the temporary name under which a file is written before it is renamed."""
    return path.with_name(path.name + ".writing")


class _Writer:
    """A writer of one file, in chunks of records."""

    def __init__(self, file: BinaryIO, saved: SavedRecords, source: Partition) -> None:
        self._file = file
        self._saved = saved
        self._source = source
        self.partitions = list(saved.partitions)  # so that its records can be copied unchanged
        self._numbers = {partition: number for number, partition in enumerate(self.partitions)}

    def write(self, kept: Iterable[tuple[bytes, Kept]], version: int, resume_point: ResumePoint) -> int:
        """Write the whole file; return its end."""
        write = self._file.write
        write(bytes(FIRST_RECORD))
        at = FIRST_RECORD
        keys, ends, begins = bytearray(), array("Q"), array("Q")
        pairs = iter(kept)
        while some := list(islice(pairs, _AT_ONCE)):
            records = [self._packed(*pair) for pair in some]
            for (key, _), record in zip(some, records, strict=True):
                keys += key
                ends.append(len(keys))
                keys += b"\n"
                begins.append(at)
                at += len(record)
            write(b"".join(records))
        starts, checksum = [at], 0
        for part in (keys, _bytes(ends), _bytes(begins)):
            write(part)
            checksum = crc32(part, checksum)
            starts.append(starts[-1] + len(part))
        note = VersionNote(version, self.partitions, resume_point).encode()
        write(note)
        header = HEADER.pack(MAGIC, FORMAT, checksum, len(ends), *starts)
        self._file.seek(0)
        write(header + CHECKSUM.pack(crc32(header)))
        return starts[-1] + len(note)

    def _packed(self, key: bytes, kept: Kept) -> bytes | memoryview:
        if isinstance(kept, int):
            return self._saved.packed(key, kept)
        _, value, offset, timestamp_ms, headers = kept[:5]
        value = value or b""  # no record is a tombstone
        packed = pack_headers(headers) if headers else b""
        number = self._number(source_of(kept, self._source))
        size = RECORD.size + len(packed) + len(value)
        rest = REST.pack(size, offset, timestamp_ms, number, len(packed))
        checksum = crc32(value, crc32(packed, crc32(rest, crc32(key))))
        return b"".join((CHECKSUM.pack(checksum), rest, packed, value))

    def _number(self, partition: Partition) -> int:
        number = self._numbers.get(partition)
        if number is None:
            number = self._numbers[partition] = len(self.partitions)
            self.partitions.append(partition)
        return number


def _bytes(integers: array[int]) -> bytes:
    if sys.byteorder == "big":
        integers.byteswap()
    return integers.tobytes()
