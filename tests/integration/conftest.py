"""A real PostgreSQL for the tests of several packages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.producer.postgres_tools import LocalPostgres, running_postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[LocalPostgres]:
    """A real PostgreSQL server for the whole session; a test creates its own databases with ``url(name)``."""
    with running_postgres() as server:
        yield server
