"""The decode cache: content is decoded once for all versions, as long as there is room."""

from __future__ import annotations

import gzip
import os
import threading
from typing import Any

import pytest

from kafka_replica.errors import ConfigurationError
from kafka_replica.sdmx import Structures, split_message
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.shared.reading.error_collector import OnError
from kafka_replica.sdmx.lookups import decoding as module
from kafka_replica.sdmx.lookups.cache import DecodeCache, content_of
from kafka_replica.sdmx.messages.message import Message
from kafka_replica.sdmx.reading.messages import read_message, size_of
from support.sdmx.sdmx_corpus import FakeSnapshot, record
from support.sdmx.sdmx_json_samples import URN, artefact, message, named

ONE = message({"codelists": [artefact("CL", codes=[named("A")])]})
KEY = f"{URN}codelist.Codelist=A:CL(1.0.0)"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The contents that were decoded."""
    seen: list[bytes] = []

    def read(data: bytes, content_type: str | None, *, on_error: OnError) -> Message:
        seen.append(data)
        return read_message(data, content_type, on_error=on_error)

    monkeypatch.setattr(module, "read_message", read)
    return seen


def lists(count: int) -> FakeSnapshot:
    """Return the given number of codelists, in a record each."""
    data = {"codelists": [artefact(f"L{at}", codes=[named("A")]) for at in range(count)]}
    return FakeSnapshot.of(split_message(message(data)))


def test_an_artefact_that_an_index_knows_is_found_without_its_record() -> None:
    """After a look-up of references the cache is asked without reading the record; a change is still seen."""
    snapshot = FakeSnapshot({KEY.encode(): record(KEY.encode(), ONE)}, 1)
    found = Structures(snapshot, cache=DecodeCache())
    found.dangling_references()
    again = found.moved_to(snapshot, [])
    again.dangling_references()
    snapshot.gets = 0
    assert list(again.codelist(KEY).codes) == ["A"]
    assert snapshot.gets == 0
    changed = message({"codelists": [artefact("CL", codes=[named("B")])]})
    moved = again.moved_to(FakeSnapshot({KEY.encode(): record(KEY.encode(), changed)}, 2), [KEY.encode()])
    assert list(moved.codelist(KEY).codes) == ["B"]
    moved.dangling_references()
    assert list(moved.codelist(KEY).codes) == ["B"]


def test_versions_share_objects_of_equal_content(reads: list[bytes]) -> None:
    """Two versions, and another record of the same content, give the same object, decoded once."""
    cache = DecodeCache()
    first = Structures(FakeSnapshot({KEY.encode(): record(KEY.encode(), ONE)}, 1), cache=cache)
    later = record(KEY.encode(), bytes(bytearray(ONE)), offset=77)
    second = Structures(FakeSnapshot({KEY.encode(): later}, 2), cache=cache)
    assert first.get(KEY) is second.get(KEY) is first.get(KEY)
    assert len(reads) == 1
    stats = cache.stats
    assert (stats.misses, stats.hits, stats.contents, stats.size_bytes) == (1, 2, 1, len(ONE))
    assert stats.decode_seconds > 0
    cache.clear()
    assert first.get(KEY) is not None
    assert len(reads) == 2


def test_all_look_ups_of_a_process_share_one_cache(reads: list[bytes]) -> None:
    """All look-ups of a process share one cache unless another is given."""
    value = message({"codelists": [artefact("CL", codes=[named(f"ONLY_HERE_{os.getpid()}")])]})
    held = {KEY.encode(): record(KEY.encode(), value)}
    assert Structures(FakeSnapshot(held, 1)).get(KEY) is Structures(FakeSnapshot(held, 2)).get(KEY)
    assert len(reads) == 1


def test_the_bound_is_kept(reads: list[bytes]) -> None:
    """The least recently used content is dropped, content beyond the bound is not kept, a lower bound acts at once."""
    snapshot = lists(4)
    size = len(next(iter(snapshot.records.values())).value or b"")
    cache = DecodeCache(3 * size)
    structures = Structures(snapshot, cache=cache)
    urns = structures.find()
    for urn in (*urns[:3], urns[0], urns[3]):
        structures.get(urn)
    assert len(reads) == 4
    structures.get(urns[0])
    assert len(reads) == 4
    structures.get(urns[1])
    assert len(reads) == 5
    assert (cache.stats.size_bytes, cache.stats.contents, cache.stats.evictions) == (3 * size, 3, 2)
    cache.max_bytes = size
    assert cache.stats.contents == 1
    cache.max_bytes = size - 1
    structures.get(urns[2])
    assert cache.stats[4:] == (0, 0, size - 1)
    assert DecodeCache(0).stats.max_bytes == 0
    for wrong in (-1, 1.5, None):
        with pytest.raises(ConfigurationError, match="max_bytes"):
            DecodeCache(wrong)  # type: ignore[arg-type]


def test_a_full_scan_keeps_objects_in_use() -> None:
    """The index of references decodes everything, and uses only the remaining room of the cache."""
    snapshot = lists(10)
    size = len(next(iter(snapshot.records.values())).value or b"")
    cache = DecodeCache(2 * size + 1)
    structures = Structures(snapshot, cache=cache)
    used = structures.find()[9]
    kept = structures.get(used)
    assert structures.dangling_references() == ()
    assert structures.get(used) is kept
    assert cache.stats.contents == 2


@pytest.mark.parametrize("value", [ONE, gzip.compress(ONE * 1), gzip.compress(b" " * 100_000 + ONE)])
def test_messages_count_with_their_unpacked_size(value: bytes) -> None:
    """A message in gzip counts with its unpacked size."""
    plain = gzip.decompress(value) if value[:2] == b"\x1f\x8b" else value
    assert size_of(value) == len(plain)


def test_threads_wait_only_for_the_content_they_request() -> None:
    """A thread that requests content being decoded waits for it; threads that request other content do not wait."""
    cache = DecodeCache()
    begun, go_on = threading.Event(), threading.Event()
    decoded = read_message(ONE)
    found: list[Message] = []
    calls: list[int] = []

    def slow() -> tuple[Message, int]:
        calls.append(1)
        begun.set()
        assert go_on.wait(30)
        return decoded, 1

    first, second = (content_of(one, None) for one in (b"1", b"2"))
    threads = [threading.Thread(target=lambda: found.append(cache.message(first, slow))) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert begun.wait(30)
    other = read_message(ONE)
    assert cache.message(second, lambda: (other, 1)) is other
    go_on.set()
    for thread in threads:
        thread.join(30)
    assert len(calls) == 1
    assert len(found) == 4
    assert all(one is decoded for one in found)


def test_unreadable_content_raises_in_each_waiting_thread() -> None:
    """Threads that waited for unreadable content get an error, too, and the next request tries again."""
    cache = DecodeCache()
    gate = threading.Barrier(4)
    errors: list[Exception] = []
    calls: list[int] = []

    def broken() -> tuple[Message, int]:
        calls.append(1)
        raise MessageError("broken")

    def ask() -> None:
        gate.wait(30)
        try:
            cache.message(content_of(b"", None), broken)
        except MessageError as error:
            errors.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len({id(error) for error in errors}) == 4
    with pytest.raises(MessageError):
        cache.message(content_of(b"", None), broken)
    assert cache.stats.contents == 0


def test_the_media_type_is_a_part_of_the_content() -> None:
    """The media type is part of the cache key: the same bytes may be another format."""
    assert content_of(b"{}", None) != content_of(b"{}", "application/vnd.fusion.json")
    assert content_of(b"{}", "a") == content_of(bytes(bytearray(b"{}")), "a")


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_can_decode(capfd: Any) -> None:
    """A lock that another thread held at a fork does not block the child."""
    cache = DecodeCache()
    held, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        with cache._lock:
            held.set()
            go_on.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(30)
    child = os.fork()
    if child == 0:
        ok = cache.message(content_of(ONE, None), lambda: (read_message(ONE), 1)) is not None
        os._exit(0 if ok else 1)
    go_on.set()
    thread.join(30)
    assert os.waitpid(child, 0)[1] == 0
    del capfd
