"""The number of bytes to which Arrow IPC expands, according to its metadata, without decompressing anything.

Source: Apache Arrow, Columnar Format, "Serialization and Interprocess Communication"; ``Message.fbs``, ``File.fbs``;
FlatBuffers, "Internals".
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.arrow_messages import (
    DICTIONARY_BATCH,
    LENGTH,
    RECORD_BATCH,
    ArrowBytes,
    DataAfterEndError,
    messages_in,
    number_at,
    reference_at,
    table_of,
    unpack_numbers,
)
from kafka_replica.data.files.decompression_limit import decompression_limit

_BUFFER: Final = "<qq"  # offset in the body, length
_DATA: Final = 1  # field of DictionaryBatch
_NODES, _BUFFERS, _COMPRESSION = 1, 2, 3  # fields of RecordBatch
_NODE: Final = "<qq"  # length, number of nulls
_BYTES_PER_ROW: Final = 8
"""The memory assumed for a row, or a value in a list, that has no buffer, as if all values are null."""

_ENDLESS: Final = 1 << 62
"""The result if messages overlap or are listed many times, because examining them would take too long."""


def check_expanded_bytes(data: ArrowBytes, path: str) -> None:
    """Check that Arrow IPC, which may be compressed, does not expand to far more than its size.

    Raises:
        DatasetError: the data needs more memory than :func:`decompression_limit` allows, or data follows the end of the
            stream.
    """
    try:
        found = expanded_bytes(data)
    except DataAfterEndError as error:
        raise DatasetError(f"reading {path}: {error}") from error
    if found > decompression_limit(len(data)):
        raise DatasetError(
            f"reading {path}: it expands to {found:,} bytes, too many for a file of {len(data):,} bytes; write it "
            "without compression, or in several files"
        )


def expanded_bytes(data: ArrowBytes) -> int:
    """Return the number of bytes to which all batches and dictionaries expand, up to the first damage.

    The batches of a file are found by its footer, as Arrow finds them; a footer may list a batch several times. Damage
    is not reported here, because Arrow's reader reports it.

    Raises:
        DataAfterEndError: bytes other than zeros follow the end of a stream.
    """
    total = metadata_bytes = 0
    try:
        for message in messages_in(data):
            metadata_bytes += message.size
            if metadata_bytes > 2 * len(data):
                return _ENDLESS
            total += _bytes_of(data, message.start, message.size)
    except (struct.error, OverflowError):  # beyond the end
        pass
    return total


def _bytes_of(data: ArrowBytes, start: int, size: int) -> int:
    """Return the number of bytes of the batch or dictionary of a message; 0 for other messages."""
    message = data[start : start + size]
    kind, batch = table_of(message)
    if kind == DICTIONARY_BATCH and batch:
        batch = reference_at(message, batch, _DATA)
    elif kind != RECORD_BATCH:
        return 0
    if not batch:
        return 0
    is_compressed = bool(reference_at(message, batch, _COMPRESSION))
    buffers = _pairs(message, batch, _BUFFERS, _BUFFER)
    total = sum(_buffer_bytes(data, start + size, buffer, is_compressed) for buffer in buffers)
    rows = number_at(message, batch, LENGTH, "<q")
    within_lists = sum(max(length - rows, 0) for length, _ in _pairs(message, batch, _NODES, _NODE))
    return max(total, _BYTES_PER_ROW * (rows + within_lists))


def _pairs(message: bytes, batch: int, field: int, form: str) -> Iterator[tuple[int, int]]:
    """Yield the two numbers of each structure in a vector of a batch."""
    vector = reference_at(message, batch, field)
    count = unpack_numbers("<I", message, vector)[0] if vector else 0
    for number in range(count):
        first, second = unpack_numbers(form, message, vector + 4 + number * struct.calcsize(form))
        yield first, second


def _buffer_bytes(data: ArrowBytes, body: int, buffer: tuple[int, int], is_compressed: bool) -> int:
    """Return the expanded length of a buffer; compressed buffers begin with it, or with -1 if stored uncompressed."""
    offset, length = buffer
    if not is_compressed or length <= 0:
        return max(length, 0)
    (expanded,) = unpack_numbers("<q", data, body + offset)
    return length if expanded < 0 else expanded
