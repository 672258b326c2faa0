"""Real databases for the tests of the producer."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from kafka_replica.producer.outbox import Outbox, migrate, open_database
from support.producer.postgres_tools import LocalPostgres, running_postgres


@pytest.fixture
def own_postgres() -> Iterator[LocalPostgres]:
    """A server for one test, which may kill it."""
    with running_postgres() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A fresh database, of each kind in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'outbox.db'}"
    server: LocalPostgres = request.getfixturevalue("postgres")
    return server.url(f"test_{uuid.uuid4().hex[:12]}")


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """An engine on it, with the producer's tables."""
    made = open_database(database_url)
    migrate(made)
    yield made
    made.dispose()


@pytest.fixture
def outbox(engine: Engine) -> Outbox:
    """An outbox in it, created."""
    made = Outbox("structures")
    with engine.begin() as connection:
        made.create(connection, topic="FOO", media_type="application/vnd.fusion.json")
    return made
