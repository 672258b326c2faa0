"""Decompress files in zstd (RFC 8878) part by part.

cramjam decompresses everything to a file in one call. This file is therefore a pipe, and another thread reads it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from mmap import ACCESS_READ, mmap
from threading import Thread
from typing import IO, Final

from kafka_replica.common.codecs import decompress_to_path
from kafka_replica.data.errors import DatasetError

ZSTD: Final = b"\x28\xb5\x2f\xfd"
_SKIPPABLE: Final = 0x184D2A50  # to 0x184D2A5F
_LARGEST_BLOCK: Final = 128 << 10
_RLE: Final = 1
_DICTIONARY_BYTES: Final = (0, 1, 2, 4)
_SIZE_BYTES: Final = (0, 2, 4, 8)


def zstd_parts(file: IO[bytes], size: int, where: str, report: Callable[[int], object]) -> Iterator[bytes]:
    """Yield the decompressed content of a file in zstd, which may consist of several frames.

    Args:
        file: the file, which has a descriptor.
        size: the maximum size of a part, in bytes.
        where: the file, for errors.
        report: is called before each part with the approximate number of compressed bytes read so far.

    Raises:
        DatasetError: the data is damaged.
    """
    with mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        ends = _block_ends(data)
        done = blocks = part_bytes = 0
        for part in _decompressed(data, size, where):
            part_bytes += len(part)
            while blocks * _LARGEST_BLOCK < part_bytes:
                done, blocks = next(ends, done), blocks + 1
            report(done)
            yield part
        report(len(data))


def _decompressed(data: mmap, size: int, where: str) -> Iterator[bytes]:
    failures: list[Exception] = []
    read_end, write_end = os.pipe()

    def decompress() -> None:
        try:
            decompress_to_path("zstd", data, f"/dev/fd/{write_end}")
        except Exception as error:  # noqa: BLE001 - raised by the thread that reads
            failures.append(error)
        finally:
            os.close(write_end)

    thread = Thread(target=decompress, name="kafka-replica-zstd", daemon=True)
    with os.fdopen(read_end, "rb", buffering=size) as pipe:
        thread.start()
        try:
            while part := pipe.read(size):
                yield part
        finally:
            pipe.close()  # ends a thread that waits for a reader
            thread.join()
    for error in failures:
        raise DatasetError(f"reading {where}: the zstd data is damaged: {error}") from error


def _block_ends(data: mmap) -> Iterator[int]:
    """Yield the end of each block; a block that is not the last of its frame usually has 128 KiB of content."""
    at = 0
    while at + 8 < len(data):
        if _number(data, at, 4) & ~0xF == _SKIPPABLE:
            at += 8 + _number(data, at + 4, 4)
            continue
        descriptor = data[at + 4]
        is_single = descriptor >> 5 & 1
        size_bytes = _SIZE_BYTES[descriptor >> 6] or is_single
        at += 5 + (1 - is_single) + _DICTIONARY_BYTES[descriptor & 3] + size_bytes
        header = 0
        while not header & 1 and at < len(data):
            header = _number(data, at, 3)
            at += 3 + (1 if header >> 1 & 3 == _RLE else header >> 3)
            yield min(at, len(data))
        at += 4 * (descriptor >> 2 & 1)  # the checksum


def _number(data: mmap, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little")
