"""Replicas that show large values as whole: everything a reader uses names main keys and whole values only."""

from __future__ import annotations

import asyncio
import random
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kafka_replica import (
    AsyncReplica,
    BadRecordError,
    Change,
    KeyFilter,
    MemoryStore,
    Record,
    Replica,
    RocksStore,
    Snapshot,
)
from kafka_replica.directories import Directory, UniqueIndex
from kafka_replica.directories.interpreters import ActiveRows
from kafka_replica.errors import ConfigurationError, UsageError
from kafka_replica.headers import Stack
from kafka_replica.headers.pieces import Compression, ContentType, HmacKey, RoutingTrail, Signing
from kafka_replica.large_values import WITHOUT_CHUNKS, LargeValueSnapshot, is_chunk_key, orphaned_chunks
from kafka_replica.producer import LargeValueProducer
from kafka_replica.testing import FakeKafka, FakeTopic
from support.waiting import wait_until

CHUNK_BYTES = 10
WAIT_S = 60.0


def large(letter: str, size: int = 25) -> bytes:
    """Return a value of three chunks."""
    return letter.encode() * size


def put(topic: FakeTopic, replica: Replica, **values: bytes | None) -> None:
    """Write a transaction, and wait until the replica has it."""
    producer = LargeValueProducer(topic.producer(), replica, chunk_bytes=CHUNK_BYTES)
    with producer.transaction() as transaction:
        for key, value in values.items():
            transaction.delete(key) if value is None else transaction.put(key, value, (("h", b"1"),))
    replica.wait_for(topic.end(), WAIT_S)


def shown(snapshot: Snapshot) -> dict[bytes, bytes | None]:
    """Return the values of a version, after checking that its methods agree."""
    found = {key: record.value for key, record in snapshot.items()}
    assert set(snapshot) == set(snapshot.keys()) == set(found)
    assert len(snapshot) == len(found)
    assert all(key in snapshot and key.decode() in snapshot for key in found)
    return found


def test_readers_see_main_keys_and_whole_values() -> None:
    """Length, iteration, look-ups, listeners, changes, differences and older versions show no chunks."""
    topic = FakeTopic(partitions=3)
    heard: list[Change] = []
    with topic.replica(large_values=True, kept_versions=5) as replica:
        replica.subscribe(heard.append)
        replica.wait_ready(WAIT_S)
        put(topic, replica, a=large("a"), b=b"small")
        put(topic, replica, a=large("x"), c=large("c", 11))
        put(topic, replica, a=b"short", c=None)
        assert shown(replica.snapshot()) == {b"a": b"short", b"b": b"small"}
        before = replica.at(3)
        assert shown(before) == {b"a": large("x"), b"b": b"small", b"c": large("c", 11)}
        assert before["a"].headers == (("h", b"1"),)
        assert replica.at(3) == before
        iterator = replica.changes(since=1, timeout_s=WAIT_S)
        changes = [next(iterator) for _ in range(3)]
        assert [(sorted(c.changed), sorted(c.deleted), shown(c.snapshot)) for c in changes] == [
            ([b"a", b"b"], [], {b"a": large("a"), b"b": b"small"}),
            ([b"a", b"c"], [], shown(before)),
            ([b"a"], [b"c"], {b"a": b"short", b"b": b"small"}),
        ]  # fmt: skip
        assert changes[2].previous is not None
        assert shown(changes[2].previous) == shown(before)
        difference = replica.diff(2)
        assert (difference.added, difference.changed, difference.deleted) == ((), (b"a",), ())
        assert replica.diff(2, 3).added == (b"c",)
        snapshot = replica.snapshot()
        assert "1 key" not in repr(snapshot)
        assert "short" not in snapshot._repr_html_()
        assert isinstance(snapshot, LargeValueSnapshot)
        assert len(snapshot.records) == 2  # the chunks were deleted
        key_of_chunk = next(key for key in before.records if is_chunk_key(key))  # type: ignore[attr-defined]
        assert key_of_chunk not in before
        assert before.get(key_of_chunk) is None
        wait_until(lambda: heard[-1].version == 4)
    assert [len(change.changed) for change in heard] == [0, 2, 2, 1]


def test_a_lagging_listener_gets_merged_changes_with_whole_values() -> None:
    """Versions that wait for a slow listener are rebuilt with the chunks that they had."""
    topic = FakeTopic()
    with topic.replica(large_values=True) as replica:
        replica.wait_ready(WAIT_S)
        changes = replica.changes(timeout_s=WAIT_S, max_pending=2)
        later: list[Change] = []
        replica.subscribe(later.append)
        for letter in "abcdef":
            put(topic, replica, k=large(letter), **{letter: large(letter, 12)})
        # A version is shown before listeners get it, in the order in which they subscribed.
        wait_until(lambda: later and later[-1].version == replica.snapshot().version)
        received = [next(changes) for _ in range(2)]
        assert [change.conflated for change in received] == [1, 6]
        for change, letters in zip(received, ["", "abcdef"], strict=True):
            expected = {letter.encode(): large(letter, 12) for letter in letters}
            last = {b"k": large(letters[-1])} if letters else {}
            assert shown(change.snapshot) == {**expected, **last}
            assert set(change.changed) == {*expected, *last}


def test_the_asyncio_interface_shows_whole_values() -> None:
    """An AsyncReplica of such a replica passes on what it shows."""
    topic = FakeTopic()

    async def read() -> None:
        async with AsyncReplica(topic.replica(large_values=True)) as replica:
            await replica.wait_ready(WAIT_S)
            await asyncio.to_thread(put, topic, replica.replica, a=large("a"))
            async for change in replica.changes():
                assert shown(change.snapshot) == {b"a": large("a")}
                assert list(change.changed) == [b"a"]
                break
            assert shown(replica.snapshot()) == {b"a": large("a")}

    asyncio.run(read())


def test_without_the_option_the_records_are_as_they_are() -> None:
    """A plain replica shows manifests and chunks, and a writer needs no more than the manifests."""
    topic = FakeTopic()
    with topic.replica() as plain, topic.replica(key_filter=WITHOUT_CHUNKS) as manifests:
        put(topic, manifests, a=large("a"))
        put(topic, manifests, a=large("b"))
        assert list(manifests.snapshot()) == [b"a"]
        assert manifests.snapshot()["a"].header("large-value") == b"manifest/1"
        records = plain.wait_for(topic.end(), WAIT_S)
        assert len(records) == 4  # the first chunks are gone
        assert list(orphaned_chunks(records)) == []


def test_a_filter_selects_main_keys_and_a_validator_gets_values() -> None:
    """The chunks of a wanted key are kept; chunks and manifests are not validated."""
    topic = FakeTopic()

    def validate(record: object) -> None:
        seen.append(record.value)  # type: ignore[attr-defined]

    seen: list[bytes] = []
    options: dict[str, Any] = {"key_filter": KeyFilter.pattern("a?"), "validator": validate}
    with topic.replica(large_values=True, **options) as replica:
        put(topic, replica, a1=large("a"), b1=large("b"), a2=b"small")
        assert shown(replica.snapshot()) == {b"a1": large("a"), b"a2": b"small"}
        assert seen == [b"small"]
    with pytest.raises(ConfigurationError, match="it is a KeyFilter"):
        topic.replica(large_values=True, key_filter=len)
    with pytest.raises(ConfigurationError, match="it is a function of a record"):
        topic.replica(large_values=True, validator=3)


def test_several_topics_have_large_values_of_their_own() -> None:
    """With separate key spaces, each topic's part shows its own values under its own keys."""
    kafka = FakeKafka()
    topics = [FakeTopic(name, kafka=kafka) for name in ("one", "two")]
    with kafka.replica("one", "two", large_values=True) as replica:
        for topic in topics:
            with topic.replica() as alone:
                put(topic, alone, k=large(topic.name[0]))
            replica.wait_for(topic.end(), WAIT_S)
        snapshot = replica.snapshot()
        assert {topic.name: shown(snapshot.of(topic.name)) for topic in topics} == {
            "one": {b"k": large("o")}, "two": {b"k": large("t")},
        }  # fmt: skip
        assert shown(snapshot) == {b"one\0k": large("o"), b"two\0k": large("t")}
        assert snapshot[b"one\0k"].key == b"k"


class Document(msgspec.Struct):
    """An object of a directory."""

    id: str
    text: str


def document(name: str, size: int) -> bytes:
    """Return a document as JSON."""
    return msgspec.json.encode(Document(name, name * size))


def test_a_directory_has_objects_of_large_values() -> None:
    """Indexes, changes and views work over large values, and change together with the version."""
    topic = FakeTopic()
    with topic.replica(large_values=True) as replica:
        directory = Directory(replica, Document, indexes={"text": UniqueIndex("text")})
        put(topic, replica, d=document("d", 40), e=document("e", 1))
        view = directory.at(replica.snapshot(), WAIT_S)
        assert (len(view), view["d"].text, view.index("text")["e"].id) == (2, "d" * 40, "e")
        put(topic, replica, d=document("d", 50), e=None)
        view = directory.at(replica.snapshot(), WAIT_S)
        assert ([*view], view["d"].text) == (["d"], "d" * 50)
        directory.close()


@pytest.mark.parametrize("policy", ["stop", "skip"])
def test_a_broken_large_value_is_a_bad_record_of_a_directory(policy: str) -> None:
    """The directory stops or leaves the key out, as configured, in its first version and in later ones."""
    topic = FakeTopic()
    with topic.replica(large_values=True) as replica:
        put(topic, replica, d=document("d", 40), e=document("e", 40))
        break_value(topic, replica, b"d")
        directory = Directory(replica, Document, on_bad_record=policy)  # type: ignore[call-overload]
        if policy == "stop":
            with pytest.raises(BadRecordError, match=r"chunk 1 of \d+ is missing"):
                directory.at(replica.snapshot(), WAIT_S)
            return
        assert [*directory.at(replica.snapshot(), WAIT_S)] == ["e"]
        with Directory(replica, Document, on_bad_record="skip", interpreter=ActiveRows(key="id")) as interpreted:
            view = interpreted.at(replica.snapshot(), WAIT_S)
            assert ([*view], len(view.bad_records)) == (["e"], 1)
        put(topic, replica, e=document("e", 50))
        break_value(topic, replica, b"e")
        put(topic, replica, e2=b"{}", f=document("f", 40))
        directory.at(replica.snapshot(), WAIT_S)
        put(topic, replica, d=document("d", 30))
        view = directory.at(replica.snapshot(), WAIT_S)
        assert {*view} >= {"d", "f"}
        directory.close()


@pytest.mark.parametrize("is_on_disk", [False, True])
def test_a_scan_equals_look_ups_of_each_key(tmp_path: Path, is_on_disk: bool) -> None:
    """Each key comes once, with its whole value or the error of looking it up, in the version and in its topics."""
    kafka = FakeKafka()
    topics = [FakeTopic(name, kafka=kafka) for name in ("one", "two")]
    store = RocksStore(tmp_path / "store") if is_on_disk else MemoryStore()
    with kafka.replica("one", "two", store=store, large_values=True) as replica:
        for topic in topics:
            with topic.replica(large_values=True) as alone:
                put(topic, alone, a=large("a"), b=b"b", c=large("c"))
                if topic is topics[1]:
                    break_value(topic, alone, b"a")
        replica.wait_for(topics[1].end(), WAIT_S)
        for snapshot in (replica.snapshot(), *(replica.snapshot().of(topic.name) for topic in topics)):
            found = list(snapshot.scan())
            assert sorted(key for key, _ in found) == sorted(snapshot)
            for key, record in found:
                if isinstance(record, Record):
                    assert snapshot[key] == record
                else:
                    with pytest.raises(BadRecordError, match="chunk 1 of 3 is missing"):
                        snapshot[key]
        assert sum(isinstance(record, BadRecordError) for _, record in replica.snapshot().scan()) == 1


def break_value(topic: FakeTopic, replica: Replica, key: bytes) -> None:
    """Delete the chunks of a key outside of any transaction."""
    chunks = [each for each in replica.snapshot().records if is_chunk_key(each) and each.startswith(key)]  # type: ignore[attr-defined]
    for chunk in chunks:
        topic.delete(chunk)
    replica.wait_for(topic.end(), WAIT_S)


def test_a_broken_large_value_is_reported_when_it_is_read() -> None:
    """Other keys stay readable; a new value repairs the key."""
    topic = FakeTopic()
    with topic.replica(large_values=True) as replica:
        put(topic, replica, a=large("a"), b=large("b"))
        break_value(topic, replica, b"a")
        snapshot = replica.snapshot()
        assert snapshot["b"].value == large("b")
        assert "a" in snapshot
        with pytest.raises(BadRecordError, match=r"key 'a': its large value cannot be read: chunk 1 of 3 is missing"):
            snapshot["a"]
        assert "LargeValueSnapshot" in snapshot._repr_html_()
        topic.put("a", b"nonsense", (("large-value", b"manifest/1"),))
        with pytest.raises(BadRecordError, match="its manifest is damaged"):
            replica.wait_for(topic.end(), WAIT_S)["a"]
        put(topic, replica, a=large("x"))
        assert shown(replica.snapshot()) == {b"a": large("x"), b"b": large("b")}


def test_header_stacks_transform_chunks_and_manifests() -> None:
    """The value is whole after compression, signing and a content type, and superseded chunks are deleted."""
    types = ContentType({"text/plain": bytes.decode, "application/json": msgspec.json.decode}, default="text/plain")
    signing = Signing(HmacKey("1", b"secret" * 6), headers=["large-value"])
    stack = Stack([types, Compression("gzip"), signing, RoutingTrail("writer")])
    topic = FakeTopic()
    with topic.replica(large_values=True, header_stack=stack) as replica:
        producer = LargeValueProducer(topic.producer(header_stack=stack), replica, chunk_bytes=100)
        for letter in "ab":
            with producer.transaction() as transaction:
                transaction.put("k", document(letter, 500), (("content-type", b"application/json"),))
        snapshot = replica.wait_for(topic.end(), WAIT_S)
        assert shown(snapshot) == {b"k": document("b", 500)}
        assert types.decode(snapshot["k"]) == {"id": "b", "text": "b" * 500}
        assert list(orphaned_chunks(snapshot)) == []
        manifest = next(record for record in reversed(topic.records()) if record.key == b"k")
        without_header = tuple(header for header in manifest.headers if header[0] != "large-value")
    with topic.replica(large_values=True, header_stack=stack, on_bad_record="skip") as replica:
        topic.put("k", manifest.value or b"", without_header)
        assert shown(replica.wait_for(topic.end(), WAIT_S)) == {}
        assert "signature" in replica.bad_records[0].reason


def test_a_restart_from_disk_gives_the_same_values(tmp_path: Path) -> None:
    """RocksDB holds records as they are in the topic, so that the option may change between restarts."""
    topic = FakeTopic(partitions=2)
    expected = {b"a": large("z"), b"b": b"small", b"c": large("c", 99)}
    with topic.replica(RocksStore(tmp_path), large_values=True) as replica:
        put(topic, replica, a=large("a"), b=b"small")
    with topic.replica(RocksStore(tmp_path)) as plain:
        assert len(plain.wait_for(topic.end(), WAIT_S)) == 5
        put(topic, plain, a=large("z"), c=large("c", 99))
    topic.compact()
    with topic.replica(RocksStore(tmp_path), large_values=True) as replica:
        assert shown(replica.wait_for(topic.end(), WAIT_S)) == expected
        assert replica.status().counts.records < 20
    with topic.replica(large_values=True) as fresh:
        assert shown(fresh.wait_ready(WAIT_S)) == expected


def test_a_key_written_twice_in_a_transaction_keeps_its_last_value() -> None:
    """The chunks of the first value are deleted in the same transaction; nothing remains."""
    topic = FakeTopic()
    with topic.replica(large_values=True) as replica:
        put(topic, replica, a=large("a"))
        producer = LargeValueProducer(topic.producer(), replica, chunk_bytes=CHUNK_BYTES)
        with producer.transaction() as transaction:
            transaction.put("a", large("b"))
            transaction.delete("a")
            transaction.put("a", large("c"))
            transaction.put("a", large("d"))
        snapshot = replica.wait_for(topic.end(), WAIT_S)
        assert shown(snapshot) == {b"a": large("d")}
        assert list(orphaned_chunks(snapshot)) == []
        with pytest.raises(UsageError, match="reserved for chunks"):
            put(topic, replica, a=large("e"), **{"kr-chunk/": b""})
        assert shown(replica.wait_for(topic.end(), WAIT_S)) == {b"a": large("d")}  # aborted as a whole


def test_orphans_of_writers_that_overlap_are_deleted() -> None:
    """Two writers that do not see each other's values leave chunks, which one call removes."""
    topic = FakeTopic(partitions=3)
    with topic.replica(large_values=True) as replica:
        put(topic, replica, a=large("a"))
        one, two = (
            LargeValueProducer(topic.producer(name), replica, chunk_bytes=CHUNK_BYTES) for name in ("one", "two")
        )
        with one.transaction() as first, two.transaction() as second:
            first.put("a", large("b"))
            second.put("a", large("c"))
        snapshot = replica.wait_for(topic.end(), WAIT_S)
        assert shown(snapshot) == {b"a": large("c")}
        assert len(list(orphaned_chunks(snapshot))) == 3
        assert (one.delete_orphans(), one.delete_orphans()) == (3, 0)
        snapshot = replica.wait_for(topic.end(), WAIT_S)
        assert shown(snapshot) == {b"a": large("c")}
        assert list(orphaned_chunks(snapshot)) == []
        with pytest.raises(ConfigurationError, match="chunk_bytes=0"):
            LargeValueProducer(topic.producer(), replica, chunk_bytes=0)
        assert "LargeValueProducer" in repr(one)


@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("boundaries", ["markers", "quiescence"])
@pytest.mark.thorough
def test_every_version_shows_whole_values_while_writers_overlap(partitions: int, boundaries: str) -> None:
    """Two writers, aborts and compaction: each version that a listener gets shows values that were written."""
    topic, chance = FakeTopic(partitions=partitions), random.Random(partitions)
    written: set[tuple[str, bytes | None]] = {(key, None) for key in "abc"}
    heard: list[dict[bytes, bytes | None]] = []
    with topic.replica(large_values=True, boundaries=boundaries) as replica:
        replica.subscribe(lambda change: heard.append(shown(change.snapshot)))
        writers = [LargeValueProducer(topic.producer(name), replica, chunk_bytes=CHUNK_BYTES) for name in "12"]
        for number in range(120):
            try:
                both = writers if chance.random() < 0.4 else writers[:1]
                with ExitStack() as stack:
                    # Each has seen its own writes only when no transaction is open.
                    running = [stack.enter_context(writer.transaction()) for writer in both]
                    for transaction in running * 2:
                        write(transaction, chance, written, number)
                    if chance.random() < 0.2:
                        raise InterruptedError
            except InterruptedError:
                pass
            if chance.random() < 0.3:
                topic.compact(keep_tombstones=chance.random() < 0.5)
        last = shown(replica.wait_for(topic.end(), WAIT_S))
    with topic.replica(large_values=True) as fresh:
        assert shown(fresh.wait_ready(WAIT_S)) == last
    assert len(heard) > 10
    for values in heard:
        assert {(key.decode(), value) for key, value in values.items()} <= written


def write(transaction: object, chance: random.Random, written: set[tuple[str, bytes | None]], number: int) -> None:
    """Write one or two keys."""
    for key in chance.sample("abc", chance.randint(1, 2)):
        value = None if chance.random() < 0.1 else f"{number}{chance.random():.3f} ".encode() * chance.randint(0, 6)
        written.add((key, value))
        transaction.delete(key) if value is None else transaction.put(key, value)  # type: ignore[attr-defined]
