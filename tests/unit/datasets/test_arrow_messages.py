"""The cells that Arrow IPC declares are those that pyarrow finds in it."""

from __future__ import annotations

import io
import random
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pytest

from kafka_replica.data.files.arrow_limit import declared_cells


def _written(start: Any, compression: str | None, batches: list[pa.RecordBatch]) -> bytes:
    made = io.BytesIO()
    with start(made, batches[0].schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return made.getvalue()


def _batches() -> list[pa.RecordBatch]:
    dice = random.Random(1)
    sizes = [dice.randrange(200) for _ in range(8)]
    return [pa.record_batch([pa.array(range(size)), pa.array(["a"] * size)], names=["x", "y"]) for size in sizes]


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("start", [pa.ipc.new_file, pa.ipc.new_stream])
def test_declared_cells_are_those_of_pyarrow(start: Any, compression: str | None) -> None:
    """Files and streams, compressed or not."""
    batches = _batches()
    expected = sum(batch.num_rows * batch.num_columns for batch in batches)
    assert declared_cells(_written(start, compression, batches)) == expected


def test_damaged_messages_end_the_count() -> None:
    """Changed and cut data never raises an error, and takes no time."""
    dice = random.Random(2)
    good = _written(pa.ipc.new_stream, "zstd", _batches())
    for _ in range(3_000):
        data = bytearray(good[: dice.randrange(1, len(good))])
        for _ in range(dice.randrange(6)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        assert declared_cells(bytes(data)) >= 0
