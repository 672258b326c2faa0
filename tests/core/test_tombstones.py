"""When a deletion may have been forgotten: by what is said of time, and with replicas of fake topics."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

import pytest

from kafka_replica import Change, MemoryStore, Partition, Replica, follower
from kafka_replica.records import Cut
from kafka_replica.testing import FakeTopic
from kafka_replica.tombstones import Tombstones

P = Partition("t", 0)
EVIDENCE = pytest.mark.parametrize("evidence", ["markers", "quiet points"])


def now_ms() -> int:
    """As the follower tells the time."""
    return time.time_ns() // 1_000_000


def test_only_an_answer_that_was_read_up_to_says_that_all_was_read() -> None:
    """Not before reading has come there; and it counts from the question, not from when reading came there."""
    tombstones = Tombstones(None)
    tombstones.read(Cut({P: 10}))
    assert tombstones.caught_up_ms is None
    tombstones.ended(1000, Cut({P: 10}))
    tombstones.ended(2000, Cut({P: 20}))  # an earlier question is waited for first
    tombstones.read(Cut({P: 9}))
    assert tombstones.caught_up_ms is None
    tombstones.read(Cut({P: 10}))
    assert tombstones.caught_up_ms == 1000
    tombstones.read(Cut({P: 30}))
    assert tombstones.caught_up_ms == 1000
    tombstones.ended(3000, Cut({P: 30}))
    tombstones.read(Cut({P: 30}))
    assert tombstones.caught_up_ms == 3000


@pytest.mark.parametrize(
    ("given_s", "said_s", "away_s", "at_least_s", "may_be_gone"),
    [
        (None, 100.0, 50, 0, False),
        (None, 100.0, 200, 0, True),
        (None, None, 80_000, 0, False),  # we may not ask: Kafka's default, a day
        (None, None, 90_000, 0, True),
        (10.0, 100.0, 50, 0, True),  # what the user says counts
        (1000.0, 100.0, 500, 0, False),
        (0.0, None, 2, 3, False),
        (0.0, None, 4, 3, True),
    ],
)
def test_for_how_long(
    given_s: float | None, said_s: float | None, away_s: int, at_least_s: float, may_be_gone: bool
) -> None:
    """Away for longer than they are kept."""
    tombstones = Tombstones(given_s)
    assert not tombstones.may_be_gone(lambda: said_s)  # while a first reading is under way
    tombstones.caught_up(now_ms() - away_s * 1000)
    assert tombstones.may_be_gone(lambda: said_s, at_least_s) is may_be_gone


def test_that_we_may_not_ask_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    """With the setting that helps."""
    tombstones = Tombstones(None)
    tombstones.caught_up(now_ms() - 1000)
    with caplog.at_level(logging.WARNING, "kafka_replica"):
        for _ in range(3):
            tombstones.may_be_gone(lambda: None)
    assert len(caplog.messages) == 1
    assert "DescribeConfigs" in caplog.text
    assert "tombstones_kept_s" in caplog.text


def wait_until(condition: Callable[[], object]) -> None:
    """Waits until it holds."""
    give_up_s = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < give_up_s
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follower, "_HARDLY_S", 0.3)


def late_replica(topic: FakeTopic, evidence: str) -> Replica:
    """One that has everything, and is then cut off from the broker until a deletion is forgotten."""
    replica = topic.replica(evidence=evidence, history=10).start()
    replica.wait_for(topic.end(), timeout_s=10)
    topic.tombstones_kept_s = 0.2
    with topic.unavailable():
        topic.delete("deleted")
        topic.put("kept", b"2")
        topic.put("last", b"1")
        topic.compact()
        time.sleep(1)
    return replica


@EVIDENCE
def test_a_broker_out_of_reach_for_too_long(evidence: str) -> None:
    """The replica was there all along, and heard nothing: what was deleted meanwhile is gone afterwards."""
    topic = FakeTopic()
    topic.put("deleted", b"1")
    topic.put("kept", b"1")
    with late_replica(topic, evidence) as replica:
        wait_until(lambda: "last" in replica.snapshot())
        wait_until(lambda: replica.status().ready)
        assert set(replica.snapshot()) == {b"kept", b"last"}
        assert replica.status().counts.rebuilds == 1


@EVIDENCE
def test_that_can_fail(evidence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same with the check switched off shows the ghost."""
    monkeypatch.setattr(Tombstones, "may_be_gone", lambda *_: False)
    topic = FakeTopic()
    topic.put("deleted", b"1")
    topic.put("kept", b"1")
    with late_replica(topic, evidence) as replica:
        wait_until(lambda: "last" in replica.snapshot())
        assert "deleted" in replica.snapshot()


@EVIDENCE
def test_the_end_of_a_fake_log_is_lost(evidence: str) -> None:
    """While it runs and while it is down: built anew, and told; what grew beyond the old end is noticed."""
    topic, store = FakeTopic(), MemoryStore()
    topic.put("common", b"1")
    for number in range(3):
        topic.put(f"lost{number}", b"1")
    heard: list[Change] = []
    with topic.replica(store, evidence=evidence) as replica:
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
    with topic.replica(store, evidence=evidence) as replica:
        assert set(replica.wait_ready(timeout_s=10)) == {b"common", *(b"more%d" % number for number in range(5))}
        assert replica.status().counts.rebuilds == 1
