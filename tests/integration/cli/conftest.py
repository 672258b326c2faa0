"""Fixtures of the commands on a broker."""

from __future__ import annotations

import pytest

from kafka_replica.embedded import LocalKafka
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.cli.broker_commands import Command


@pytest.fixture
def command(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> Command:
    """The commands on a fresh topic."""
    return Command(local_kafka.bootstrap_servers, kafka_topic("cli"))
