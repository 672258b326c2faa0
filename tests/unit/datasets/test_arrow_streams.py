"""Streams of Arrow IPC in parts: the same rows and types as the whole, whatever the batches and dictionaries."""

from __future__ import annotations

import io
from typing import Literal

import polars as pl
import pyarrow as pa
import pytest

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.arrow_limit import check_expanded_bytes
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


def _written(texts: list[str], rows: int) -> bytes:
    made = io.BytesIO()
    table = pa.table({"text": texts})
    with pa.ipc.new_stream(made, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)
    return made.getvalue()


@pytest.mark.thorough
def test_a_stream_that_ends_too_early_is_an_error() -> None:
    """A stream that ends within a message is an error, never fewer rows or other values, unless it is empty."""
    whole = _written([str(at % 7) * (at % 20) for at in range(_ROWS)], 1_000)
    ends = {*range(1, len(whole) - 8, len(whole) // 50), *range(len(whole) - 80, len(whole) - 8)}
    for end in sorted(ends):
        try:
            frame = pl.concat(pl.read_ipc_stream(part.data) for part in arrow_streams(whole[:end], 1_000))
        except (pl.exceptions.PolarsError, OSError, ValueError):
            continue
        assert frame.equals(pl.read_ipc_stream(whole).head(frame.height))
        assert frame.height % 1_000 == 0


def test_values_cut_from_the_last_batch_are_an_error() -> None:
    """The bytes after the cut would otherwise be taken from the mark at the end of the stream."""
    whole = _written(["abcdefgh"], 1)
    with pytest.raises(ValueError, match="ends too early"):
        _height(whole[:-12])


def test_concatenated_streams_are_an_error() -> None:
    """Readers end at the first mark, so the rows after it would be lost; zeros after it are padding."""
    one = _written(["a"], 1)
    assert _height(one + bytes(64)) == 1
    with pytest.raises(ValueError, match="data follows the end of the stream"):
        _height(one + bytes(8) + one)
    with pytest.raises(DatasetError, match=r"reading two\.arrow: data follows the end of the stream"):
        check_expanded_bytes(one + one, "two.arrow")


def _height(data: bytes) -> int:
    return sum(pl.read_ipc_stream(part.data).height for part in arrow_streams(data, 1_000))
