"""The messages of Arrow IPC: their offsets in a file or stream, and their contents according to their metadata.

Source: Apache Arrow, Columnar Format, "Serialization and Interprocess Communication"; ``Message.fbs``, ``File.fbs``;
FlatBuffers, "Internals".
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import IO, Final, NamedTuple, Protocol

ARROW_FILE: Final = b"ARROW1"
"""The bytes with which a file, unlike a stream, begins and ends."""
DICTIONARY_BATCH, RECORD_BATCH = 2, 3  # MessageHeader
LENGTH: Final = 0  # field of RecordBatch
_CONTINUATION: Final = 0xFFFFFFFF
_PIECE: Final = 1 << 20
_BLOCK: Final = "<qi4xq"  # offset, length of the metadata, length of the body
_DICTIONARIES, _RECORD_BATCHES = 2, 3  # fields of Footer
_HEADER_TYPE, _HEADER, _BODY_LENGTH = 1, 2, 3  # fields of Message


class DataAfterEndError(ValueError):
    """Data follows the end-of-stream marker, as in concatenated streams, of which readers see only the first."""

    def __init__(self) -> None:
        """Create the error."""
        super().__init__("data follows the end of the stream; write all rows as one stream, or each stream to a file")


class ArrowBytes(Protocol):
    """The bytes of a file or stream, of which slices are read."""

    def __len__(self) -> int:
        """Return the number of bytes."""

    def __getitem__(self, key: slice, /) -> bytes:
        """Return the bytes from ``key.start`` to ``key.stop``, or fewer at the end."""


class FileBytes:
    """The bytes of an open file; see :class:`ArrowBytes`."""

    def __init__(self, file: IO[bytes]) -> None:
        """Note the size of the file."""
        self._file = file
        self._size = os.fstat(file.fileno()).st_size

    def __len__(self) -> int:
        """Return the number of bytes."""
        return self._size

    def __getitem__(self, key: slice, /) -> bytes:
        """Return the bytes from ``key.start`` to ``key.stop``, or fewer at the end."""
        start, stop, _ = key.indices(self._size)
        self._file.seek(start)
        return self._file.read(max(stop - start, 0))


class ArrowMessage(NamedTuple):
    """The location of a message, in bytes.

    Attributes:
        at: the offset of the message.
        start: the offset of its metadata.
        size: the size of its metadata, which is followed by the body.
    """

    at: int
    start: int
    size: int


def messages_in(data: ArrowBytes) -> Iterator[ArrowMessage]:
    """Yield the messages of a stream, beginning with the schema, or those that the footer of a file lists.

    Raises:
        struct.error, OverflowError: the data is damaged.
        DataAfterEndError: bytes other than zeros follow the end of a stream.
    """
    return _in_file(data) if data[: len(ARROW_FILE)] == ARROW_FILE else _in_stream(data)


def end_of_message(data: ArrowBytes, message: ArrowMessage) -> int:
    """Return the offset after a message. Raises struct.error if the data is damaged or ends earlier."""
    metadata = data[message.start : message.start + message.size]
    size = number_at(metadata, _root(metadata), _BODY_LENGTH, "<q")
    end = message.start + message.size + size
    if size < 0 or end > len(data):
        raise struct.error(f"a body of {size:,} bytes")
    return end


def _in_file(data: ArrowBytes) -> Iterator[ArrowMessage]:
    end = len(data) - len(ARROW_FILE) - 4
    (size,) = unpack_numbers("<i", data, end)
    footer = data[max(end - size, 0) : end]
    for field in (_DICTIONARIES, _RECORD_BATCHES):
        blocks = reference_at(footer, _root(footer), field)
        count = unpack_numbers("<I", footer, blocks)[0] if blocks else 0
        for number in range(count):
            yield _message(data, unpack_numbers(_BLOCK, footer, blocks + 4 + number * struct.calcsize(_BLOCK))[0])


def _in_stream(data: ArrowBytes) -> Iterator[ArrowMessage]:
    at = 0
    while at < len(data):
        message = _message(data, at)
        if not message.size:
            _check_padding(data, message.start)
            return
        yield message
        at = end_of_message(data, message)


def _check_padding(data: ArrowBytes, start: int) -> None:
    """Check that only zeros follow. Raises DataAfterEndError."""
    for at in range(start, len(data), _PIECE):
        if data[at : at + _PIECE].strip(b"\0"):
            raise DataAfterEndError


def _message(data: ArrowBytes, at: int) -> ArrowMessage:
    """Return the message at an offset; before Arrow 0.15, no continuation marker precedes the size of the metadata."""
    (size,) = unpack_numbers("<I", data, at)
    if size != _CONTINUATION:
        return ArrowMessage(at, at + 4, size)
    return ArrowMessage(at, at + 8, unpack_numbers("<I", data, at + 4)[0])


def unpack_numbers(form: str, data: ArrowBytes, at: int) -> tuple[int, ...]:
    """Return the numbers at an offset. Raises struct.error if the offset is outside of the data."""
    if at < 0:
        raise struct.error("a place before the data")
    return struct.unpack(form, data[at : at + struct.calcsize(form)])


def table_of(message: bytes) -> tuple[int, int]:
    """Return the kind of a message, and the offset of the table with its content, 0 if there is no table."""
    table = _root(message)
    return number_at(message, table, _HEADER_TYPE, "<B"), reference_at(message, table, _HEADER)


def number_at(message: bytes, table: int, field: int, form: str) -> int:
    """Return a number in a field of a table; 0 if the table lacks the field."""
    place = _place(message, table, field)
    return unpack_numbers(form, message, place)[0] if place else 0


def reference_at(message: bytes, table: int, field: int) -> int:
    """Return the offset of the table or vector that a field refers to; 0 if the table lacks the field."""
    place = _place(message, table, field)
    return place + unpack_numbers("<I", message, place)[0] if place else 0


def _root(message: bytes) -> int:
    return unpack_numbers("<I", message, 0)[0]


def _place(message: bytes, table: int, field: int) -> int:
    """Return the offset of a field of a table; 0 if the table lacks the field."""
    vtable = table - unpack_numbers("<i", message, table)[0]
    (size,) = unpack_numbers("<H", message, vtable)
    entry = 4 + 2 * field
    offset = unpack_numbers("<H", message, vtable + entry)[0] if entry < size else 0
    return table + offset if offset else 0
