"""The report of a temporary problem: each kind once, and its end."""

from __future__ import annotations

import pytest

from kafka_replica.errors import BrokerUnavailableError, TopicNotFoundError
from kafka_replica.publication.health_tracker import HealthTracker
from kafka_replica.replication.problem_report import ProblemReport
from kafka_replica.testing import FakeTopic
from support.waiting import wait_until


def test_a_second_problem_is_not_hidden_by_the_first_one(caplog: pytest.LogCaptureFixture) -> None:
    """For example, the broker comes back without the topic; two that alternate do not fill the log."""
    report = ProblemReport(_health(), "the broker", "codes")
    away, gone = BrokerUnavailableError("no broker"), TopicNotFoundError("no topic")
    for error in (away, away, gone, away, gone):
        report.note_error(error)
    report.well()
    report.well()
    report.note_error(away)
    assert [record.getMessage() for record in caplog.records] == [
        "no broker; retrying", "no topic; retrying", "the broker answers again; the replica of codes continues",
        "no broker; retrying",
    ]  # fmt: skip


def _health() -> HealthTracker:
    with FakeTopic().replica() as replica:
        return replica._publisher.health


def test_the_end_of_an_outage_is_logged_although_the_topic_was_created_again(caplog: pytest.LogCaptureFixture) -> None:
    """Another reader finds the broker well again, and knows what was logged before."""
    topic = FakeTopic("codes")
    topic.put("a", b"1")
    with topic.replica() as replica:
        replica.wait_ready(60)
        with topic.kafka.outage():
            wait_until(lambda: "does not answer" in caplog.text, "the outage is logged")
            topic.recreate()
            topic.put("b", b"2")
        wait_until(lambda: "b" in replica.snapshot(), "the replica follows the new topic")
        wait_until(lambda: "the broker answers again; the replica of codes continues" in caplog.text, "its end, too")
