"""Continuing after a version by recent changes, without a broker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica import ConfigurationError, MemoryStore, Replica, UsageError
from kafka_replica.errors import StoreDamagedError
from kafka_replica.listeners import RecentChanges
from kafka_replica.listeners.older_version import PastSnapshot
from kafka_replica.listeners.version_diff import VersionDiff, VersionInfo
from kafka_replica.records import Key
from kafka_replica.stores.delta import AppliedChanges
from support.core.publisher_driver import Driver, Reader
from support.core.store_contract import Writes, writes
from support.effort import examples


@dataclass(frozen=True)
class Publish:
    """Event: a version is published."""

    written: Writes
    transactions: int | None


@dataclass(frozen=True)
class Join:
    """Event: a reader joins after a version."""

    since: int | None


@dataclass(frozen=True)
class Take:
    """Event: a reader takes its next change, if there is any."""

    reader: int
    look: bool


publishes = st.builds(Publish, writes, st.one_of(st.none(), st.integers(0, 3)))
joins = st.builds(Join, st.one_of(st.none(), st.integers(-1, 12)))
takes = st.builds(Take, st.integers(0, 3), st.booleans())


@pytest.mark.thorough
@settings(max_examples=examples(400), deadline=None)
@given(st.lists(st.one_of(publishes, publishes, joins, takes), max_size=30), st.integers(0, 8), st.integers(1, 3))
def test_changes_since_a_version_lead_from_it_to_the_present(
    events: list[Publish | Join | Take], recent_changes: int, max_pending: int
) -> None:
    """Changes since a version lead to the present, for any order of versions, joins after any version, and takes.

    Every change's version has the expected content, also later; a whole state comes if and only if some of the changes
    since are missing.
    """
    driver = Driver(recent_changes)
    readers: list[Reader] = []
    for event in events:
        if isinstance(event, Publish):
            driver.publish(event.written, event.transactions)
        elif isinstance(event, Join):
            readers.append(join(driver, event.since, recent_changes, max_pending))
        elif event.reader < len(readers) and readers[event.reader].mailbox.ready:
            readers[event.reader].take(look=event.look)
    for reader in readers:
        reader.take_all()
        reader.look_back()
        assert driver.version == 0 or reader.state == driver.models[-1]


def join(driver: Driver, since: int | None, recent_changes: int, max_pending: int) -> Reader:
    """Start a reader, and check its first changes as far as they are there."""
    present = driver.version
    reader = Reader(driver, driver.publisher.mailbox(max_pending, since), since)
    goes_on = since is not None and max(1, present - recent_changes) <= since <= present
    assert reader.mailbox.ready == (present > 0 and not (goes_on and since == present))
    if not goes_on:
        reader.version, reader.state = None, {}
    elif since is not None and present > since:
        first = reader.take()
        assert not first.initial
        assert first.version == since + 1, "a change of its own for each version"
    return reader


@pytest.mark.thorough
def test_missed_versions_are_never_merged() -> None:
    """Fifty missed versions are fifty changes even with a mailbox of one; later versions are merged."""
    driver = Driver()
    driver.count_to(50)
    reader = Reader(driver, driver.publisher.mailbox(1, since=10), 10)
    driver.count_to(60)
    reader.take_all()
    assert [change.version for change in reader.heard] == [*range(11, 51), 60]
    assert [change.conflated for change in reader.heard] == [1] * 40 + [10]
    assert [change.transactions for change in reader.heard] == [1] * 40 + [10]
    driver.count_to(70)
    reader.take_all()
    assert reader.heard[-1].conflated == 10, "what was missed widens the mailbox only as long as it waits"


def test_recent_changes_are_bounded() -> None:
    """Recent changes are bounded by number, keys and bytes; older ones are gone, newer ones are there without a gap."""
    driver = Driver()
    diffs: list[VersionDiff] = []
    driver.count_to(1)
    for _ in range(20):
        previous = driver.publisher.snapshot
        driver.count_to(driver.version + 1)
        assert driver.publisher.snapshot is not None
        assert previous is not None
        diffs.append(driver.publisher.mailbox(1, since=previous.version)._pending[0])  # type: ignore[arg-type]
    by_number, by_keys = RecentChanges(5), RecentChanges(100, max_keys=9)
    by_bytes = RecentChanges(100, max_bytes=4 * 9)
    for diff in diffs:
        for recent in (by_number, by_keys, by_bytes):
            recent.add(diff)
            recent.release_previous()
            recent.shrink()
    for recent, kept in ((by_number, 5), (by_keys, 4), (by_bytes, 4)):
        assert recent.after(21 - kept, 21) == diffs[-kept:]
        assert recent.after(21 - kept - 1, 21) is None
        assert recent.after(21, 21) == []
        assert recent.after(22, 21) is None


def test_a_change_that_is_too_large_is_not_kept_and_leaves_no_gap() -> None:
    """A change beyond the bound empties the recent changes: a reader from before gets the whole state."""
    driver = Driver()
    driver.publisher._recent = RecentChanges(max_keys=3)
    driver.count_to(3)
    driver.publish([(b"%d" % number, b"x") for number in range(4)])
    for since, begins_whole in ((2, True), (3, True), (4, False)):
        assert driver.publisher.mailbox(1, since).ready == begins_whole, since
    driver.count_to(5)
    reader = Reader(driver, driver.publisher.mailbox(1, since=4), 4)
    assert not reader.take().initial


def test_a_change_of_large_values_is_not_kept_until_the_next_version() -> None:
    """A change whose replaced values exceed the bound of bytes is dropped at once; its listeners still get it."""
    driver = Driver()
    driver.publisher._recent = RecentChanges(max_bytes=1000)
    driver.publish([(b"%d" % number, b"x" * 500) for number in range(10)])
    reader = Reader(driver, driver.publisher.mailbox(10, since=1), 1)
    driver.publish([(b"%d" % number, b"y") for number in range(10)])
    assert not driver.publisher._recent._diffs
    assert driver.publisher._recent._bytes == 0
    assert driver.publisher.mailbox(1, since=1).take(0).initial  # type: ignore[union-attr] # it has a version
    driver.count_to(4)
    reader.take_all()
    assert [change.version for change in reader.heard] == [2, 3, 4]


def test_reading_of_replaced_values_ends_at_the_bound() -> None:
    """If the store did not report the replaced values, no more of them are read than the bound allows."""
    driver = Driver()
    driver.publish([(b"%d" % number, b"x" * 500) for number in range(10)])
    previous = driver.store.snapshot()
    reads: list[Key] = []

    class Counting(PastSnapshot):
        def get(self, key: Key, default: Any = None, /) -> Any:
            reads.append(key)
            return previous.get(key, default)

    was = Counting(VersionInfo.of(previous), (), previous)
    driver.publish([(b"%d" % number, b"y") for number in range(10)])
    changed = AppliedChanges([b"%d" % number for number in range(10)], [])
    diff, recent = VersionDiff(driver.store.snapshot(), was, changed, 1), RecentChanges(max_bytes=1000)
    recent.add(diff)
    recent.release_previous()
    recent.shrink()
    assert len(reads) == 2
    assert recent.after(1, 2) is None
    assert len(diff.before) == 10


@pytest.mark.parametrize("recent_changes", [-1, None, "10", 1.5])
def test_a_limit_that_is_not_a_natural_number_is_refused(recent_changes: object) -> None:
    """A limit that is not a natural number is refused when the replica is made."""
    with pytest.raises(ConfigurationError, match="recent_changes="):
        Replica({"bootstrap.servers": "x:1"}, "t", recent_changes=recent_changes)  # type: ignore[arg-type] # tested


def test_a_number_of_another_life_means_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version number of another incarnation gives the whole state, one of this incarnation only the new changes."""
    replica = Replica({"bootstrap.servers": "127.0.0.1:1"}, "t")
    driver = Driver()
    monkeypatch.setattr(replica, "_publisher", driver.publisher)
    driver.count_to(5)
    assert next(replica.changes(since=3, incarnation="of another", timeout_s=0)).initial
    ours = replica.changes(since=3, incarnation=replica.incarnation, timeout_s=0)
    assert [next(ours).version, next(ours).version] == [4, 5]
    assert not ours.ready
    assert Replica({"bootstrap.servers": "127.0.0.1:1"}, "t").incarnation != replica.incarnation
    with pytest.raises(UsageError, match="not the number of a version"):
        replica.changes(since="3")  # type: ignore[arg-type] # an invalid type is tested


class _HalfReadable(PastSnapshot):
    """A version of which one record can be read."""

    def get(self, key: Key, /, default: Any = None) -> Any:
        """Return nothing for one key."""
        if key == b"a":
            return default
        raise StoreDamagedError("it is damaged")


def test_a_difference_whose_records_cannot_be_read_has_no_size() -> None:
    """Otherwise dropping it would subtract a size that was never added."""
    now = MemoryStore().snapshot()
    diff = VersionDiff(now, _HalfReadable(VersionInfo.of(now), (), now), AppliedChanges((b"a", b"b"), ()), 1)
    recent = RecentChanges()
    recent.add(diff)
    with pytest.raises(StoreDamagedError):
        recent.release_previous()
    assert diff.size == recent._bytes == 0
