"""The log lines about the state of a replica."""

from __future__ import annotations

import logging
from itertools import pairwise

import pytest

from kafka_replica import Partition, Position, State, Status
from kafka_replica.errors import AuthorizationError
from kafka_replica.publication.lifecycle import LifecycleLog, described
from kafka_replica.testing import FakeTopic
from support.waiting import wait_until

P = Partition("t", 0)
LIVE = Status(State.LIVE, ready=True, version=3, keys=1500, position=Position({P: 7}))


@pytest.mark.parametrize(
    ("status", "line"),
    [
        (LIVE, "the replica of t is live after 2.0 s catching up: version 3 at t-0@7, 1,500 keys"),
        (
            Status(
                State.BLOCKED, ready=False, version=0, keys=0, read_position=Position({P: 5}),
                blocking_transaction="t-0@4",
            ),
            "the replica of t is blocked after 2.0 s catching up: read up to t-0@5; a transaction is open at t-0@4",
        ),
        (
            Status(State.STALLED, ready=False, version=0, keys=0, last_contact_s=10.2),
            "the replica of t is stalled after 2.0 s catching up; no answer from a broker for 10 s",
        ),
    ],
)  # fmt: skip
def test_a_change_of_state_is_described(status: Status, line: str) -> None:
    """The line names the new state, how long the one before lasted, the position, and the reason."""
    assert described("t", status, State.CATCHING_UP, 2.0) == line


def test_only_changes_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    """However often the state is looked at, each change of it gives one line."""

    class Source:
        state = State.LIVE

        def status(self) -> Status:
            return LIVE

    source = Source()
    with caplog.at_level(logging.INFO, logger="kafka_replica"):
        log = LifecycleLog("t", source)
        for state in (State.LIVE, State.LIVE, State.STALLED, State.STALLED, State.LIVE):
            source.state = state
            log.note()
    assert len(caplog.messages) == 3


def test_a_replica_logs_its_life(caplog: pytest.LogCaptureFixture) -> None:
    """A replica logs one line each for its start, for live and for stopped, and none for versions between them."""
    topic = FakeTopic()
    topic.put("a", b"1")
    with caplog.at_level(logging.INFO, logger="kafka_replica"):
        with topic.replica() as replica:
            replica.wait_ready(timeout_s=60)
            for number in range(20):
                topic.put("a", b"%d" % number)
            replica.wait_for(topic.end(), timeout_s=20)
        lines = [line for line in caplog.messages if line.startswith("the replica of")]
    states = [line.split(" after ")[0].removeprefix(f"the replica of {topic.name} ") for line in lines]
    assert states[0] == "starts and reads from the beginning"
    assert states[1:] == ["is live", "is stopped"], lines


def states_logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the states of the log's lines, without those of the start."""
    lines = [line for line in caplog.messages if line.startswith("the replica of") and " after " in line]
    return [line.split(" after ")[0].rpartition(" is ")[2] for line in lines]


@pytest.mark.thorough
def test_an_outage_is_logged_when_it_begins_and_when_it_ends(caplog: pytest.LogCaptureFixture) -> None:
    """A broker that stops answering gives one line, and one more when it answers again."""
    topic = FakeTopic()
    topic.put("a", b"1")
    with caplog.at_level(logging.INFO, logger="kafka_replica"), topic.replica(stalled_after_s=2.0) as replica:
        replica.wait_ready(timeout_s=60)
        with topic.outage():
            wait_until(lambda: "stalled" in states_logged(caplog))
        wait_until(lambda: states_logged(caplog)[-1] == "live")
    states = states_logged(caplog)  # a busy machine may be slow to answer itself, which is logged, too
    assert states[:1] + states[-3:] == ["live", "stalled", "live", "stopped"]
    assert all(state != after for state, after in pairwise(states)), states


@pytest.mark.thorough
def test_a_transaction_that_holds_back_the_barrier_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """With quiescence an open transaction gives one line, which names where it began, until it is decided."""
    topic = FakeTopic()
    topic.put("a", b"1")
    transaction = topic.begin()
    transaction.put("b", b"2")
    with caplog.at_level(logging.INFO, logger="kafka_replica"), topic.replica(boundaries="quiescence") as replica:
        wait_until(lambda: "blocked" in states_logged(caplog))
        [line] = [line for line in caplog.messages if " is blocked " in line]
        assert f"a transaction is open at {topic.name}-0@" in line
        transaction.commit()
        replica.wait_ready(timeout_s=60)
    assert states_logged(caplog) == ["blocked", "live", "stopped"]


def test_a_failure_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    """A replica that fails for good logs that state once."""
    topic = FakeTopic()
    topic.put("a", b"1")
    with caplog.at_level(logging.INFO, logger="kafka_replica"), topic.replica() as replica:
        replica.wait_ready(timeout_s=60)
        topic.fail(AuthorizationError("the permission to read was taken away"))
        wait_until(lambda: replica.state is State.FAILED)
        wait_until(lambda: "failed" in states_logged(caplog))
    assert states_logged(caplog)[:2] == ["live", "failed"]
    assert states_logged(caplog).count("failed") == 1
