"""Read Arrow IPC on the driver, and convert it to types that Spark supports."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.arrow_limit import ARROW_FILE, check_unfolded_bytes
from kafka_replica.data.jobs.sources import Source


def read_arrow(source: Source) -> pa.Table:
    """Return the rows of a file or stream of Arrow IPC; the first bytes distinguish the two.

    Raises:
        DatasetError: the data is damaged, is not Arrow IPC, or unfolds to far more than its size.
        UsageError: the file cannot be opened or decompressed.
    """
    data = source.read()
    check_unfolded_bytes(data, source.path)
    try:
        opened = pa.ipc.open_file(data) if data.startswith(ARROW_FILE) else pa.ipc.open_stream(data)
        table = opened.read_all()
        table.validate(full=True)
        return pa.table([_column(one) for one in table.columns], names=table.column_names)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DatasetError(f"reading {source.path}: it cannot be read as Arrow IPC: {error}") from error


def _column(column: Any) -> Any:
    kind: Any = _plain(column.type)
    if not pa.types.is_dictionary(column.type):
        return column.cast(kind)
    # Arrow cannot decode a dictionary whose values are views, so the values are cast first.
    parts: Any = [pa.DictionaryArray.from_arrays(one.indices, one.dictionary.cast(kind)) for one in column.chunks]
    decoded: Any = [one.dictionary_decode() for one in parts]
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
