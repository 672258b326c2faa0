"""A reader without permission to read topic settings returns by Kafka's default, and reports this."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import (
    AclOperation,
)

from kafka_replica.embedded import LocalKafka
from support.broker.access_rights import ANONYMOUS, grant, on_topic
from support.broker.durable_tools import assert_same_as_topic, decided, durable
from support.broker.kafka_tools import producer, write

pytestmark = pytest.mark.broker


@pytest.mark.parametrize("boundaries", ["markers", "quiescence"])
@pytest.mark.parametrize("given", [{}, {"tombstones_kept_s": 3600.0}])
def test_without_the_right_to_ask_for_settings(
    own_kafka: LocalKafka,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    boundaries: str,
    given: dict[str, Any],
) -> None:
    """Read (and Write, for this test) is sufficient. With a retention set by the user, no query is needed."""
    topic = f"settings-are-secret-{boundaries[0]}-{len(given)}"
    own_kafka.create_topic(topic, 1, {"cleanup.policy": "compact", "delete.retention.ms": "1"})
    grant(own_kafka.bootstrap_servers, on_topic(topic, AclOperation.READ, AclOperation.WRITE), ANONYMOUS)
    writer = producer(own_kafka.bootstrap_servers, topic)
    write(writer, topic, {"k": "1"})
    with durable(own_kafka, topic, tmp_path, boundaries=boundaries, **given) as replica:
        decided(replica, own_kafka, topic)
    write(writer, topic, {"k": "2"})
    caplog.clear()
    with caplog.at_level(logging.WARNING, "kafka_replica"), durable(
        own_kafka, topic, tmp_path, boundaries=boundaries, **given
    ) as replica:  # fmt: skip
        assert_same_as_topic(decided(replica, own_kafka, topic), own_kafka, topic)
        assert replica.status().counts.rebuilds == 0
    asked = [message for message in caplog.messages if "DescribeConfigs" in message]
    assert len(asked) == (0 if given else 1)
