"""Transaction headers set by a producer: they identify transactions and their latency."""

from __future__ import annotations

import threading
import time

from kafka_replica.headers.transactions import TransactionHeaders, origins_of, write_transaction_headers
from kafka_replica.large_values import is_chunk_key, split
from kafka_replica.listeners.version_diff import MergedDiff, VersionDiff
from kafka_replica.publication.health import Health
from kafka_replica.publication.latency import BOUNDS_S, Latencies
from kafka_replica.publication.publisher import Publisher
from kafka_replica.records import Headers, Partition, Record
from kafka_replica.stores import MemoryStore
from kafka_replica.stores.delta import AppliedChanges
from kafka_replica.testing import FakeTopic


def headers_of(number: int, ago_s: float = 0.0) -> tuple[tuple[str, bytes | None], ...]:
    """Return the headers of a record of transaction ``number``."""
    return write_transaction_headers(TransactionHeaders(f"s/{number}", 1, 1, int((time.time() - ago_s) * 1000)))


def test_each_time_is_counted_in_its_bucket() -> None:
    """Each time is counted in its bucket and no other; a time before the source's own counts as 0."""
    found = Latencies()
    for latency_s in (0.005, 0.0051, -3.0, 1e9):
        found = found.plus(latency_s)
    assert (found.counts[0], found.counts[1], found.counts[-1], found.count) == (2, 1, 1, 4)
    assert len(found.counts) == len(BOUNDS_S) + 1
    assert found.as_json() == {"count": 4, "sum_s": 1e9 + 0.0101, "last_s": 1e9}
    assert Latencies().as_json() == {"count": 0, "sum_s": 0.0, "last_s": None}


def test_headers_of_a_single_transaction_are_read_once() -> None:
    """Headers are read once for a single transaction, and of all records for several; foreign headers are ignored."""
    place = Partition("t", 0)
    records = [Record(b"k", b"v", at, 0, headers_of(number), place) for at, number in enumerate((1, 1, 2))]
    assert [each.transaction for each in origins_of(iter(records), None, is_chunk_key)] == ["s/1", "s/2"]
    rest = iter(records)
    assert [each.transaction for each in origins_of(rest, 1, is_chunk_key)] == ["s/1"]
    assert len(list(rest)) == 2
    assert origins_of([Record(b"k", b"v", 0, 0, (("a", None),), place)], 1, is_chunk_key) == ()


def test_headers_of_other_kinds_are_read_once_for_a_single_transaction() -> None:
    """Records without headers, such as deletions by Kafka, are skipped; the first one with headers decides."""
    place = Partition("t", 0)
    headers: tuple[Headers, ...] = ((), (("signature", b"x"),), headers_of(1), headers_of(1))
    rest = iter([Record(b"k", b"v", at, 0, each, place) for at, each in enumerate(headers)])
    assert origins_of(rest, 1, is_chunk_key) == ()
    assert len(list(rest)) == 2


def test_a_transaction_that_begins_with_a_large_value() -> None:
    """Chunks of a large value have no headers of the transaction; those of the manifest after them are found."""
    written = split("k", b"v" * 10, headers=headers_of(1), chunk_bytes=4).records
    records = [Record(*each[:2], at, 0, each.headers, Partition("t", 0)) for at, each in enumerate(written)]
    assert [each.transaction for each in origins_of(records, 1, is_chunk_key)] == ["s/1"]


def test_the_last_of_several_transaction_headers_counts() -> None:
    """A mirror may append its own headers; the first ones do not make two transactions the same."""
    place = Partition("t", 0)
    records = [Record(b"k", b"v", at, 0, headers_of(1) + headers_of(at), place) for at in (7, 8, 8)]
    assert [each.transaction for each in origins_of(records, None, is_chunk_key)] == ["s/7", "s/8"]


def test_each_version_names_its_transaction_and_its_time_is_measured() -> None:
    """Versions name their transactions, also of deletions; records from before the start of reading are not measured.

    Their age does not tell how fast changes arrive.
    """
    topic = FakeTopic()
    topic.put("old", b"1", headers_of(1, ago_s=1e6))
    with topic.replica() as replica:
        replica.wait_ready(timeout_s=60)
        named: list[tuple[str, ...] | None] = []
        seen = threading.Event()

        def take(change: object) -> None:
            named.append(change.source_transactions)  # type: ignore[attr-defined]
            if len(named) == 5:
                seen.set()

        replica.subscribe(take)
        topic.put("a", b"1", headers_of(2, ago_s=40.0))
        replica.wait_for(topic.end(), 60)
        topic.delete("a", headers_of(3, ago_s=0.0))
        replica.wait_for(topic.end(), 60)
        topic.put("b", b"1")
        replica.wait_for(topic.end(), 60)
        topic.put("b", b"2", headers_of(4, ago_s=-1000.0))
        replica.wait_for(topic.end(), 60)
        assert seen.wait(60)
        assert named == [(), ("s/2",), ("s/3",), (), ("s/4",)]
        latencies = replica.status().latencies
        assert latencies.count == 3
        assert latencies.last_s == 0.0, "a clock that is ahead"
        assert latencies.counts[BOUNDS_S.index(60.0)] == 1
        assert latencies.sum_s >= 40.0


def test_merged_versions_name_their_transactions_up_to_a_limit() -> None:
    """Merged versions name the transactions of all of them, up to a limit; thousands are not kept."""
    store = MemoryStore()
    snapshot = store.snapshot()

    def step(*origins: str) -> VersionDiff:
        return VersionDiff(snapshot, snapshot, AppliedChanges((), ()), 1, origins)

    merged = MergedDiff(step("s/1"))
    merged.add(step("s/2", "s/1"))
    of_two = merged.origins
    assert of_two == ("s/1", "s/2")
    merged.add(step(*(f"s/{number}" for number in range(2000))))
    assert merged.origins is None
    merged.add(step("s/3"))
    assert merged.origins is None


def test_a_board_measures_each_transaction_once() -> None:
    """Each transaction is measured once where a version contains several."""
    publisher, store = Publisher(Health(stalled_after_s=1, blocked_after_s=1)), MemoryStore()
    now_ms = int(time.time() * 1000)
    origins = [TransactionHeaders(f"s/{number}", 1, 1, now_ms - 2000) for number in range(3)]
    publisher.published(store.snapshot(), AppliedChanges((), ()), 3, origins)
    latencies = publisher.status().latencies
    assert latencies.count == 3
    assert 5.9 < latencies.sum_s < 600
