"""The bytes that Arrow IPC declares are those that pyarrow finds in it."""

from __future__ import annotations

import contextlib
import io
import random
import struct
from collections.abc import Callable
from typing import Any, Literal

import pyarrow as pa
import pyarrow.ipc
import pytest

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.arrow_limit import check_expanded_bytes, expanded_bytes
from kafka_replica.data.files.arrow_messages import DataAfterEndError


def _written(start: Any, compression: Literal["lz4", "zstd"] | None, batches: list[pa.RecordBatch]) -> bytes:
    made = io.BytesIO()
    with start(made, batches[0].schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return made.getvalue()


def _batches() -> list[pa.RecordBatch]:
    dice = random.Random(1)
    return [
        pa.record_batch(
            [
                pa.array(range(size)),
                pa.array(["text" * dice.randrange(9) for _ in range(size)], pa.string()),
                pa.array([[1.5] * dice.randrange(9) for _ in range(size)], pa.list_(pa.float64())),
            ],
            names=["x", "y", "z"],
        )
        for size in (100, 1_000, 1, 400)
    ]


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("start", [pa.ipc.new_file, pa.ipc.new_stream])
def test_expanded_bytes_are_those_of_pyarrow(start: Any, compression: Literal["lz4", "zstd"] | None) -> None:
    """Files and streams, compressed or not; pyarrow pads buffers that are not compressed to 8 bytes."""
    batches = _batches()
    expected = sum(batch.nbytes for batch in batches)
    assert expected <= expanded_bytes(_written(start, compression, batches)) <= expected + 64 * len(batches)


@pytest.mark.long
@pytest.mark.parametrize("start", [pa.ipc.new_file, pa.ipc.new_stream])
@pytest.mark.parametrize(
    "column",
    [
        lambda: pa.ListArray.from_arrays([0, 60_000_000], pa.repeat(pa.scalar(0, pa.int64()), 60_000_000)),
        lambda: pa.array(["a" * 400_000_000]),
        lambda: pa.nulls(60_000_000),
    ],
    ids=["a long list in one row", "a long text in one row", "nulls"],
)
def test_one_long_value_is_refused(start: Any, column: Callable[[], pa.Array[Any]]) -> None:
    """Few rows can expand to as much as many."""
    data = _written(start, "zstd", [pa.record_batch([column()], names=["x"])])
    assert len(data) < 1_000_000
    with pytest.raises(DatasetError, match=r"reading bomb\.arrow: it expands to [\d,]{11,} bytes"):
        check_expanded_bytes(data, "bomb.arrow")


@pytest.mark.parametrize("start", [pa.ipc.new_file, pa.ipc.new_stream])
def test_nulls_in_a_list_count(start: Any) -> None:
    """The values of a list of nulls have no buffers, and may be more than the rows."""
    column = pa.ListArray.from_arrays(pa.array([0, 60_000_000], pa.int32()), pa.nulls(60_000_000))
    data = _written(start, None, [pa.record_batch([column], names=["x"])])
    with pytest.raises(DatasetError, match=r"reading bomb\.arrow: it expands to 480,000,000 bytes"):
        check_expanded_bytes(data, "bomb.arrow")


def test_a_batch_that_a_footer_names_often_counts_often() -> None:
    """The reader follows the footer, not the order of the messages."""
    data = bytearray(_written(pa.ipc.new_file, "zstd", _batches()[:2]))
    once = expanded_bytes(bytes(data))
    (size,) = struct.unpack_from("<i", data, len(data) - 10)
    footer = len(data) - 10 - size
    blocks = [
        at for at in range(footer, len(data) - 24, 4) if struct.unpack_from("<qi4xq", data, at)[0] in _places(data)
    ]
    first, second = blocks[-2:]
    data[first : first + 24] = data[second : second + 24]
    assert expanded_bytes(bytes(data)) > 1.5 * once


def _places(data: bytearray) -> set[int]:
    return {at for at in range(8, len(data) - 8, 8) if data[at : at + 4] == b"\xff\xff\xff\xff"} - {8}


@pytest.mark.thorough
def test_damaged_messages_end_the_count() -> None:
    """Changed and cut data, and lengths beyond all numbers, only end the count."""
    dice = random.Random(2)
    for start in (pa.ipc.new_file, pa.ipc.new_stream):
        good = _written(start, "zstd", _batches()[:2])
        for _ in range(2_000):
            data = bytearray(good[: dice.randrange(1, len(good))] if dice.random() < 0.3 else good)
            for _ in range(dice.randrange(6)):
                at = dice.randrange(len(data))
                data[at : at + 8] = dice.choice([b"\xff" * 7 + b"\x7f", b"\0" * 8, dice.randbytes(1)])
            with contextlib.suppress(DataAfterEndError):  # a change that looks like the end of a stream
                assert isinstance(expanded_bytes(bytes(data)), int)
