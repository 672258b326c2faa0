"""Streams of Arrow IPC in parts: the same rows and types as the whole, whatever the batches and dictionaries."""

from __future__ import annotations

import io
from typing import Literal

import polars as pl
import pyarrow as pa
import pytest

from kafka_replica.data.files.arrow_streams import arrow_streams

_ROWS = 5_000


def _table() -> pa.Table:
    return pa.table(
        {
            "dictionary": pa.array([str(at % 7) for at in range(_ROWS)]).dictionary_encode(),
            "text": pa.array([None if at % 5 == 0 else "x" * (at % 20) for at in range(_ROWS)]),
            "list": pa.array([["a"] * (at % 3) for at in range(_ROWS)]),
            "view": pa.array([f"a long value, number {at}" for at in range(_ROWS)], pa.string_view()),
        }
    )


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_parts_have_the_rows_of_the_stream(compression: Literal["lz4", "zstd"] | None) -> None:
    """All parts together have the rows of the stream; each has a limited number, and says how far it was read."""
    made = io.BytesIO()
    table = _table()
    with pa.ipc.new_stream(made, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table, max_chunksize=333)
    parts = list(arrow_streams(made.getvalue(), 1_000))
    frames = [pl.read_ipc_stream(part.data) for part in parts]
    assert pl.concat(frames).equals(pl.read_ipc_stream(made.getvalue()))
    assert [frame.height for frame in frames] == [0, 1_332, 1_332, 1_332, 1_004]
    assert [part.done for part in parts] == sorted(part.done for part in parts)


def test_replaced_dictionaries() -> None:
    """A dictionary that replaces an earlier one applies to the batches after it."""
    made = io.BytesIO()
    texts = [["a", "b"], ["c", "d", "c"], ["d", "e"]]
    batches = [pa.record_batch([pa.array(text).dictionary_encode()], names=["d"]) for text in texts]
    with pa.ipc.new_stream(made, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    frames = [pl.read_ipc_stream(part.data) for part in arrow_streams(made.getvalue(), 1_000)]
    assert pl.concat(frames)["d"].cast(pl.String).to_list() == ["a", "b", "c", "d", "c", "d", "e"]


def test_a_stream_that_ends_too_early_is_an_error() -> None:
    """A stream that ends within a message is an error of the reader, never fewer rows."""
    made = io.BytesIO()
    table = _table().select(["text"])
    with pa.ipc.new_stream(made, table.schema) as writer:
        writer.write_table(table, max_chunksize=1_000)
    whole = made.getvalue()
    for end in range(1, len(whole) - 8, len(whole) // 50):
        try:
            expected = pl.read_ipc_stream(whole[:end]).height
        except (pl.exceptions.PolarsError, OSError):
            with pytest.raises((pl.exceptions.PolarsError, OSError, ValueError)):
                _height(whole[:end])
        else:
            assert _height(whole[:end]) == expected


def _height(data: bytes) -> int:
    return sum(pl.read_ipc_stream(part.data).height for part in arrow_streams(data, 1_000))
