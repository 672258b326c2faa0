"""A history's answers and errors, its limits, its costs, and its folder."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import cast
from unittest import mock

import pytest

from kafka_replica import ConfigurationError, MemoryStore, Position, Replica, RocksStore, UsageError
from kafka_replica.errors import StoreDamagedError, StoreError, StoreInUseError, VersionGoneError
from kafka_replica.history import FutureVersionError, KeptVersion, VersionHistory, VersionNotKeptError
from kafka_replica.history.kept_version import StoredVersion
from kafka_replica.history.layout import key_of, record_key, split_record_key
from kafka_replica.history.snapshot import HistorySnapshot
from kafka_replica.records import OpenTransaction
from kafka_replica.stores.rocks.cursor import Cursor
from kafka_replica.stores.rocks.database import Batch, Database
from kafka_replica.stores.rocks.tuning import Tuning
from kafka_replica.testing import FakeKafka, FakeTopic
from support.core.rocks_tools import P, delta, many, new_folder, values
from support.history.history_world import KEYS, Source
from support.waiting import wait_until

pytestmark = pytest.mark.thorough


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder."""
    with new_folder() as path:
        yield path


def put(source: Source, changes: dict[bytes, bytes | None]) -> None:
    """Publish a version."""
    number = source.store.snapshot().version + 1
    applied = source.store.apply(delta(changes, number * 100_000), Position({P: number * 100_000}))
    source.publisher.published(source.store.snapshot(), applied, 1)


def following(history: VersionHistory, source: Source) -> Source:
    """Let a history follow a source."""
    history.follow(cast("Replica", source))
    return source


def full_disk(history: VersionHistory) -> Callable[..., None]:
    """Return a function that replaces ``Database.write``, and fails for the database of a history."""
    write, folder = Database.write, history._opened().journal.database.folder

    def fails(database: Database, batch: Batch, *, is_logged: bool = True) -> None:
        if database.folder == folder:
            raise StoreError("writing: no space left on device")
        write(database, batch, is_logged=is_logged)

    return fails


# --- with a replica ---


@pytest.mark.parametrize("kind", ["memory", "rocks"])
def test_a_version_is_recorded_before_readers_see_it(kind: str, folder: Path) -> None:
    """Whoever sees a version finds it in the history, with the same records and position."""
    topic = FakeTopic()
    store = MemoryStore() if kind == "memory" else RocksStore(folder / "store")
    with VersionHistory(folder / "history") as history, topic.replica(store, kept_versions=1_000) as replica:
        history.follow(replica)
        for number in range(50):
            with topic.transaction() as transaction:
                transaction.put(f"k{number % 7}", b"%d" % number)
            shown = replica.wait_for(topic.end(), timeout_s=20)
            assert dict(history.at(version=shown.version)) == dict(shown)
        newest = replica.snapshot().version
        for number in range(1, newest + 1):
            assert dict(history.at(version=number)) == dict(replica.at(number))
            assert history.at(version=number).position == replica.at(number).position
        assert [each.missing for each in history.versions()] == [*[0] * (newest - 1), None]
        assert history.versions()[0].transactions == 1


def test_a_history_follows_a_replica_that_runs_while_versions_are_made(folder: Path) -> None:
    """A history that begins in the middle has all versions from the present one on."""
    topic = FakeTopic()
    with topic.replica() as replica, VersionHistory(folder) as history:
        replica.wait_for(topic.put("k", b"0"), timeout_s=20)
        for number in range(20):
            end = topic.put("k", b"%d" % number)
            if number == 5:
                history.follow(replica)
            last = replica.wait_for(end, timeout_s=20)
        kept = history.range
        assert kept is not None
        assert kept.newest.number == last.version
        assert [each.number for each in history.versions()] == list(range(last.version, kept.oldest.number - 1, -1))


def test_the_same_store_continues_and_another_one_begins_a_new_incarnation(folder: Path) -> None:
    """After a restart from disk nothing is written again; in memory, numbers begin again, under another incarnation."""
    topic = FakeTopic()
    end = topic.put("k", b"1")
    for _ in range(2):
        with (
            VersionHistory(folder / "history") as history,
            topic.replica(RocksStore(folder / "store")) as replica,
        ):
            history.follow(replica)
            replica.wait_for(end, timeout_s=20)
            assert [each.number for each in history.versions()] == [1]
            on_disk = replica.incarnation
    end = topic.put("k", b"2")
    with VersionHistory(folder / "history") as history, topic.replica() as replica:
        history.follow(replica)
        replica.wait_for(end, timeout_s=20)
        newest, before = history.versions()
        assert (newest.number, newest.incarnation, newest.missing) == (1, replica.incarnation, None)
        assert (before.number, before.incarnation) == (1, on_disk)
        assert values(history.at(version=1)) == {b"k": b"2"}
        assert values(history.at(version=1, incarnation=on_disk)) == {b"k": b"1"}
        assert history.diff(before).changed == (b"k",)
        with pytest.raises(
            VersionNotKeptError, match="version 1 of the incarnation other is not kept; kept: version 1"
        ):
            history.at(version=1, incarnation="other")


def test_an_instant_at_which_a_new_incarnation_was_not_recorded_has_no_answer(folder: Path) -> None:
    """Readers saw versions of the new replica before the history followed it, not the last one of the old replica."""
    topic = FakeTopic()
    with VersionHistory(folder) as history, topic.replica() as replica:
        history.follow(replica)
        replica.wait_for(topic.put("k", b"1"), timeout_s=20)
        before = history.versions()[0]
    with VersionHistory(folder) as history, topic.replica() as replica:
        replica.wait_for(topic.put("k", b"2"), timeout_s=20)
        replica.wait_for(topic.put("k", b"3"), timeout_s=20)
        time.sleep(0.01)
        history.follow(replica)
        newest = history.versions()[0]
        assert newest.number > 1
        assert values(history.at(instant=before.published)) == {b"k": b"1"}
        between = datetime.fromtimestamp((newest.published_ms - 1) / 1000, UTC)
        with pytest.raises(VersionNotKeptError, match="was not recorded"):
            history.at(instant=between)


def test_instants_before_a_restart_from_a_checkpoint_keep_their_version(folder: Path) -> None:
    """The restarted replica continues the number of its checkpoint, with another incarnation."""
    topic, checkpoint = FakeTopic(), folder.parent / "checkpoint"
    for value in (b"1", b"2"):
        with VersionHistory(folder) as history, topic.replica(store=MemoryStore(checkpoint=checkpoint)) as replica:
            history.follow(replica)
            replica.start().wait_ready(20)
            before = history.versions()[0]
            replica.wait_for(topic.put("k", value), timeout_s=20)
            time.sleep(0.01)
            newest = history.versions()[0]
            if value == b"2":
                assert before.number > 1
                between = datetime.fromtimestamp((before.published_ms - 1) / 1000, UTC)
                assert values(history.at(instant=between)) == {b"k": b"1"}
                assert values(history.at(instant=newest.published)) == {b"k": b"2"}


@pytest.mark.parametrize("one_key_space", [False, True])
def test_records_of_several_topics_have_the_keys_that_were_written(folder: Path, one_key_space: bool) -> None:
    """A replica with separate key spaces names keys by topic; the key of a record is the one in the log."""
    kafka = FakeKafka()
    topics = [FakeTopic(name, kafka=kafka) for name in ("one", "two")]
    with (
        VersionHistory(folder) as history,
        kafka.replica("one", "two", kept_versions=100, one_key_space=one_key_space) as replica,
    ):
        history.follow(replica)
        replica.wait_ready(60)
        for topic in topics:
            replica.wait_for(topic.put("k", topic.name.encode()), 60)
        snapshot = replica.snapshot()
        assert {record.key for record in snapshot.values()} == {b"k"}
        assert dict(history.at(version=snapshot.version)) == dict(snapshot)
        expected = dict(snapshot)
    with VersionHistory(folder) as history:
        assert dict(history.at(version=snapshot.version)) == expected


def test_a_replica_with_large_values_is_refused(folder: Path) -> None:
    """A history has records as they are in the topic, and would show chunks."""
    with (
        VersionHistory(folder) as history,
        FakeTopic().replica(large_values=True) as replica,
        pytest.raises(UsageError, match="large_values=True"),
    ):
        history.follow(replica)


def test_a_store_that_lost_versions_in_a_power_cut_makes_a_new_segment(folder: Path) -> None:
    """The lost versions stay readable; of two versions with a number, the number shows the later one."""
    with VersionHistory(folder, keep_s=None) as history:
        before = following(history, Source(MemoryStore()))
        for number in range(1, 6):
            put(before, {b"k": b"%d" % number, b"n%d" % number: b""})
        lost = history.versions()
        after = Source(MemoryStore())
        for number in range(1, 4):
            put(after, {b"k": b"%d" % number, b"n%d" % number: b""})
        store = after.store
        after = following(history, Source(store))
        after.publisher.restored(store.snapshot(), before.publisher.incarnation)
        put(after, {b"k": b"other"})
        found = history.versions()
        assert [(each.number, each.missing) for each in found[:2]] == [(4, 0), (3, None)]
        assert values(history.at(version=4))[b"k"] == b"other"
        assert values(history.at(version=lost[1]))[b"k"] == b"4"
        assert set(history.diff(lost[0]).deleted) == {b"n4", b"n5"}
        with pytest.raises(FutureVersionError):
            history.at(version=5)


@pytest.mark.parametrize("on_disk", [True, False])
def test_an_instant_at_which_recording_failed_has_no_answer_after_a_restart(on_disk: bool, folder: Path) -> None:
    """Readers saw version 2, which the full disk did not take; the first version of the next run does not hide that."""

    def store() -> MemoryStore | RocksStore:
        return RocksStore(folder / "store") if on_disk else MemoryStore()

    topic = FakeTopic()
    with VersionHistory(folder / "history") as history, topic.replica(store()) as replica:
        history.follow(replica)
        replica.wait_for(topic.put("k", b"1"), timeout_s=20)
        seen = history.versions()[0]
        with mock.patch.object(Database, "write", full_disk(history)):
            replica.wait_for(topic.put("k", b"2"), timeout_s=20)
        time.sleep(0.002)
        then = time.time_ns() // 1_000_000
        time.sleep(0.002)
        with pytest.raises(VersionNotKeptError, match="cannot be written"):
            history.at(instant=then)
    with VersionHistory(folder / "history") as history, topic.replica(store()) as replica:
        with pytest.raises(VersionNotKeptError, match="is not recorded: the versions after"):
            history.at(instant=then)
        history.follow(replica)
        replica.wait_ready(20)
        with pytest.raises(VersionNotKeptError, match="was not recorded"):
            history.at(instant=then)
        assert values(history.at(instant=seen.published)) == {b"k": b"1"}
        assert history.versions()[0].is_after_gap
        replica.wait_for(topic.put("k", b"3"), timeout_s=20)
        assert not history.versions()[0].is_after_gap


def test_an_instant_of_a_run_without_the_history_has_no_answer(folder: Path) -> None:
    """A store that is one version ahead may have shown it before, while the history did not follow."""
    topic = FakeTopic()
    with VersionHistory(folder / "history") as history, topic.replica(RocksStore(folder / "store")) as replica:
        history.follow(replica)
        replica.wait_for(topic.put("k", b"1"), timeout_s=20)
    with topic.replica(RocksStore(folder / "store")) as replica:
        replica.wait_for(topic.put("k", b"2"), timeout_s=20)
    time.sleep(0.002)
    then = time.time_ns() // 1_000_000
    time.sleep(0.002)
    with VersionHistory(folder / "history") as history, topic.replica(RocksStore(folder / "store")) as replica:
        history.follow(replica)
        replica.wait_ready(20)
        newest, before, *_ = history.versions()
        assert (newest.number - before.number, newest.missing, newest.is_after_gap) == (1, 0, True)
        with pytest.raises(VersionNotKeptError, match="was not recorded"):
            history.at(instant=then)
        assert values(history.at(version=newest)) == {b"k": b"2"}


def test_versions_that_another_replica_could_not_record_leave_a_gap(folder: Path) -> None:
    """A replica that a history follows after a failure does not hide the versions of the replica before it."""
    with VersionHistory(folder) as history:
        history._opened().recorder._retry_after_s = 3600
        first = following(history, Source(MemoryStore()))
        put(first, {b"k": b"1"})
        (seen,) = history.versions()
        time.sleep(0.002)
        with mock.patch.object(Database, "write", full_disk(history)):
            put(first, {b"k": b"2"})
        then = time.time_ns() // 1_000_000
        time.sleep(0.002)
        put(following(history, Source(MemoryStore())), {b"k": b"3"})
        history._opened().recorder._retry()
        assert values(history.at()) == {b"k": b"3"}
        with pytest.raises(VersionNotKeptError, match="was not recorded"):
            history.at(instant=then)
        assert values(history.at(instant=seen.published)) == {b"k": b"1"}


def test_a_known_version_is_recorded_again_after_a_gap(folder: Path) -> None:
    """A power cut took the version that could not be recorded; the one before it gets a further instant."""
    source = Source(MemoryStore())
    with VersionHistory(folder) as history:
        put(following(history, source), {b"k": b"1"})
        restored = source.store.snapshot()
        time.sleep(0.002)
        with mock.patch.object(Database, "write", full_disk(history)):
            put(source, {b"k": b"2"})
        then = time.time_ns() // 1_000_000
        time.sleep(0.002)
    with VersionHistory(folder) as history:
        again = following(history, Source(MemoryStore()))
        again.publisher.restored(restored, source.publisher.incarnation)
        assert [(each.number, each.changed, each.is_after_gap) for each in history.versions()] == [
            (1, 0, True),
            (1, 1, False),
        ]
        with pytest.raises(VersionNotKeptError, match="was not recorded"):
            history.at(instant=then)
        assert values(history.at(instant=time.time_ns() // 1_000_000)) == {b"k": b"1"}


def test_a_restart_without_a_failure_leaves_no_gap(folder: Path) -> None:
    """Instants while a replica was stopped have the version that readers saw last, in memory and on disk."""
    topic = FakeTopic()
    end = topic.put("k", b"1")
    for store in (None, None, folder / "store", folder / "store"):
        with (
            VersionHistory(folder / "history") as history,
            topic.replica(MemoryStore() if store is None else RocksStore(store)) as replica,
        ):
            history.follow(replica)
            replica.wait_for(end, timeout_s=20)
            kept = history.versions()
            assert not any(each.is_after_gap for each in kept)
            for after, before in pairwise(kept):
                between = history.at(instant=max(before.published_ms, after.published_ms - 1))
                assert between.kept in {before, after}


# --- answers ---


def test_each_impossible_query_has_its_error(folder: Path) -> None:
    """Too old, in the future, not recorded, without a time zone, and closed: each has its error."""
    with VersionHistory(folder, keep_versions=2) as history:
        with pytest.raises(VersionNotKeptError, match="the history is empty: let it follow a replica"):
            history.at()
        with pytest.raises(VersionNotKeptError, match="the history is empty"):
            history.at(instant=0)
        kept = history.range
        assert kept is None
        assert history.versions() == []
        assert history.stats().versions == 0
        source = following(history, Source(MemoryStore()))
        for number in range(5):
            put(source, {b"k": b"%d" % number})
        kept = history.range
        assert kept is not None
        with pytest.raises(VersionNotKeptError, match=r"version 3 is not kept; kept: version 4 of 2.* to version 5 of"):
            history.at(version=3)
        with pytest.raises(VersionNotKeptError, match=r"the version of 1970-01-01T00:00:00.000\+00:00 is not kept"):
            history.at(instant=0)
        with pytest.raises(VersionGoneError, match="the version of -9999999999999999 ms is not kept"):
            history.at(instant=-9_999_999_999_999_999)
        with pytest.raises(
            FutureVersionError, match="version 6 does not exist yet; the newest recorded one is version 5"
        ):
            history.at(version=6)
        with pytest.raises(FutureVersionError, match="is in the future"):
            history.at(instant=datetime(2999, 1, 1, tzinfo=UTC))
        with pytest.raises(UsageError, match="has no time zone"):
            history.at(instant=datetime(2020, 1, 1))  # noqa: DTZ001
        with pytest.raises(UsageError, match="not both"):
            history.at(version=1, instant=1)
        assert history.at(instant=kept.newest.published).version == 5
        assert history.at().version == 5
        history._stop_following()
        put(source, {b"k": b"6"})
        put(source, {b"k": b"7"})
        history.follow(cast("Replica", source))
        with pytest.raises(
            VersionNotKeptError, match=r"version 6 was not recorded: the history has version 5 of .*, and"
        ):
            history.at(version=6)
    with pytest.raises(UsageError, match="is closed"):
        history.at(version=1)


def test_pages_of_versions(folder: Path) -> None:
    """Versions are listed from the newest on, in pages that new versions do not shift."""
    with VersionHistory(folder) as history:
        source = following(history, Source(MemoryStore()))
        for number in range(10):
            put(source, {b"k%d" % number: b""})
        first = history.versions(limit=4)
        put(source, {b"k": b""})
        second = history.versions(first[-1].sequence - 1, 4)
        last = history.versions(second[-1].sequence - 1, 4)
        assert [each.number for page in (first, second, last) for each in page] == list(range(10, 0, -1))
        assert history.versions(0) == history.versions(last[-1].sequence - 1) == []


def test_a_queried_instant_keeps_its_answer(folder: Path) -> None:
    """A version that is made within the same millisecond as a question gets a later instant."""
    with VersionHistory(folder) as history:
        source = following(history, Source(MemoryStore()))
        answers = []
        for number in range(300):
            put(source, {b"k": b"%d" % number})
            now_ms = time.time_ns() // 1_000_000
            if history.versions(limit=1)[0].published_ms <= now_ms:
                answers.append((now_ms, history.at(instant=now_ms).version))
        assert len(answers) > 10
        assert [(ms, history.at(instant=ms).version) for ms, _ in answers] == answers


# --- limits ---


@pytest.mark.parametrize(
    ("limits", "message"),
    [({"keep_s": -1}, "keep_s=-1"), ({"keep_versions": 0}, "keep_versions=0"), ({"keep_bytes": -1}, "keep_bytes=-1")],
)
def test_impossible_limits_are_refused(limits: dict[str, int], message: str, folder: Path) -> None:
    """A limit that cannot be kept is an error, and leaves no folder open."""
    with pytest.raises(ConfigurationError, match=message):
        VersionHistory(folder, **limits)  # type: ignore[arg-type]
    VersionHistory(folder).close()


def test_a_limit_of_bytes_keeps_as_many_versions_as_fit(folder: Path) -> None:
    """The records that the newest version lacks take at most ``keep_bytes``; those of the newest do not count."""
    with VersionHistory(folder, keep_bytes=50_000) as history:
        source = following(history, Source(MemoryStore()))
        put(source, {b"large": bytes(1_000_000)})
        for number in range(100):
            put(source, {b"k": bytes(1_000) + b"%d" % number})
        stats = history.stats()
        assert 40_000 < stats.replaced_bytes <= 50_000
        assert stats.versions == stats.replaced_bytes // 1_000
        assert 1_001_000 < stats.live_bytes < 1_002_000
        put(source, {b"large": None})
        assert history.stats().versions == 1, "the value that was deleted is too large for the limit"
        assert values(history.at()) == {b"k": bytes(1_000) + b"99"}


def test_data_that_no_version_needs_is_removed(folder: Path) -> None:
    """Without older versions and held snapshots the database has the newest version, and no trace of deleted keys."""
    with VersionHistory(folder, keep_versions=3) as history:
        source = following(history, Source(MemoryStore()))
        put(source, many(500, b"1"))
        held = history.at()
        put(source, {**many(300, b"2"), **dict.fromkeys(many(100, b"", 300))})
        for number in range(20):
            put(source, {b"k%07d" % number: b"%d" % number, b"gone": None if number % 2 else b"here"})
        history.prune()
        journal = history._opened().journal

        def entries() -> int:
            return sum(1 for _ in journal.database.items(b"", b"z"))

        assert values(held) == many(500, b"1")
        assert entries() > 900
        del held
        gc.collect()
        history.prune()
        assert len(history.at()) == 400
        # records; what the two older versions need; three versions, two lists of keys, the range, the partitions
        assert entries() <= 400 + 2 * 2 + 3 + 2 + 2
        assert history.stats().held_snapshots == 0


@pytest.mark.parametrize("iterated", [iter, HistorySnapshot.records, HistorySnapshot.values])
def test_an_iterator_keeps_its_version(folder: Path, iterated: Callable[[HistorySnapshot], Iterable[object]]) -> None:
    """Records that are still to be read stay, although nothing but the iterator needs their version."""
    with VersionHistory(folder, keep_versions=2) as history:
        source = following(history, Source(MemoryStore()))
        put(source, many(50, b"1"))
        rest = iter(iterated(history.at()))
        gc.collect()
        for number in range(5):
            put(source, many(50, b"%d" % number))
        history.prune()
        assert len(list(rest)) == 50


# --- costs ---


def counted(keys: int, folder: Path) -> tuple[int, int]:
    """Return how many entries a version of ten changed keys reads and writes, among that many keys."""
    found = {"read": 0, "written": 0}

    def first(cursor: Cursor, key: bytes) -> tuple[bytes, bytes]:
        found["read"] += 1
        return seek(cursor, key)

    def get(database: Database, key: bytes) -> bytes | None:
        found["read"] += 1
        return read(database, key)

    def put_batch(database: Database, batch: Batch, *, is_logged: bool = True) -> None:
        found["written"] += batch.hand_over().len()
        write(database, batch, is_logged=is_logged)

    seek, read, write = Cursor.first, Database.get, Database.write
    with VersionHistory(folder, keep_versions=3) as history:
        source = following(history, Source(MemoryStore()))
        put(source, many(keys, b"1"))
        for number in range(2, 12):
            put(source, dict(list(many(keys, b"%d" % number).items())[: 10 * number : number]))
        with (
            mock.patch.object(Cursor, "first", first),
            mock.patch.object(Database, "get", get),
            mock.patch.object(Database, "write", put_batch),
            mock.patch.object(Database, "items", side_effect=AssertionError("a scan")) as scan,
        ):
            scan.side_effect = None
            scan.return_value = iter(())
            put(source, {b"k%07d" % number: b"new" for number in range(0, 100, 10)})
            assert scan.call_count == 1, "the lists of keys, for removing old records, and nothing else"
        assert history.versions()[0].changed == 10
    return found["read"], found["written"]


def test_the_cost_of_a_version_depends_only_on_its_changes(folder: Path) -> None:
    """A version of ten keys reads and writes as many entries among 200 keys as among 20,000."""
    few, many_ = counted(200, folder / "few"), counted(20_000, folder / "many")
    assert few == many_
    read, written = few
    assert read <= 10
    assert written <= 10 + 5


def test_a_difference_never_scans_the_records(folder: Path) -> None:
    """Comparing two versions looks up the keys of the versions in between, and never scans the records."""
    with VersionHistory(folder) as history:
        source = following(history, Source(MemoryStore()))
        put(source, many(5_000, b"1"))
        for number in range(10):
            put(source, {b"k%07d" % number: b"2"})
        seek = Cursor.first
        with mock.patch.object(Cursor, "first", autospec=True, side_effect=seek) as look_ups:
            assert len(history.diff(3, 7)) == 4
            assert look_ups.call_count == 8


# --- the disk ---


def test_the_facts_of_a_version_are_read_as_they_were_written() -> None:
    """Positions keep their open transactions; damaged data is an error with advice."""
    position = Position({P: 9}, [OpenTransaction(P, 5, 1, 3, [(3, 5), (7, 9)], 2)])
    version = KeptVersion(3, 2, "life", 1_700_000_000_000, position, 10, 2, 1, 0, 1, ("structures/17",), rebuilt=True)
    stored = StoredVersion(version, 1, 100, 20)
    found = StoredVersion.decode(stored.encode())
    assert found == stored
    assert found.version.position.open == position.open
    assert found.version.published == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    for damaged in (b"", b"{}\n{}", stored.encode()[:-1], b"1\n2"):
        with pytest.raises(StoreDamagedError, match="remove that folder"):
            StoredVersion.decode(damaged)


@pytest.mark.parametrize("key", KEYS)
def test_keys_are_stored_in_their_order(key: bytes) -> None:
    """A key is found again, no other key's entries begin with its prefix, and entries sort by key, newest first."""
    prefix, sequence = split_record_key(record_key(key, 7))
    assert (key_of(prefix), sequence) == (key, 7)
    for other in KEYS:
        if other != key:
            assert not record_key(other, 7).startswith(prefix)
            assert (record_key(key, 1) < record_key(other, 9)) == (key < other)
    assert record_key(key, 8) < record_key(key, 7)


def test_recording_continues_after_a_disk_failure(folder: Path) -> None:
    """While versions cannot be written the replica continues; afterwards they follow as one step."""
    with VersionHistory(folder) as history:
        history._opened().recorder._retry_after_s = 0.05
        source = following(history, Source(MemoryStore()))
        put(source, {b"k": b"1"})
        with mock.patch.object(Database, "write", side_effect=StoreDamagedError("the disk is broken")):
            put(source, {b"k": b"2"})
            put(source, {b"k": b"3"})
            stats = history.stats()
            assert stats.recording_error == "the disk is broken"
            assert stats.failures >= 1
            with pytest.raises(VersionNotKeptError, match=r"version 3 is not recorded: since .*: the disk is broken"):
                history.at(version=3)
            with pytest.raises(VersionNotKeptError, match="is not recorded"):
                history.at(instant=time.time_ns() // 1_000_000)
            assert values(history.at(version=1)) == {b"k": b"1"}
        wait_until(lambda: history.stats().recording_error is None)
        newest, oldest = history.versions()
        assert (newest.number, newest.missing, oldest.number) == (3, 1, 1)
        assert values(history.at()) == {b"k": b"3"}


def test_a_history_that_is_open_cannot_be_opened_again_until_it_is_closed(folder: Path) -> None:
    """Even with snapshots in use it can be opened again in the same process."""
    history = VersionHistory(folder)
    source = following(history, Source(MemoryStore()))
    put(source, {b"k": b"1"})
    held = history.at()
    with pytest.raises(StoreInUseError, match="it is already open"):
        VersionHistory(folder)
    history.close()
    history.close()
    put(source, {b"k": b"2"})
    with VersionHistory(folder, keep_versions=1) as again:
        again.follow(cast("Replica", source))
        assert values(again.at()) == {b"k": b"2"}
        again.prune()
        assert values(held) == {b"k": b"1"}


def test_a_closed_history_releases_the_database(folder: Path) -> None:
    """Another process can open the folder once the history is closed and no snapshot is held."""
    history = VersionHistory(folder)
    put(following(history, Source(MemoryStore())), {b"k": b"1"})
    held = history.at()
    for _ in range(2):
        with pytest.raises(StoreInUseError, match="it is already open, in another process or for a snapshot"):
            Database(folder / "database", Tuning())
        history.close()
    assert len(held) == 1
    del held
    Database(folder / "database", Tuning())


def test_stores_and_histories_refuse_each_others_folders(folder: Path) -> None:
    """A store does not open a history's folder, nor a history a store's, so neither overwrites the other."""
    VersionHistory(folder / "history").close()
    with pytest.raises(ConfigurationError, match="contains other files than a store"):
        RocksStore(folder / "history")
    RocksStore(folder / "store").close()
    with pytest.raises(ConfigurationError, match="contains other files than a history"):
        VersionHistory(folder / "store")


def test_damage_is_reported_and_not_replaced(folder: Path) -> None:
    """A history that lacks files is an error, with advice, because it cannot be made again from the topic."""
    history = VersionHistory(folder)
    put(following(history, Source(MemoryStore())), {b"k": b"1"})
    history.close()
    (folder / "database" / "CURRENT").unlink()
    for _ in range(2):
        with pytest.raises(StoreDamagedError, match=r"opening the history in .*remove that folder to begin a new"):
            VersionHistory(folder)
    (folder / "HISTORY").write_text("{}")
    with pytest.raises(StoreDamagedError, match="HISTORY is damaged"):
        VersionHistory(folder)
    (folder / "HISTORY").unlink()
    with pytest.raises(StoreDamagedError, match="HISTORY is missing"):
        VersionHistory(folder)


def test_versions_without_the_file_of_their_folder_are_not_removed(folder: Path) -> None:
    """A backup may have been restored in part; with the file, the history is as it was."""
    history = VersionHistory(folder)
    put(following(history, Source(MemoryStore())), {b"k": b"1"})
    history.close()
    file = folder / "HISTORY"
    content = file.read_bytes()
    file.unlink()
    with pytest.raises(StoreDamagedError, match="HISTORY is missing"):
        VersionHistory(folder)
    file.write_bytes(content)
    with closing(VersionHistory(folder)) as restored:
        assert restored.at(version=1)[b"k"].value == b"1"


@pytest.mark.parametrize("lost", [["HISTORY"], ["HISTORY", "COMPLETE", "database/CURRENT", "database/*.sst"]])
def test_a_history_whose_creation_was_interrupted_is_created_again(folder: Path, lost: list[str]) -> None:
    """Its database has no version yet, and may not even be complete."""
    VersionHistory(folder).close()
    for file in [file for pattern in lost for file in folder.glob(pattern)]:
        file.unlink()
    history = VersionHistory(folder)
    put(following(history, Source(MemoryStore())), {b"k": b"1"})
    assert history.at(version=1)[b"k"].value == b"1"
    history.close()
