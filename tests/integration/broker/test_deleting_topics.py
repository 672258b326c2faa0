"""A replica reports topics of which Kafka deletes old records, as keys may be missing."""

from __future__ import annotations

import logging

import pytest

from kafka_replica import Replica
from kafka_replica.embedded import LocalKafka
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.broker.durable_tools import config
from support.waiting import wait_until

pytestmark = pytest.mark.broker


@pytest.mark.parametrize("boundaries", ["markers", "quiescence"])
def test_topics_that_lose_records_are_reported(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, caplog: pytest.LogCaptureFixture, boundaries: str
) -> None:
    """Topics with a limited retention are reported, in the status and once in the log; complete topics are not."""
    events = kafka_topic("events", config={"cleanup.policy": "delete"})
    both = kafka_topic(
        "both", config={"cleanup.policy": "compact,delete", "retention.ms": "-1", "retention.bytes": "9"}
    )
    complete = [
        kafka_topic("compacted"),
        kafka_topic("unlimited", config={"cleanup.policy": "delete", "retention.ms": "-1"}),
    ]
    with (
        caplog.at_level(logging.WARNING, "kafka_replica"),
        Replica(config(local_kafka), topics=[events, *complete, both], boundaries=boundaries) as replica,  # type: ignore[arg-type]
    ):
        wait_until(lambda: replica.status().deleting_topics)
        assert sorted(replica.status().deleting_topics) == sorted([events, both])
        assert sorted(replica.status().as_json()["deleting_topics"]) == sorted([events, both])
    (warning,) = (message for message in caplog.messages if "deletes old records" in message)
    assert events in warning
    assert both in warning
    assert all(topic not in warning for topic in complete)
