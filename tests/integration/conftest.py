"""A real Kafka and a real PostgreSQL for the tests of several packages; both end with these tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_replica.testing.pytest_plugin import local_kafka
from support.producer.postgres_tools import LocalPostgres, running_postgres

__all__ = ["local_kafka", "postgres"]


@pytest.fixture(scope="session")
def postgres() -> Iterator[LocalPostgres]:
    """A real PostgreSQL server for all tests; a test creates its own databases with ``url(name)``."""
    with running_postgres() as server:
        yield server
