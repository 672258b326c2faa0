"""A database and Kafka Connect, shared by the tests of directories that follow a table."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from chaos.postgres import LocalPostgres, find_binaries
from kafka_replica.embedded import LocalKafka
from support.directories.kafka_connect import KafkaConnect


@pytest.fixture(scope="session")
def database() -> Iterator[LocalPostgres]:
    """A PostgreSQL with logical decoding."""
    binaries = find_binaries()
    if binaries is None:
        pytest.skip("PostgreSQL is not installed (Debian's package postgresql)")
    server = LocalPostgres(binaries)
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def connect(local_kafka: LocalKafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaConnect]:
    """A worker of Kafka Connect."""
    name = f"connect-{os.urandom(4).hex()}"
    with KafkaConnect(local_kafka.bootstrap_servers, tmp_path_factory.mktemp("connect"), name) as worker:
        yield worker
