"""A replica's store and publisher without a log, a history that follows them, and a plain model of all versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import cast
from unittest import mock

from kafka_replica import MemoryStore, Position, Record, Replica, RocksStore, Store
from kafka_replica.errors import LogReplacedError, StoreError
from kafka_replica.history import (
    FutureVersionError,
    KeptVersion,
    VersionHistory,
    VersionNotKeptError,
    instants,
    recorder,
    version_history,
)
from kafka_replica.history.snapshot import HistorySnapshot
from kafka_replica.publication.health import Health
from kafka_replica.publication.publisher import Publisher
from kafka_replica.stores.contract import TopicSnapshot
from kafka_replica.stores.delta import Delta
from kafka_replica.stores.rocks.database import Batch, Database
from kafka_replica.transactions.resume_point import ResumePoint
from support.core.rocks_tools import P, Values

State = dict[bytes, Record]
KEYS = [b"a", b"a\0", b"a\0\xff", b"a\0\0b", b"", b"\xff\xff", b"\0", b"t\0k1", b"t\0k2", b"k"]
LIMITS: list[dict[str, float | None]] = [
    {"keep_s": None},
    {"keep_s": None, "keep_versions": 1},
    {"keep_s": None, "keep_versions": 4},
    {"keep_s": 2.0},
    {"keep_s": 3.0, "keep_versions": 6},
]


@dataclass
class ModelVersion:
    """A version that was recorded."""

    number: int
    incarnation: str
    state: State
    published_ms: int
    missing: int | None
    is_after_gap: bool


class Source:
    """The part of a replica that a history uses."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.publisher = self._publisher = Publisher(Health(stalled_after_s=10, blocked_after_s=1))
        self.record_versions = self.publisher.record


class World:
    """Versions are published, the history fails, both restart; ``check`` compares all with the model."""

    def __init__(self, folder: Path, *, on_disk: bool, limits: Mapping[str, float | None]) -> None:
        self.folder = folder
        self.on_disk = on_disk
        self.limits = limits
        self.clock_ms = 1_000_000
        self.state: State = {}
        self.offset = 0
        self.model: list[ModelVersion] = []  # all that were recorded, whether or not they are kept
        self.oldest = 0  # the index of the oldest version that is kept
        self.waiting: tuple[str, int] | None = None  # the version that could not be recorded
        self.has_gap = False  # whether readers saw other versions since the newest recorded one
        self.shown_ms = self.failed_ms = 0  # the instant of that version, and of the first failure
        self.earliest_ms = 0  # of the next version
        self.held: list[tuple[HistorySnapshot, State]] = []
        self._patches = [
            mock.patch.object(module, "now_ms", self.now) for module in (instants, recorder, version_history)
        ]
        for patch in self._patches:
            patch.start()
        self.source = self._source()
        self.history = self._open()
        self.follow()

    def now(self) -> int:
        """Return the time of the clock."""
        return self.clock_ms

    def close(self) -> None:
        """Close all."""
        self.history.close()
        self.source.store.close()
        for patch in self._patches:
            patch.stop()

    # --- acts ---

    def publish(self, changes: Values, *, recorded: bool = True) -> None:
        """Publish a version."""
        self.clock_ms += len(changes) % 3  # the same millisecond, or a later one
        store = self.source.store
        records = self._records(changes)
        for record in records:
            if record.value is None:
                self.state.pop(record.key, None)
            else:
                self.state[record.key] = record
        position = Position({P: self.offset})
        applied = store.apply(
            Delta(records), position, ResumePoint(position, incarnation=self.source.publisher.incarnation)
        )
        self.source.publisher.published(store.snapshot(), applied, 1)
        if recorded:
            self._expect_recorded()

    def publish_failing(self, changes: Values, at_write: int) -> None:
        """Publish a version while the disk of the history fails from its write of that number on."""
        with failing(self.history, at_write) as failed:
            self.publish(changes, recorded=False)
        if failed and self.history.stats().recording_error is not None:
            if self.waiting is None:
                self.failed_ms = self.clock_ms
            self.shown_ms = self._instant()
            self.waiting = self.source.publisher.incarnation, self.source.store.snapshot().version
        else:
            self._expect_recorded()

    def retry(self) -> None:
        """Let the history try again to record."""
        timer = self.history._opened().recorder._timer
        if timer is not None:
            timer.cancel()
            self.history._opened().recorder._retry()
            if self.waiting is not None:
                self._append(*self.waiting, self.shown_ms)

    def outage(self, at_write: int, versions: list[Values]) -> None:
        """Publish versions while the disk fails, then let the history try again."""
        for at, changes in enumerate(versions):
            if at:
                self.publish(changes)
            else:
                self.publish_failing(changes, at_write)
        self.wait(1)
        self.retry()

    def unrecorded(self, changes: Values) -> None:
        """Publish a version while the history follows nothing."""
        self.unfollow()
        self.publish(changes, recorded=False)
        self.has_gap = bool(self.model)
        self.follow()

    def rebuild(self) -> None:
        """Read all again, from a log with other offsets."""
        changes = {key: record.value for key, record in self.state.items()}
        self.source.publisher.outdated(LogReplacedError("the log was replaced"))
        self.source.store.rebuild()
        self.state = {}
        self.publish(changes)

    def restart(self) -> None:
        """Start another replica, with an empty store in memory or the one on disk."""
        self.unfollow()
        self.source.store.close()
        self.source = self._source()
        store, publisher = self.source.store, self.source.publisher
        self.follow()
        if store.resume_point is not None:
            publisher.restored(store.snapshot(), store.resume_point.incarnation)
            self._expect_recorded()
        elif self.offset:
            changes = {key: record.value for key, record in self.state.items()}
            self.state = {}
            self.publish(changes)

    def reopen(self) -> None:
        """Close the history, open it again and follow."""
        self.history.close()
        self.has_gap |= self.waiting is not None
        self.waiting, self.earliest_ms = None, 0
        self.history = self._open()
        self.follow()

    def hold(self, back: int) -> None:
        """Hold a version that is kept."""
        kept = self.model[self.oldest :]
        if kept:
            sequence = len(self.model) - back % len(kept)
            (version,) = self.history.versions(sequence, 1)
            self.held.append((self.history.at(version=version), self.model[sequence - 1].state))

    def prune(self) -> None:
        """Apply the limits."""
        self.history.prune()
        self._retain()

    def wait(self, ms: int) -> None:
        """Move the clock, perhaps backwards."""
        self.clock_ms += ms

    def follow(self) -> None:
        """Follow the replica; a version that it shows is recorded."""
        self.history.follow(cast("Replica", self.source))
        if self.source.publisher.has_version:
            self._expect_recorded()

    def unfollow(self) -> None:
        """Follow nothing."""
        self.history._stop_following()

    # --- the model ---

    def _expect_recorded(self) -> None:
        """Append the version shown to the model, unless the history waits, or has it."""
        identity = self.source.publisher.incarnation, self.source.store.snapshot().version
        if self.waiting is not None:
            self.shown_ms = self._instant()
            self.waiting, self.has_gap = identity, True
        elif self.has_gap or not self.model or identity != (self.model[-1].incarnation, self.model[-1].number):
            self._append(*identity, None)

    def _append(self, incarnation: str, number: int, shown_ms: int | None) -> None:
        newest = self.model[-1] if self.model else None
        missing = None
        if newest is not None and newest.incarnation == incarnation and number > newest.number:
            missing = number - newest.number - 1
        ms = self._instant() if shown_ms is None else shown_ms
        self.model.append(ModelVersion(number, incarnation, dict(self.state), ms, missing, self.has_gap))
        self.waiting, self.has_gap = None, False
        self._retain()

    def _instant(self) -> int:
        newest_ms = self.model[-1].published_ms if self.model else 0
        self.earliest_ms = max(self.clock_ms, newest_ms, self.earliest_ms)
        return self.earliest_ms

    def _retain(self) -> None:
        last = len(self.model) - 1
        keep_s, count = self.limits.get("keep_s"), self.limits.get("keep_versions")
        while self.oldest < last:
            too_many = count is not None and last - self.oldest + 1 > count
            ended_ms = self.model[self.oldest + 1].published_ms
            too_old = keep_s is not None and ended_ms <= self.clock_ms - keep_s * 1000
            if not too_many and not too_old:
                return
            self.oldest += 1

    # --- checks ---

    def check(self) -> None:
        """Compare versions, records, instants and differences with the model."""
        kept = self.model[self.oldest :]
        versions = self.history.versions(limit=1_000)[::-1]
        assert [(each.number, each.incarnation, each.missing) for each in versions] == [
            (each.number, each.incarnation, each.missing) for each in kept
        ]
        assert [each.published_ms for each in versions] == [each.published_ms for each in kept]
        for version, expected in zip(versions, kept, strict=True):
            assert_equal(self.history.at(version=version), expected.state)
        for snapshot, state in self.held:
            assert_equal(snapshot, state)
        for before, was in zip(versions, kept, strict=True):
            for after, now in zip(versions, kept, strict=True):
                self._check_difference(before, after, was.state, now.state)
        self._check_numbers(kept)
        self._check_instants(kept)

    def _check_difference(self, before: KeptVersion, after: KeptVersion, was: State, now: State) -> None:
        found = self.history.diff(before, after)
        assert set(found.added) == now.keys() - was.keys()
        assert set(found.deleted) == was.keys() - now.keys()
        assert set(found.changed) == {
            key
            for key in was.keys() & now.keys()
            if (was[key].value, was[key].headers) != (now[key].value, now[key].headers)
        }
        assert {key: records for key, *records in found} == {
            key: [was.get(key), now.get(key)] for key in (*found.added, *found.changed, *found.deleted)
        }

    def _check_numbers(self, kept: list[ModelVersion]) -> None:
        if not kept:
            return
        newest = kept[-1]
        states = {(each.incarnation, each.number): each.state for each in kept}
        for incarnation in {each.incarnation for each in kept}:
            last = max(each.number for each in kept if each.incarnation == incarnation)
            for number in range(-1, last + 3):
                expected = states.get((incarnation, number))
                try:
                    found = self.history.at(version=number, incarnation=incarnation)
                except FutureVersionError:
                    assert incarnation == newest.incarnation
                    assert number > newest.number
                    assert self.waiting is None
                except VersionNotKeptError:
                    assert expected is None
                else:
                    assert dict(found) == expected

    def _check_instants(self, kept: list[ModelVersion]) -> None:
        instants = {each.published_ms + by for each in kept for by in (-1, 0, 1)} | {self.clock_ms}
        for ms in sorted(instants):
            before = [each for each in kept if each.published_ms <= ms]
            following = kept[len(before)] if len(before) < len(kept) else None
            is_known = bool(before) and not (
                following is not None and _is_after_others(before[-1], following) and ms > before[-1].published_ms
            )
            if self.waiting is not None and following is None and ms >= self.failed_ms:
                is_known = False
            try:
                found = self.history.at(instant=ms)
            except FutureVersionError:
                assert ms > self.clock_ms
            except VersionNotKeptError:
                assert not is_known
            else:
                assert is_known
                assert dict(found) == before[-1].state
        self.earliest_ms = max(self.earliest_ms, self.clock_ms + 1)  # what was asked for keeps its answer

    # --- helpers ---

    def _source(self) -> Source:
        return Source(RocksStore(self.folder / "store", write_buffer_bytes=1 << 16) if self.on_disk else MemoryStore())

    def _open(self) -> VersionHistory:
        history = VersionHistory(self.folder / "history", write_buffer_bytes=1 << 16, **self.limits)  # type: ignore[arg-type]
        history._opened().recorder._retry_after_s = 3600  # only ``retry`` tries again
        return history

    def _records(self, changes: Values) -> list[Record]:
        first, self.offset = self.offset, self.offset + len(changes)
        return [
            Record(key, value, first + at, self.clock_ms, (("n", b"%d" % at), ("null", None)), P)
            for at, (key, value) in enumerate(changes.items())
        ]


def assert_equal(snapshot: HistorySnapshot, state: State) -> None:
    """Compare all ways to read a version with its state."""
    assert dict(snapshot.items()) == state
    assert len(snapshot) == len(state)
    assert sorted(snapshot) == sorted(state)
    assert {key: snapshot.get(key) for key in KEYS} == {key: state.get(key) for key in KEYS}
    assert sorted(TopicSnapshot(snapshot, "t")) == sorted(key[2:] for key in state if key.startswith(b"t\0"))


@contextmanager
def failing(history: VersionHistory, at_write: int) -> Iterator[list[int]]:
    """Let the writes of a history's database fail, from one of them on; yield a list of their numbers."""
    real, folder = Database.write, history._opened().journal.database.folder
    numbers = count(1)
    failed: list[int] = []

    def write(database: Database, batch: Batch, *, is_logged: bool = True) -> None:
        if database.folder == folder and (number := next(numbers)) >= at_write:
            failed.append(number)
            raise StoreError("writing: no space left on device")
        real(database, batch, is_logged=is_logged)

    Database.write = write  # type: ignore[method-assign,assignment] # a mock would keep the database open
    try:
        yield failed
    finally:
        Database.write = real  # type: ignore[method-assign]


def _is_after_others(before: ModelVersion, following: ModelVersion) -> bool:
    """Return whether readers saw other versions between two recorded ones."""
    is_new = following.incarnation != before.incarnation
    return bool(following.missing) or following.is_after_gap or (is_new and following.number > 1)
