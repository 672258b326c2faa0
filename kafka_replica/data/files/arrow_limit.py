"""The number of bytes to which Arrow IPC expands, according to its metadata, without decompressing anything.

Source: Apache Arrow, Columnar Format, "Serialization and Interprocess Communication"; ``Message.fbs``, ``File.fbs``;
FlatBuffers, "Internals".
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.decompression_limit import largest

ARROW_FILE: Final = b"ARROW1"
"""The first and the last bytes of a file, which a stream does not have."""
_CONTINUATION: Final = 0xFFFFFFFF
_BLOCK: Final = struct.Struct("<qi4xq")  # offset, length of the metadata, length of the body
_BUFFER: Final = struct.Struct("<qq")  # offset in the body, length
_DICTIONARIES, _RECORD_BATCHES = 2, 3  # fields of Footer
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3  # MessageHeader
_HEADER_TYPE, _HEADER, _BODY_LENGTH = 1, 2, 3  # fields of Message
_DATA: Final = 1  # field of DictionaryBatch
_LENGTH, _BUFFERS, _COMPRESSION = 0, 2, 3  # fields of RecordBatch
_BYTES_A_ROW: Final = 8
"""The assumed memory of a row without buffers, whose columns have only nulls."""

_ENDLESS: Final = 1 << 62
"""The result for messages that overlap or are named many times, whose examination would take too long."""


def check_expanded_bytes(data: bytes, path: str) -> None:
    """Check that Arrow IPC, which may be compressed, does not expand to far more than its size.

    Raises:
        DatasetError: it needs more memory than :func:`largest` allows.
    """
    found = expanded_bytes(data)
    if found > largest(len(data)):
        raise DatasetError(
            f"reading {path}: it expands to {found:,} bytes, too many for a file of {len(data):,} bytes; write it as "
            "Parquet, or in several files"
        )


def expanded_bytes(data: bytes) -> int:
    """Return the number of bytes of all batches and dictionaries, as far as they can be followed.

    A file is read by its footer, as Arrow does, which may name a batch several times. The count ends where the data is
    damaged, which the reader of Arrow reports.
    """
    total = metadata_bytes = 0
    try:
        for start, size in _in_file(data) if data.startswith(ARROW_FILE) else _in_stream(data):
            metadata_bytes += size
            if metadata_bytes > 2 * len(data):
                return _ENDLESS
            total += _bytes_of(data, start, size)
    except (struct.error, OverflowError):  # beyond the end
        pass
    return total


def _in_file(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield place and size of the metadata of each message that the footer of a file names."""
    end = len(data) - len(ARROW_FILE) - 4
    (size,) = struct.unpack_from("<i", data, end)
    footer = data[end - size : end]
    for field in (_DICTIONARIES, _RECORD_BATCHES):
        blocks = _reference(footer, _root(footer), field)
        count = struct.unpack_from("<I", footer, blocks)[0] if blocks else 0
        for number in range(count):
            yield _metadata(data, _BLOCK.unpack_from(footer, blocks + 4 + number * _BLOCK.size)[0])


def _in_stream(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield place and size of the metadata of each message of a stream."""
    at = 0
    while 0 <= at < len(data):
        start, size = _metadata(data, at)
        if not size:
            return
        yield start, size
        message = data[start : start + size]
        body_bytes = _number(message, _root(message), _BODY_LENGTH, "<q")
        if body_bytes < 0:
            return
        at = start + size + body_bytes


def _metadata(data: bytes, at: int) -> tuple[int, int]:
    """Return the place and the size of a message's metadata; before Arrow 0.15 no continuation precedes the size."""
    (size,) = struct.unpack_from("<I", data, at)
    if size != _CONTINUATION:
        return at + 4, size
    return at + 8, struct.unpack_from("<I", data, at + 4)[0]


def _bytes_of(data: bytes, start: int, size: int) -> int:
    """Return the number of bytes of the batch or dictionary of a message; 0 for other messages."""
    message = data[start : start + size]
    table = _root(message)
    kind = _number(message, table, _HEADER_TYPE, "<B")
    batch = _reference(message, table, _HEADER)
    if kind == _DICTIONARY_BATCH and batch:
        batch = _reference(message, batch, _DATA)
    elif kind != _RECORD_BATCH:
        return 0
    if not batch:
        return 0
    is_compressed = bool(_reference(message, batch, _COMPRESSION))
    total = sum(_buffer_bytes(data, start + size, buffer, is_compressed) for buffer in _buffers(message, batch))
    return max(total, _BYTES_A_ROW * _number(message, batch, _LENGTH, "<q"))


def _buffers(message: bytes, batch: int) -> Iterator[tuple[int, int]]:
    buffers = _reference(message, batch, _BUFFERS)
    count = struct.unpack_from("<I", message, buffers)[0] if buffers else 0
    for number in range(count):
        yield _BUFFER.unpack_from(message, buffers + 4 + number * _BUFFER.size)


def _buffer_bytes(data: bytes, body: int, buffer: tuple[int, int], is_compressed: bool) -> int:
    """Return the length of a buffer; a compressed one begins with it, or with -1 if compression did not help."""
    offset, length = buffer
    if not is_compressed or length <= 0:
        return max(length, 0)
    (expanded,) = struct.unpack_from("<q", data, body + offset)
    return length if expanded < 0 else int(expanded)


def _root(message: bytes) -> int:
    (found,) = struct.unpack_from("<I", message)
    return int(found)


def _place(message: bytes, table: int, field: int) -> int:
    """Return the place of a field of a table; 0 if the table lacks it."""
    vtable = table - struct.unpack_from("<i", message, table)[0]
    (size,) = struct.unpack_from("<H", message, vtable)
    entry = 4 + 2 * field
    offset = struct.unpack_from("<H", message, vtable + entry)[0] if entry < size else 0
    return table + offset if offset else 0


def _number(message: bytes, table: int, field: int, form: str) -> int:
    place = _place(message, table, field)
    return int(struct.unpack_from(form, message, place)[0]) if place else 0


def _reference(message: bytes, table: int, field: int) -> int:
    """Return the place of a table or vector that a field refers to; 0 if there is none."""
    place = _place(message, table, field)
    return place + int(struct.unpack_from("<I", message, place)[0]) if place else 0
