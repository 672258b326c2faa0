"""Batches that are decompressed together by another thread have the same records as batches decompressed alone."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from kafka_replica.broker.reading.batches import RawContent, scan_batches
from kafka_replica.broker.reading.decompression_ahead import Decompressor
from kafka_replica.broker.reading.record_parsing import parse_records
from kafka_replica.broker.reading.spill_buffer import SpillBuffer
from kafka_replica.common.compiled import PARSER
from kafka_replica.errors import DataError
from kafka_replica.records import Partition, Stored
from support.core.batch_bytes import Written, batch_bytes

SOURCE = Partition("t", 0)
LZ4, ZSTD = 3, 4
ENOUGH = 200  # batches: several groups

pytestmark = pytest.mark.skipif(PARSER is None, reason="NOT TESTED: the compiled parser was not built")


def log_of(codecs: Sequence[int], records: int = 3, *, wrong_counts: bool = False) -> bytes:
    """Return adjacent batches, each with its codec."""
    dice, log = random.Random(len(codecs)), b""
    for number, codec in enumerate(codecs):
        written = [
            Written(b"k%d" % number, dice.randbytes(dice.randrange(40)) * 20, place, 0) for place in range(records)
        ]
        made = bytearray(batch_bytes(written, base_offset=number * records, codec_number=codec))
        if wrong_counts and codec:  # one batch says that it has a record more, and the next one, a record less
            made[57:61] = (records + (1 if number % 2 == 0 else -1)).to_bytes(4, "big")
        log += bytes(made)
    return log


@contextmanager
def planned(log: bytes) -> Iterator[list[RawContent]]:
    """Yield the contents of the batches of a log, planned to be decompressed ahead."""
    scanned = scan_batches(memoryview(log), SOURCE, 0, -1, SpillBuffer())
    decompressor = Decompressor()
    decompressor.plan(scanned.compressed)
    yield [batch.content for batch in scanned.batches if isinstance(batch.content, RawContent)]
    decompressor.close()


def alone(log: bytes) -> list[Sequence[Stored] | None]:
    """Return the records of each batch, decompressed alone; None for a damaged batch."""
    found: list[Sequence[Stored] | None] = []
    for batch in scan_batches(memoryview(log), SOURCE, 0, -1, SpillBuffer()).batches:
        assert isinstance(batch.content, RawContent)
        found.append(records_of(batch.content))
    return found


def records_of(content: RawContent) -> Sequence[Stored] | None:
    """Return the records of a content; None if it is damaged."""
    try:
        return content.records()
    except DataError:
        return None


@pytest.mark.parametrize(
    "codecs",
    [
        [ZSTD] * ENOUGH,
        [LZ4] * ENOUGH,
        [ZSTD] * 100 + [LZ4] * 100 + [0] * 20 + [ZSTD] * 40,
        [1, 2] * 40 + [ZSTD] * 20,
        [ZSTD, LZ4] * 40,
        [ZSTD] * 5,
    ],
    ids=["zstd", "lz4", "several", "others", "in turn", "few"],
)
def test_the_same_records(codecs: list[int]) -> None:
    """In order, in reverse, and each second batch only; a second request for the same records returns them again."""
    log = log_of(codecs)
    expected = alone(log)
    assert None not in expected
    with planned(log) as contents:
        assert list(map(records_of, contents)) == expected
        assert list(map(records_of, contents)) == expected
    with planned(log) as contents:
        assert list(map(records_of, reversed(contents))) == expected[::-1]
    with planned(log) as contents:
        assert list(map(records_of, contents[::2])) == expected[::2]


def test_long_runs_of_zstd_and_lz4() -> None:
    """Long runs are decompressed together, from zstd and lz4; short ones, other codecs and plain batches are not."""
    for codecs, together in (([ZSTD] * 80 + [LZ4] * 30 + [0] * 30, 110), ([1] * 50 + [2] * 50, 0), ([ZSTD] * 5, 0)):
        with planned(log_of(codecs)) as contents:
            assert sum(content.ahead is not None for content in contents) == together
            taken = [content.ahead.take(content._data) for content in contents if content.ahead is not None]  # type: ignore[arg-type]
            assert sum(content is not None for content in taken) == together


def test_the_next_batches_are_decompressed_meanwhile() -> None:
    """The first request starts the decompression of its group and of the next one, and of no other."""
    with planned(log_of([ZSTD] * ENOUGH)) as contents:
        groups = list(dict.fromkeys(content.ahead for content in contents if content.ahead is not None))
        assert len(groups) > 3
        records_of(contents[0])
        assert [group._future is not None or group._contents is not None for group in groups[:3]] == [True, True, False]


def test_held_batches() -> None:
    """A batch that is held has its records, although its answer is gone."""
    log = log_of([ZSTD] * ENOUGH)
    with planned(log) as contents:
        for content in contents[::3]:
            content.hold()
        assert list(map(records_of, contents)) == alone(log)


@pytest.mark.parametrize("codec", [LZ4, ZSTD])
def test_damaged_batches(codec: int) -> None:
    """A damaged batch is reported, and only that one, although it is decompressed together with others."""
    log = bytearray(log_of([codec] * ENOUGH))
    starts = [0]
    while starts[-1] < len(log):
        starts.append(starts[-1] + 12 + int.from_bytes(log[starts[-1] + 8 : starts[-1] + 12], "big"))
    for number in (0, 30, 150):
        log[starts[number] + 61] ^= 0xFF  # the first byte of the frame
    found = alone(bytes(log))
    assert [number for number, records in enumerate(found) if records is None] == [0, 30, 150]
    with planned(bytes(log)) as contents:
        assert list(map(records_of, contents)) == found


@pytest.mark.parametrize("codec", [LZ4, ZSTD])
def test_a_batch_cannot_take_records_of_the_next(codec: int) -> None:
    """Batches whose heads say a record too much and a record too little in turn are all rejected."""
    log = log_of([codec] * ENOUGH, wrong_counts=True)
    assert alone(log) == [None] * ENOUGH
    with planned(log) as contents:
        assert list(map(records_of, contents)) == [None] * ENOUGH


def test_after_closing() -> None:
    """Records are available after the thread has ended."""
    log = log_of([ZSTD] * ENOUGH)
    with planned(log) as contents:
        pass
    assert list(map(records_of, contents)) == alone(log)


@pytest.mark.thorough
def test_closing_in_between() -> None:
    """Records are available if the reader is closed while their batches wait to be decompressed."""
    log = log_of([ZSTD] * ENOUGH)
    expected = alone(log)
    for _ in range(20):
        with planned(log) as contents:
            first = records_of(contents[0])
        assert [first, *map(records_of, contents[1:])] == expected


def test_the_ends_of_records() -> None:
    """The compiled function reports where batches end, and refuses wrong counts, separators and lengths."""
    assert PARSER is not None
    record, other = b"\x04ab", b"\x00"
    data = record + other + b"==" + record + b"=="
    assert PARSER.record_ends(data, [2, 1], b"==") == [4, 9]
    assert PARSER.record_ends(b"====", [0, 0], b"==") == [0, 2]
    for counts in ([1, 2], [3], [2], [2, 1, 1], [2, 1 << 40], [2, -(1 << 70)]):
        with pytest.raises((ValueError, OverflowError)):
            PARSER.record_ends(data, counts, b"==")
    for end in range(len(data)):
        with pytest.raises(ValueError, match=r"batch|record"):
            PARSER.record_ends(memoryview(data)[:end], [2, 1], b"==")
    assert parse_records(log_of([ZSTD]), SOURCE)
