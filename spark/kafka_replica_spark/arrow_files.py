"""Read Arrow IPC on the driver, and convert it to types that Spark supports."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.arrow_limit import check_expanded_bytes
from kafka_replica.data.files.arrow_messages import ARROW_FILE
from kafka_replica.data.files.decompression_limit import decompression_limit
from kafka_replica.data.jobs.sources import Source

_VIEW_INTS = 4


def read_arrow(source: Source) -> pa.Table:
    """Return the rows of a file or stream of Arrow IPC; the first bytes distinguish the two.

    Raises:
        DatasetError: the data is damaged, is not Arrow IPC, or expands to far more than its size.
        UsageError: the file cannot be opened or decompressed.
    """
    data = source.read()
    check_expanded_bytes(data, source.path)
    try:
        opened = pa.ipc.open_file(data) if data.startswith(ARROW_FILE) else pa.ipc.open_stream(data)
        table = opened.read_all()
        table.validate(full=True)
        _check_copied_bytes(table, len(data), source.path)
        return pa.table([_column(column) for column in table.columns], names=table.column_names)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DatasetError(f"reading {source.path}: it cannot be read as Arrow IPC: {error}") from error


def _check_copied_bytes(table: pa.Table, size: int, path: str) -> None:
    """Check that values which rows share, in dictionaries and views, do not become too large with a copy for each row.

    Raises:
        DatasetError: they would need more memory than :func:`decompression_limit` allows.
    """
    total = sum(copied_bytes(chunk) for column in table.columns for chunk in column.chunks)
    if total > decompression_limit(size):
        raise DatasetError(
            f"reading {path}: with a copy of each value in each row, as Spark needs it, it has {total:,} bytes, too "
            f"many for a file of {size:,} bytes; write it as Parquet, or in several files"
        )


def copied_bytes(array: Any) -> int:
    """Return the bytes of the values of a dictionary or of views, also within lists, with a copy in each row.

    For values that are neither texts nor of a fixed size this is only an upper bound. The result is 0 for columns whose
    values no rows share.
    """
    kind = array.type
    if pa.types.is_dictionary(kind):
        lengths = _lengths(array.dictionary)
        if lengths is None:
            return len(array) * int(array.dictionary.nbytes)
        return pc.sum(pc.take(lengths, array.indices)).as_py() or 0
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return pc.sum(_lengths(array)).as_py() or 0
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return copied_bytes(array.flatten())
    return 0


def _lengths(values: Any) -> Any:
    """Return the number of bytes of each value; None if it is unknown."""
    kind = values.type
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        # A view consists of four 32-bit integers, of which the first is its length (Columnar Format).
        valid, views, *_ = values.buffers()
        count = (values.offset + len(values)) * _VIEW_INTS
        integers = pa.Array.from_buffers(pa.int32(), count, [None, views])
        of_four = pa.list_(integers.type, _VIEW_INTS)
        children: Any = [integers]  # the stubs want children of the type of their list
        rows: Any = pa.Array.from_buffers(of_four, len(values), [valid], offset=values.offset, children=children)
        return pc.list_element(rows, 0).cast(pa.int64())
    try:
        return pc.binary_length(values).cast(pa.int64())
    except pa.ArrowNotImplementedError:
        pass
    try:
        width = max(kind.bit_width // 8, 1)
    except ValueError:
        return None
    return pa.repeat(pa.scalar(width, pa.int64()), len(values))


def _column(column: Any) -> Any:
    kind: Any = _plain(column.type)
    if not pa.types.is_dictionary(column.type):
        return column.cast(kind)
    # Arrow cannot decode a dictionary whose values are views, so the values are cast first.
    parts: Any = [pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary.cast(kind)) for chunk in column.chunks]
    decoded: Any = [part.dictionary_decode() for part in parts]
    return pa.chunked_array(decoded, type=kind)


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return the type that Spark supports for a dictionary, a view, or a large text or list; other types unchanged."""
    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    if pa.types.is_string_view(kind) or pa.types.is_large_string(kind):
        return pa.string()
    if pa.types.is_binary_view(kind) or pa.types.is_large_binary(kind):
        return pa.binary()
    if pa.types.is_large_list(kind) or pa.types.is_list(kind):
        return pa.list_(_plain(kind.value_type))
    return kind
