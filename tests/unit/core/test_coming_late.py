"""Replicas of fake topics that are too late for deletions, or whose log loses its end."""

from __future__ import annotations

import logging
import time
from threading import Event
from typing import Any

import pytest

from kafka_replica import Change, MemoryStore, Replica, State, WaitTimeoutError
from kafka_replica.broker.reading.contract import StartOffsets
from kafka_replica.broker.reading.readers import Boundaries
from kafka_replica.common.clock import now
from kafka_replica.errors import LogReplacedError
from kafka_replica.publication.health import Health
from kafka_replica.publication.publisher import Publisher
from kafka_replica.replication import deletion_check as deletions
from kafka_replica.replication import supervisor
from kafka_replica.replication.broker_retry import BrokerRetry
from kafka_replica.replication.deletion_check import DeletionCheck
from kafka_replica.replication.tombstone_retention import TombstoneCheck
from kafka_replica.testing import FakeTopic
from kafka_replica.testing.fake_reader import FakeReader
from kafka_replica.testing.fake_replica import make_fake_reader
from support.waiting import wait_until

BOUNDARIES = pytest.mark.parametrize("boundaries", ["markers", "quiescence"])


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the least retention that replicas assume, so that the settings of the topics count."""
    monkeypatch.setattr(deletions, "_LEAST_S", 0.3)
    monkeypatch.setattr(deletions, "_LEAST_UNCERTAIN_S", 0.3)


def late_replica(topic: FakeTopic, boundaries: str) -> Replica:
    """Return a replica that was up to date, then cut off from the broker until a deletion was compacted away."""
    replica = topic.replica(boundaries=boundaries, kept_versions=10).start()
    replica.wait_for(topic.end(), timeout_s=10)
    topic.tombstones_kept_s = 0.2
    with topic.outage():
        topic.delete("deleted")
        topic.put("kept", b"2")
        topic.put("last", b"1")
        topic.compact()
        time.sleep(2)
    return replica


@pytest.mark.thorough
@BOUNDARIES
def test_a_broker_out_of_reach_for_too_long(boundaries: str) -> None:
    """A running replica that was out of reach for too long drops the keys deleted in the meantime."""
    topic = FakeTopic()
    topic.put("deleted", b"1")
    topic.put("kept", b"1")
    with late_replica(topic, boundaries) as replica:
        wait_until(lambda: "last" in replica.snapshot())
        wait_until(lambda: replica.status().ready)
        assert set(replica.snapshot()) == {b"kept", b"last"}
        assert replica.status().counts.rebuilds == 1


@pytest.mark.thorough
@BOUNDARIES
def test_a_replica_without_the_check_shows_the_deleted_key(boundaries: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A replica without the check shows the deleted key, so the test above can fail."""
    monkeypatch.setattr(TombstoneCheck, "late", lambda _: None)
    topic = FakeTopic()
    topic.put("deleted", b"1")
    topic.put("kept", b"1")
    with late_replica(topic, boundaries) as replica:
        wait_until(lambda: "last" in replica.snapshot())
        assert "deleted" in replica.snapshot()


@pytest.mark.thorough
@BOUNDARIES
def test_a_late_replica_continues_while_no_offset_is_missing(boundaries: str) -> None:
    """By either boundary detection a late replica continues, however long it was away, while no offset is missing."""
    topic, store = FakeTopic(), MemoryStore()
    topic.put("a", b"1")
    with topic.replica(store, boundaries=boundaries) as replica:
        incarnation = replica.wait_for(topic.end(), timeout_s=10) and replica.incarnation
    topic.tombstones_kept_s = 0.0
    topic.delete("a")
    topic.put("b", b"1")
    time.sleep(2)
    with topic.replica(store, boundaries=boundaries) as replica:
        assert set(replica.wait_for(topic.end(), timeout_s=10)) == {b"b"}
        assert (replica.status().counts.rebuilds, replica.incarnation) == (0, incarnation)


@BOUNDARIES
@pytest.mark.thorough
def test_a_topic_that_cannot_be_read_within_its_retention(
    boundaries: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A replica that cannot keep up is not ready, gives the reason for as long as needed, and retries with pauses."""
    monkeypatch.setattr(deletions, "_LEAST_S", -1.0)
    monkeypatch.setattr(deletions, "_LEAST_UNCERTAIN_S", -1.0)
    monkeypatch.setattr(supervisor, "_PAUSES_S", (0.0, 0.1))
    topic = FakeTopic()
    for value in b"1", b"2":
        topic.put("a", value)
        topic.put("b", value)
    topic.tombstones_kept_s = -1.0
    with topic.replica(boundaries=boundaries) as replica:
        replica.wait_for(topic.end(), timeout_s=10)
        topic.compact()
        with caplog.at_level(logging.WARNING, "kafka_replica"):
            topic.lose_end(3)
            topic.put("b", b"3")
            wait_until(lambda: replica.status().counts.rebuilds >= 3)
            for _ in range(100):
                status = replica.status()
                assert (status.ready, status.stale) == (False, True)
                assert "raise delete.retention.ms" in str(status.last_error)
        assert "(attempt 3)" in caplog.text
        assert replica.snapshot()["b"].value == b"2"
        topic.tombstones_kept_s = 86_400.0
        wait_until(lambda: replica.status().ready)
        assert replica.snapshot()["b"].value == b"3"
        assert replica.status().last_error is None


def test_a_missing_permission_is_logged_once(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing permission is logged once; the message names the setting that helps."""
    topic, store = FakeTopic(), MemoryStore()
    topic.put("a", b"1")
    with topic.replica(store) as replica:
        replica.wait_for(topic.end(), timeout_s=10)
    monkeypatch.setattr("kafka_replica.testing.fake_reader.FakeReader.retentions", lambda _: {})
    with caplog.at_level(logging.WARNING, "kafka_replica"):
        for _ in range(3):
            topic.put("a", b"1")
            with topic.replica(store) as replica:
                replica.wait_for(topic.end(), timeout_s=10)
    assert len(caplog.messages) == 3
    assert "DescribeConfigs" in caplog.text
    assert "tombstones_kept_s" in caplog.text


@BOUNDARIES
def test_the_end_of_a_fake_log_is_lost(boundaries: str) -> None:
    """A lost end of the log is reported and leads to a rebuild, running or stopped, even if the log grew beyond it."""
    topic, store = FakeTopic(), MemoryStore()
    topic.put("common", b"1")
    for number in range(3):
        topic.put(f"lost{number}", b"1")
    heard: list[Change] = []
    with topic.replica(store, boundaries=boundaries) as replica:
        replica.wait_for(topic.end(), timeout_s=10)
        replica.subscribe(heard.append)
        wait_until(lambda: heard)
        topic.lose_end(1)
        topic.put("other", b"1")
        wait_until(lambda: set(replica.snapshot()) == {b"common", b"other"})
        wait_until(lambda: {key for change in heard for key in change.deleted} == {b"lost0", b"lost1", b"lost2"})
    topic.lose_end(1)
    for number in range(5):
        topic.put(f"more{number}", b"1")
    with topic.replica(store, boundaries=boundaries) as replica:
        assert set(replica.wait_ready(timeout_s=10)) == {b"common", *(b"more%d" % number for number in range(5))}
        assert replica.status().counts.rebuilds == 1


@BOUNDARIES
def test_another_leader_in_the_middle_of_a_first_read(boundaries: str) -> None:
    """A leader change during a first read is noticed, and harmless after its end.

    Brokers compact independently: the first leader may still have had keys whose tombstones the next one has removed.
    """
    topic = FakeTopic()
    place = topic.partitions[0]
    source = make_fake_reader(topic.kafka.cluster, [topic.name], Boundaries(boundaries))[0]
    publisher = Publisher(Health(stalled_after_s=60, blocked_after_s=60))

    def begun() -> DeletionCheck:
        check = DeletionCheck(
            [topic.name], None, source, BrokerRetry(topic.name, publisher.health, Event(), waits_for_topics=True)
        )
        source.leaders = {place: 1}
        for value in b"1", b"2":
            topic.put("a", value)
            topic.put("b", value)
        topic.compact()
        assert not check.begin(now(), source.open(), None)
        return check

    check = begun()
    source.leaders = {place: -1}  # for a moment there is no leader
    check.take(source.read(1))
    source.leaders = {place: 1}
    check.confirm()
    check = begun()
    source.leaders = {place: 2}
    fetched = source.read(1)
    with pytest.raises(LogReplacedError, match="the leader of fake-0 has changed"):
        check.take(fetched)
    check = begun()
    check.take(source.read(1))
    source.leaders = {place: 2}  # which is noticed somewhat late
    with pytest.raises(LogReplacedError, match="the leader of fake-0 has changed"):
        check.confirm()
    check = begun()
    check.take(source.read(1))
    check.confirm()
    check.process_ends(now(), source.ends())  # everything is read
    source.leaders = {place: 2}
    topic.put("a", b"3")
    topic.put("a", b"4")
    topic.compact()
    check.take(source.read(1))
    check.confirm()


@BOUNDARIES
def test_waiting_for_a_position_in_a_new_log_does_not_return_the_version_of_the_old_one(
    boundaries: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Offsets of a topic that was created again are lower than those of the version shown, which lacks its records."""
    topic, may_open, open_ = FakeTopic(), Event(), FakeReader.open
    for number in range(20):
        topic.put(f"old{number}", b"1")
    with topic.replica(boundaries=boundaries) as replica:
        replica.wait_for(topic.end(), timeout_s=10)

        def wait_and_open(*arguments: Any) -> StartOffsets:
            assert may_open.wait(30)
            return open_(*arguments)

        monkeypatch.setattr(FakeReader, "open", wait_and_open)
        topic.recreate()
        written = topic.put("new", b"1")
        wait_until(lambda: replica.status().counts.rebuilds == 1)
        with pytest.raises(WaitTimeoutError):
            replica.wait_for(written, timeout_s=0.05)
        assert len(replica.snapshot()) == 20
        may_open.set()
        assert set(replica.wait_for(written, timeout_s=30)) == {b"new"}


def test_a_pause_between_rebuilds_is_not_reported_as_stalled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The replica asks no broker in a pause, so the broker is not silent."""

    def open_(*_: object) -> None:
        raise LogReplacedError("the log was replaced")

    monkeypatch.setattr(FakeReader, "open", open_)
    monkeypatch.setattr(supervisor, "_PAUSES_S", (0.0, 30.0))
    with FakeTopic().replica(stalled_after_s=10) as replica:
        machine = replica._publisher.health._machine
        wait_until(lambda: machine._paused_until_s is not None)
        assert machine.state(time.monotonic() + 25) is State.CATCHING_UP
        assert machine.state(time.monotonic() + 41) is State.STALLED
