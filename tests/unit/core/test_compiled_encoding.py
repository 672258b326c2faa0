"""The compiled encoding of records for the store on disk is that of the definition in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica.broker.reading.record_parsing import parse_records
from kafka_replica.common.compiled import PARSER
from kafka_replica.records import Partition, Record, Stored, as_record, source_of
from kafka_replica.stores.packed_headers import pack_headers
from kafka_replica.stores.rocks.codec import pack_record, unpack_record
from support.core.batch_bytes import Written, batch_bytes
from support.core.leaks import assert_no_leaks
from support.effort import examples

pytestmark = pytest.mark.skipif(PARSER is None, reason="NOT TESTED: the compiled parser was not built")

PLACES = [Partition("a", 0), Partition("a", 1), Partition("b", 0)]
I64 = (1 << 63) - 1

values = st.none() | st.binary(max_size=20) | st.just(b"v" * 300)
headers = st.lists(
    st.tuples(st.sampled_from(["", "h", "größe", "\udce4"]), st.none() | st.binary(max_size=3)), max_size=2
)
numbers = st.sampled_from([0, 1, 255, 256, 1 << 33, I64, -1, -I64 - 1]) | st.integers(-I64 - 1, I64)
records = st.builds(
    Record, st.binary(max_size=5), values, numbers, numbers, headers.map(tuple), st.sampled_from(PLACES)
)


def in_form(record: Record, form: int) -> Stored:
    """Return a record as a Record, as a tuple without its partition, or in the form of the compiled parser."""
    if form == 0:
        return record
    if form == 1:
        return record[:5]
    written = Written(record.key, record.value, 0, 0, record.headers)
    data = batch_bytes([written], base_offset=record.offset, first_timestamp=record.timestamp_ms)
    (stored,) = parse_records(data, record.source)
    return stored


def expected(changes: Sequence[tuple[bytes, Stored]], source: Partition) -> list[tuple[bytes, bytes | None]]:
    """Return what the store in Python writes."""
    return [
        (b"d" + key, None if raw[1] is None else pack_record(raw, PLACES.index(source_of(raw, source))))
        for key, raw in changes
    ]


def written_by_parser(changes: list[tuple[bytes, Any]], source: Partition) -> list[tuple[bytes, bytes | None]]:
    """Return what the compiled function writes."""
    found: list[tuple[bytes, bytes | None]] = []
    assert PARSER is not None
    PARSER.write(
        changes, source, lambda *pair: found.append(pair), lambda key: found.append((key, None)), b"d", PLACES.index,
        pack_headers,
    )  # fmt: skip
    return found


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.tuples(st.binary(max_size=5), records, st.integers(0, 2)), max_size=6), st.sampled_from(PLACES))
def test_the_same_bytes(made: list[tuple[bytes, Record, int]], source: Partition) -> None:
    """Records in each form, of several partitions, with and without headers, and tombstones; and it can be read."""
    changes = [(key, in_form(record, form)) for key, record, form in made]
    found = written_by_parser(changes, source)
    assert found == expected(changes, source)
    for (key, data), (_, raw) in zip(found, changes, strict=True):
        if data is not None:
            assert unpack_record(key[1:], data, PLACES, False) == as_record(raw, source).replace(key=key[1:])
    assert PARSER is not None
    stored = [raw for _, raw in changes]
    assert PARSER.size_bytes(stored) == sum(len(raw[0]) + len(raw[1] or b"") for raw in stored)


def test_records_without_a_key_have_a_size() -> None:
    """A record without a key is refused later; here it counts with its value."""
    assert PARSER is not None
    assert PARSER.size_bytes([(None, b"12"), (b"k", None), (None, None)]) == 3
    assert PARSER.size_bytes(()) == 0
    with pytest.raises(TypeError):
        PARSER.size_bytes([b"k"])


def test_errors_of_the_batch_are_raised() -> None:
    """An error of one of the functions ends writing, and is raised as it is."""
    record = Record(b"k", b"v", 1, 2, (("h", b"1"),), PLACES[0])

    def fail(*_: object) -> Any:
        raise OSError("full")

    def done(*_: object) -> None:
        pass

    assert PARSER is not None
    for put, delete, number_of, pack in (
        (fail, done, PLACES.index, pack_headers),
        (done, fail, PLACES.index, pack_headers),
        (done, done, fail, pack_headers),
        (done, done, PLACES.index, fail),
    ):
        changes: list[tuple[bytes, Any]] = [(b"k", record), (b"k", record.replace(value=None))]
        with pytest.raises(OSError, match="full"):
            PARSER.write(changes, PLACES[0], put, delete, b"d", number_of, pack)


@pytest.mark.parametrize(
    "change",
    [
        None, (), (b"k",), (b"k", None), ("k", Record(b"k", b"v", 1, 2, (), PLACES[0])), (b"k", (b"k", b"v", 1, 2)),
        (b"k", (b"k", "v", 1, 2, ())), (b"k", (b"k", b"v", "1", 2, ())), (b"k", (b"k", b"v", 1, 1 << 64, ())),
    ],
)  # fmt: skip
def test_wrong_changes_are_refused(change: Any) -> None:
    """Anything but a key with a record is an error and no crash."""
    with pytest.raises((TypeError, OverflowError)):
        written_by_parser([change], PLACES[0])


def test_nothing_is_leaked() -> None:
    """Memory stays as it is, whether records are written or refused; the shared objects keep their count."""
    source = Partition("leaks", 7)
    data = batch_bytes([Written(b"k%d" % n, b"v" * 600, n, n, (("h", b"%d" % n),)) for n in range(20)])
    stored = parse_records(data, source)
    changes: list[tuple[bytes, Any]] = [(raw[0], raw) for raw in stored]
    changes += [(raw[0], as_record(raw, source).replace(value=None)) for raw in stored]

    def work() -> None:
        assert PARSER is not None
        found: list[Any] = []
        arguments = (found.append, b"d", lambda _: 3, pack_headers)
        PARSER.write(changes, source, lambda *pair: found.append(pair), *arguments)
        PARSER.size_bytes(stored)
        with pytest.raises(TypeError):
            PARSER.write([*changes, (b"k", None)], source, lambda *pair: found.append(pair), *arguments)

    assert_no_leaks(work, source)
