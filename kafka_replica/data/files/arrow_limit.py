"""The number of cells that Arrow IPC declares, without decompressing anything.

Source: Apache Arrow, Columnar Format, "Encapsulated message format", ``Message.fbs``; FlatBuffers, "Internals".
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.decompression_limit import largest

_CONTINUATION: Final = 0xFFFFFFFF
_FILE_START: Final = b"ARROW1\0\0"
_ALIGNMENT: Final = 8
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3  # MessageHeader
_HEADER_TYPE, _HEADER, _BODY_LENGTH = 1, 2, 3  # fields of Message
_DATA: Final = 1  # field of DictionaryBatch
_LENGTH, _NODES = 0, 1  # fields of RecordBatch


_LEAST_BYTES: Final = 8
"""The assumed minimum of memory for a cell."""


def check_cells(cells: int, data: bytes, path: str) -> None:
    """Check that Arrow IPC, which may be compressed, does not have far too many cells for its size.

    Raises:
        DatasetError: at 8 bytes a cell, the rows need more memory than :func:`largest` allows.
    """
    if cells * _LEAST_BYTES > largest(len(data)):
        raise DatasetError(
            f"reading {path}: it unfolds to {cells:,} cells, too many for a file of {len(data):,} bytes; write it "
            "as Parquet, or in several files"
        )


def declared_cells(data: bytes) -> int:
    """Return the number of cells of all batches of a stream or file, as far as its messages can be followed.

    The reader of Arrow reports damaged messages; this function stops at them.
    """
    cells = 0
    try:
        for message in _messages(data):
            cells += _cells(message)
    except struct.error:  # beyond the end
        pass
    return cells


def _messages(data: bytes) -> Iterator[bytes]:
    """Yield the metadata of each message; its body is skipped."""
    at = len(_FILE_START) if data.startswith(_FILE_START) else 0
    while True:
        (size,) = struct.unpack_from("<I", data, at)
        at += 4
        if size == _CONTINUATION:  # absent before Arrow 0.15
            (size,) = struct.unpack_from("<I", data, at)
            at += 4
        if not size or at + size > len(data):
            return
        message = data[at : at + size]
        yield message
        at += size + max(_number(message, _root(message), _BODY_LENGTH, "<q"), 0)
        at += -at % _ALIGNMENT


def _cells(message: bytes) -> int:
    """Return rows times columns of a batch, or of the values of a dictionary; 0 for other messages."""
    table = _root(message)
    kind = _number(message, table, _HEADER_TYPE, "<B")
    header = _table(message, table, _HEADER)
    if kind == _DICTIONARY_BATCH and header:
        header = _table(message, header, _DATA)
    elif kind != _RECORD_BATCH:
        return 0
    if not header:
        return 0
    rows = _number(message, header, _LENGTH, "<q")
    nodes = _table(message, header, _NODES)
    columns = struct.unpack_from("<I", message, nodes)[0] if nodes else 0
    return max(rows, 0) * int(columns)


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


def _table(message: bytes, table: int, field: int) -> int:
    """Return the place of a table or vector that a field refers to; 0 if there is none."""
    place = _place(message, table, field)
    return place + int(struct.unpack_from("<I", message, place)[0]) if place else 0
