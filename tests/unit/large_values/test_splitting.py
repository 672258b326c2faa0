"""Splitting and assembling of one value: every size, every damage, and keys that cannot be confused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_replica import KeyFilter
from kafka_replica.errors import BadRecordError, UsageError
from kafka_replica.large_values import WireRecord, assemble, is_chunk_key, main_key, manifest_of, split
from kafka_replica.large_values.keys import MARK, chunk_key, parse_chunk_key, with_chunks
from kafka_replica.large_values.manifest import HEADER, Manifest
from kafka_replica.records import Headers, Partition, Record, topic_key

ID = "0" * 32
KEYS = st.binary(max_size=20).filter(lambda key: MARK not in b"\0" + key)
HEADERS = st.lists(st.tuples(st.sampled_from(["a", "b"]), st.none() | st.binary(max_size=3)), max_size=3).map(tuple)


def records(written: Iterable[WireRecord]) -> dict[bytes, Record]:
    """Return the state after records were written."""
    found = {
        each.key: Record(each.key, each.value, offset, 7, each.headers, Partition("t", 2))
        for offset, each in enumerate(written)
    }
    return {key: record for key, record in found.items() if not record.is_tombstone}


@pytest.mark.thorough
@given(KEYS, st.binary(max_size=60), HEADERS, st.integers(1, 25))
def test_a_value_is_assembled_as_it_was_split(key: bytes, value: bytes, headers: Headers, chunk_bytes: int) -> None:
    """The reader gets the value, the headers and the offset of the main key's record; chunks are at most so large."""
    written = list(split(key, value, headers=headers, chunk_bytes=chunk_bytes).records)
    state = records(written)
    read = assemble(key, state[key], state.get)
    assert (read.value, read.headers, read.key) == (value, headers, key)
    assert (read.offset, read.timestamp_ms, read.source) == (state[key].offset, 7, Partition("t", 2))
    chunks = [record for record in written if is_chunk_key(record.key)]
    assert all(len(chunk.value or b"") <= chunk_bytes for chunk in chunks)
    assert bool(chunks) == (len(value) > chunk_bytes)
    assert written[-1].key == key
    if not chunks:
        assert written == [(key, value, headers)]


@given(KEYS, st.binary(min_size=11, max_size=40), st.none() | st.binary(max_size=40))
def test_the_chunks_of_the_previous_value_are_deleted(key: bytes, before: bytes, after: bytes | None) -> None:
    """After a value was replaced or deleted, the state has the records of the new value only."""
    first = split(key, before, chunk_bytes=10)
    second = split(key, after, first.manifest, chunk_bytes=10)
    old, new = list(first.records), list(second.records)
    assert set(records([*old, *new])) == {record.key for record in new if record.value is not None}
    assert [record.value for record in new[-len(old) + 1 :]] == [None] * (len(old) - 1)  # at the end


@given(KEYS, st.integers(0, (1 << 32) - 1), st.sampled_from(["structures", "t"]))
def test_the_key_of_a_chunk_names_its_main_key(key: bytes, number: int, topic: str) -> None:
    """The parts are read from the key alone, also with the prefix of a topic; no main key is taken for a chunk's."""
    chunk = chunk_key(key, ID, number)
    assert parse_chunk_key(chunk) == (key, ID, number)
    assert is_chunk_key(chunk)
    assert main_key(chunk) == main_key(key) == key
    assert not is_chunk_key(key)
    assert not is_chunk_key(topic_key(topic, key))
    assert main_key(topic_key(topic, chunk)) == topic_key(topic, key)
    assert parse_chunk_key(key) is None


def test_the_bytes_in_the_topic_are_the_documented_ones() -> None:
    """The bytes in the topic are as docs/large-values.md describes them."""
    first, second, manifest = split("k", b"abc", headers=(("h", b"1"),), chunk_bytes=2, write_id=ID).records
    assert first == (b"k\0kr-chunk/1/" + ID.encode() + b"/00000000", b"ab", (("large-value", b"chunk/1"),))
    assert second == (b"k\0kr-chunk/1/" + ID.encode() + b"/00000001", b"c", (("large-value", b"chunk/1"),))
    assert manifest.headers == (("h", b"1"), ("large-value", b"manifest/1"))
    assert json.loads(manifest.value or b"") == {
        "write_id": ID, "size": 3, "chunk_bytes": 2, "count": 2,
        "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    }  # fmt: skip
    assert parse_chunk_key(b"k\0kr-chunk/2/later") is None
    assert is_chunk_key(b"k\0kr-chunk/2/later")


def test_equal_values_of_one_key_share_no_chunk() -> None:
    """Each write of the same value has an id of its own, so that no two writes share a chunk."""
    ids = {split("k", b"abc", chunk_bytes=1).manifest.write_id for _ in range(100)}  # type: ignore[union-attr]
    assert len(ids) == 100


@pytest.mark.parametrize("write_id", ["nope", "", "0" * 31, "A" * 32, "0" * 32 + "\n"])
def test_an_id_of_a_write_that_cannot_be_read_is_refused(write_id: str) -> None:
    """A manifest with such an id would be bad for each reader."""
    with pytest.raises(UsageError, match="32 hexadecimal digits"):
        split("k", b"abc", chunk_bytes=2, write_id=write_id)


def large() -> dict[bytes, Record]:
    """Return the state with one large value."""
    return records(split("k", b"abcdefgh", chunk_bytes=3, write_id=ID).records)


def read(state: dict[bytes, Record]) -> Record:
    """Return the assembled record."""
    return assemble(b"k", state[b"k"], state.get)


@pytest.mark.parametrize(
    ("number", "value", "expected_text"),
    [
        (1, None, "chunk 2 of 3 is missing"),
        (1, b"de", "chunk 2 of 3 has 2 bytes instead of 3"),
        (2, b"ghi", "chunk 3 of 3 has 3 bytes instead of 2"),
        (1, b"dEf", "its hash differs"),
    ],
)
def test_a_value_with_a_wrong_chunk_is_never_shown(number: int, value: bytes | None, expected_text: str) -> None:
    """The error is that of a bad record: it names the record of the main key, and what is wrong."""
    state = large()
    chunk = chunk_key(b"k", ID, number)
    if value is None:
        del state[chunk]
    else:
        state[chunk] = state[chunk].replace(value=value)
    with pytest.raises(
        BadRecordError, match=rf"^record at t-2, offset 3, key 'k': its large value.*{expected_text}"
    ) as caught:
        read(state)
    assert caught.value.record == state[b"k"]


@pytest.mark.parametrize(
    "damage",
    [
        {"size": 0}, {"size": "8"}, {"chunk_bytes": 0}, {"chunk_bytes": True}, {"write_id": "x"}, {"sha256": "0"},
        {"count": 4}, {"size": 1 << 62}, {"sha256": None}, {"write_id": 5},
    ],
)  # fmt: skip
def test_a_damaged_manifest_is_refused(damage: dict[str, object]) -> None:
    """A manifest that makes no sense is a bad record, whatever sizes it claims."""
    state = large()
    manifest = json.loads(state[b"k"].value or b"")
    state[b"k"] = state[b"k"].replace(value=json.dumps({**manifest, **damage}).encode())
    with pytest.raises(BadRecordError, match="manifest is damaged"):
        read(state)


@given(st.binary(max_size=20) | st.sampled_from([b"[]", b"{}", b"null", b"[" * 100_000]))
def test_any_other_manifest_is_refused(value: bytes) -> None:
    """Bytes that are not a manifest are a bad record."""
    with pytest.raises(BadRecordError):
        manifest_of(large()[b"k"].replace(value=value))


def test_a_claimed_size_reserves_no_memory() -> None:
    """A manifest of a petabyte fails at its first chunk, before memory is used."""
    state = large()
    manifest = Manifest(ID, 1 << 50, 1 << 49, "0" * 64)
    state[b"k"] = state[b"k"].replace(value=manifest.encode())
    with pytest.raises(BadRecordError, match="chunk 1 of 2 has 3 bytes"):
        read(state)


@pytest.mark.parametrize("kinds", [[b"manifest/2"], [b"chunk/1"], [None], [b"manifest/1", b"manifest/1"]])
def test_a_record_of_another_format_is_refused(kinds: list[bytes | None]) -> None:
    """A later version of the format, or a chunk under a main key, is never shown as a value."""
    record = large()[b"k"].replace(headers=tuple((HEADER, kind) for kind in kinds))
    with pytest.raises(BadRecordError, match="the supported version is manifest/1"):
        manifest_of(record)


@pytest.mark.parametrize(
    ("arguments", "expected_text"),
    [
        ({"key": b"a\0kr-chunk/x"}, "reserved for chunks"),
        ({"key": "kr-chunk/x"}, "reserved for chunks"),
        ({"headers": ((HEADER, b""),)}, "the header large-value is reserved"),
        ({"value": "text"}, "its value is str, not bytes"),
        ({"chunk_bytes": 0}, "chunk_bytes=0 is not possible"),
        ({"previous": Manifest(ID, 1, 1, ""), "write_id": ID}, "was used before"),
    ],
)
def test_an_unsplittable_value_is_refused_before_the_first_record(
    arguments: dict[str, Any], expected_text: str
) -> None:
    """Impossible arguments raise an error with the reason before any record is made."""
    with pytest.raises(UsageError, match=re.escape(expected_text)):
        split(**{"key": "k", "value": b"abc", "chunk_bytes": 1, **arguments})


def test_a_filter_keeps_the_chunks_of_its_keys() -> None:
    """A filter for main keys decides about their chunks, whatever it looks at."""
    for key_filter in (KeyFilter.prefix("a"), KeyFilter.pattern("a?"), KeyFilter.regex("^a.$")):
        wide = with_chunks(key_filter)
        for key in (b"ab", b"b"):
            assert wide(chunk_key(key, ID, 0)) == wide(key) == key_filter(key)
        assert str(wide) != str(key_filter)
