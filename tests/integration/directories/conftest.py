"""Kafka Connect, shared by the tests of directories that follow a table."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from kafka_replica.embedded import LocalKafka
from support.directories.kafka_connect import KafkaConnect


@pytest.fixture(scope="session")
def connect(local_kafka: LocalKafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaConnect]:
    """A worker of Kafka Connect."""
    name = f"connect-{os.urandom(4).hex()}"
    with KafkaConnect(local_kafka.bootstrap_servers, tmp_path_factory.mktemp("connect"), name) as worker:
        yield worker
