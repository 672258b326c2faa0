"""The compiled scanner of batches finds, and refuses, the same as the one in Python."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica.broker.reading.batches import RawContent, ScannedBatches, scan_batches
from kafka_replica.broker.reading.spill_buffer import SpillBuffer
from kafka_replica.common.compiled import SCANNER, CompiledScanner
from kafka_replica.errors import BrokerError
from kafka_replica.records import Partition
from kafka_replica.transactions import Batch, Kind
from support.core.batch_bytes import HEAD_BYTES, Written, batch_bytes
from support.core.leaks import assert_no_leaks
from support.effort import examples

_SOURCE = Partition("t", 3)
_HEAD = struct.Struct(">qiibIhiqqqhii")
_FIELDS = (
    "base", "length", "leader_epoch", "magic", "crc", "attributes", "last", "first_ms", "max_ms",
    "producer_id", "epoch", "sequence", "count",
)  # fmt: skip
_I16, _I32, _I64 = (1 << 15) - 1, (1 << 31) - 1, (1 << 63) - 1
_MARKER = Written(b"\0\0\0\1", b"\0\0\0\0\0\7")
needs_scanner = pytest.mark.skipif(SCANNER is None, reason="NOT TESTED: the compiled scanner was not built")

records = st.lists(
    st.builds(Written, key=st.binary(max_size=3), value=st.none() | st.binary(max_size=9)), min_size=1, max_size=3
)
markers = st.sampled_from([
    [_MARKER], [Written(b"\0\0\0\0", b"")], [Written(b"\0\0\0\2", b"")], [Written(b"\0\0\1\1", b"")],
    [Written(b"\0\0\0\1", bytes(200))], [Written(b"\0\1", b"")], [Written(None, b"")],
])  # fmt: skip


def with_head(batch: bytes, **fields: int) -> bytes:
    """Return a batch with other values in its head."""
    numbers = dict(zip(_FIELDS, _HEAD.unpack_from(batch), strict=True)) | fields
    return _HEAD.pack(*numbers.values()) + batch[HEAD_BYTES:]


def log_of(batches: list[tuple[list[Written], int, int, dict[str, int]]]) -> bytes:
    """Return a log of batches, each after the one before it; a batch with the attribute CONTROL is a marker."""
    log, base = b"", 0
    for written, attributes, gap, fields in batches:
        base += gap
        log += with_head(
            batch_bytes(written, attributes=attributes, codec_number=attributes & 7), **{"base": base, **fields}
        )
        base += len(written)
    return log


heads = st.fixed_dictionaries({}, optional={
    "base": st.sampled_from([0, -1, -_I64 - 1, _I64, _I64 - 5]),
    "last": st.sampled_from([0, 1, 4, -1, -2, _I32, -_I32 - 1]),
    "count": st.sampled_from([0, 1, 5, -1, _I32]),
    "leader_epoch": st.sampled_from([-1, 0, 9, _I32]),
    "epoch": st.sampled_from([-1, 0, 4, _I16, -_I16 - 1]),
    "producer_id": st.sampled_from([-1, 0, 4711, _I64, -_I64 - 1]),
})  # fmt: skip
logs = st.lists(
    st.one_of(
        st.tuples(records, st.sampled_from([0, 16, 1, 19, 4, 20]), st.sampled_from([0, 0, 5]), heads),
        st.tuples(markers, st.sampled_from([48, 48, 32, 49]), st.sampled_from([0, 0, 5]), heads),
    ),
    max_size=5,
).map(log_of)
damage = st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=2)


def scanned(log: bytes, position: int, scanner: CompiledScanner | None) -> ScannedBatches | str:
    """Scan a log in the middle of other bytes; return the text of an error."""
    view = memoryview(b"\xff" * 100 + log + b"\xff" * 100)[100:-100]
    try:
        return scan_batches(view, _SOURCE, position, 7, SpillBuffer(), scanner)
    except BrokerError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - of the parser of unusual markers, for both
        return repr(error)


def comparable(batch: Batch) -> tuple[Any, ...]:
    """Return all that a batch contains."""
    content = batch.content
    assert isinstance(content, RawContent)
    assert isinstance(content._data, memoryview)
    assert content._partition is _SOURCE
    return type(batch), *map(type, batch), *batch[:-1], bytes(content._data), content._from, content.ahead


def assert_same(log: bytes, position: int = 0) -> ScannedBatches | str:
    """Compare both scanners; return what they found."""
    found, expected = scanned(log, position, SCANNER), scanned(log, position, None)
    if isinstance(expected, str) or isinstance(found, str):
        assert found == expected
        return expected
    assert list(map(comparable, found.batches)) == list(map(comparable, expected.batches))
    assert (found.position, found.epoch, found.gap) == (expected.position, expected.epoch, expected.gap)
    assert [(bytes(piece), count) for _, piece, count in found.compressed] == [
        (bytes(piece), count) for _, piece, count in expected.compressed
    ]
    contents = [batch.content for batch in found.batches]
    assert all(any(content is each for each in contents) for content, _, _ in found.compressed)
    return found


@needs_scanner
@settings(max_examples=examples(1_000))
@given(logs, st.sampled_from([0, 0, 1, 2, 7]), damage, st.sampled_from([0, 0, 1, 20, 70]))
def test_any_log(log: bytes, position: int, wrong: list[tuple[float, int]], cut: int) -> None:
    """Data, markers, emptied and compressed batches, missing offsets, damaged bytes, any beginning and end."""
    damaged = bytearray(log[: max(len(log) - cut, 0)])
    for place, byte in wrong:
        if damaged:
            damaged[int(place * len(damaged))] = byte
    assert_same(bytes(damaged), position)


@needs_scanner
def test_every_truncation() -> None:
    """Wherever a log ends, the batches before that place are found."""
    log = log_of([([Written(b"k", b"v")], 16, 0, {}), ([_MARKER], 48, 0, {}), ([Written(b"k", b"v")] * 3, 0, 0, {})])
    for end in range(len(log) + 1):
        found = assert_same(log[:end])
    assert isinstance(found, ScannedBatches)
    assert found.position == 3  # the last batch claims to have one offset
    assert [batch.kind for batch in found.batches] == [Kind.DATA, Kind.COMMIT, Kind.PLAIN]
    assert all(isinstance(batch.kind, Kind) for batch in found.batches)


@pytest.mark.parametrize("scanner", [None, pytest.param(SCANNER, marks=needs_scanner)])
@pytest.mark.parametrize("length", [-_I32 - 1, -1000, -13, -12, -11, 0, 48])
def test_an_impossible_length_is_an_error(scanner: CompiledScanner | None, length: int) -> None:
    """A batch that would end before its own head is an error, and no endless loop."""
    good = batch_bytes([Written(b"k", b"v")])
    with pytest.raises(
        BrokerError, match="the batch of t-3 at offset 1 is damaged: its length or offset is impossible"
    ):
        scan_batches(memoryview(good + with_head(good, base=1, length=length)), _SOURCE, 0, -1, SpillBuffer(), scanner)


@pytest.mark.parametrize("scanner", [None, pytest.param(SCANNER, marks=needs_scanner)])
@pytest.mark.parametrize(("base", "last"), [(-1, 0), (-_I64 - 1, -2), (_I64, 0), (_I64 - 1, 1), (_I64 - _I32, _I32)])
def test_an_impossible_offset_is_an_error(scanner: CompiledScanner | None, base: int, last: int) -> None:
    """An offset below 0, or an end that no number of 64 bits can hold, is an error, and no position."""
    log = with_head(batch_bytes([Written(b"k", b"v")]), base=base, last=last)
    with pytest.raises(BrokerError, match=f"the batch of t-3 at offset {base} is damaged: its length or offset"):
        scan_batches(memoryview(log), _SOURCE, 0, -1, SpillBuffer(), scanner)


@pytest.mark.parametrize("scanner", [None, pytest.param(SCANNER, marks=needs_scanner)])
def test_an_old_format_is_an_error(scanner: CompiledScanner | None) -> None:
    """A batch from before Kafka 0.11 is named, with what to do."""
    log = with_head(batch_bytes([Written(b"k", b"v")]), base=9, magic=1)
    with pytest.raises(BrokerError, match=r'before Kafka 0.11 at offset 9; read this topic with boundaries="quiesc'):
        scan_batches(memoryview(log), _SOURCE, 0, -1, SpillBuffer(), scanner)


@pytest.mark.parametrize("scanner", [None, pytest.param(SCANNER, marks=needs_scanner)])
@pytest.mark.parametrize(("message", "magic"), [(b"", 0), (b"", 1), (b"some value", 1)])
def test_a_message_shorter_than_a_batch_is_an_error(
    scanner: CompiledScanner | None, message: bytes, magic: int
) -> None:
    """A message of an old format may be shorter than the head of a batch; also a part of it shows its format."""
    times = struct.pack(">q", 4711) if magic else b""
    body = struct.pack(">IBB", 0, magic, 0) + times + struct.pack(">ii", -1, len(message)) + message
    log = batch_bytes([Written(b"k", b"v")]) + struct.pack(">qi", 1, len(body)) + body
    begin = len(log) - len(body) - 12
    assert len(log) - begin < HEAD_BYTES
    for end in range(begin, begin + 17):
        found = scan_batches(memoryview(log)[:end], _SOURCE, 0, -1, SpillBuffer(), scanner)
        assert (len(found.batches), found.position) == (1, 1)
    for end in range(begin + 17, len(log) + 1):
        with pytest.raises(BrokerError, match=r"has batches from before Kafka 0\.11 at offset 1; read"):
            scan_batches(memoryview(log)[:end], _SOURCE, 0, -1, SpillBuffer(), scanner)


@needs_scanner
def test_nothing_is_leaked() -> None:
    """Memory stays as it is, with all kinds of batches and errors; the shared objects keep their count."""
    source = Partition("leaks", 7)
    buffer = SpillBuffer()
    good = log_of([
        ([Written(b"k", b"v" * 300)], 16, 0, {}), ([_MARKER], 48, 0, {}), ([Written(b"\0\0\0\2", b"")], 48, 0, {}),
        ([Written(b"\0\0\0\1", bytes(200))], 48, 0, {}), ([Written(b"k", b"v")], 3, 4, {}),
    ])  # fmt: skip
    old = good + with_head(batch_bytes([Written(b"k", b"v")]), magic=0, base=1000)
    unreadable = good + with_head(batch_bytes([_MARKER], attributes=48 | 1), base=1000)

    def work() -> None:
        assert len(scan_batches(memoryview(good), source, 1_000_000_000, -1, buffer).batches) == 0
        assert len(scan_batches(memoryview(good), source, 0, -1, buffer).batches) == 4
        with pytest.raises(BrokerError):
            scan_batches(memoryview(old), source, 0, -1, buffer)
        with pytest.raises(OSError, match="gzip"):
            scan_batches(memoryview(unreadable), source, 0, -1, buffer)

    assert_no_leaks(work, source, buffer)


@needs_scanner
def test_wrong_types_are_refused() -> None:
    """The scanner creates plain tuples only, and needs four kinds."""
    assert SCANNER is not None

    class WithDict(tuple[Any, ...]):
        pass

    for batch_type, kinds in ((WithDict, (0, 1, 2, 3)), (list, (0, 1, 2, 3)), (Batch, (0, 1))):
        with pytest.raises(TypeError):
            SCANNER.scan(b"", _SOURCE, 0, 0, None, batch_type, kinds, RawContent, bool)  # type: ignore[arg-type]
