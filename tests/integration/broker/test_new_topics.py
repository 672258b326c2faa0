"""A topic that was just created is known to whoever asks next."""

from __future__ import annotations

import uuid

import pytest

from kafka_replica.broker.admin.topics import Topics
from kafka_replica.embedded import LocalKafka

pytestmark = pytest.mark.broker


def test_a_new_topic_is_known_at_once(local_kafka: LocalKafka) -> None:
    """A look-up right after the creation finds the topic with its leaders: Kafka alone would fail one in thirty."""
    topics = Topics({"bootstrap.servers": local_kafka.bootstrap_servers})
    for name in (f"new-{uuid.uuid4().hex}" for _ in range(30)):
        assert topics.create(name, 2, {"cleanup.policy": "compact"}, 20)
        topics.look_up(name, 20).check_leaders()
