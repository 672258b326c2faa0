"""The local PostgreSQL of the demonstration, with connections to any database of it."""

from __future__ import annotations

import psycopg

from kafka_replica.demo import local_postgres
from kafka_replica.demo.local_postgres import find_binaries

__all__ = ["LocalPostgres", "find_binaries"]


class LocalPostgres(local_postgres.LocalPostgres):
    """A PostgreSQL server; ``url(database)`` creates a database of that name if it is missing."""

    def answers(self) -> bool:
        """Return whether the server accepts connections."""
        try:
            self.connect("postgres").close()
        except psycopg.OperationalError:
            return False
        return True

    def connect(self, database: str) -> psycopg.Connection[tuple[object, ...]]:
        """Return a plain connection."""
        return psycopg.connect(
            host="127.0.0.1", port=self.port, user="app", password=self.password, dbname=database, autocommit=True,
            connect_timeout=60,
        )  # fmt: skip

    def url(self, database: str) -> str:
        """Return a URL for SQLAlchemy."""
        with self.connect("postgres") as connection:
            known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone()
            if known is None:
                connection.execute(f'CREATE DATABASE "{database}"')
        return f"postgresql+psycopg://app:{self.password}@127.0.0.1:{self.port}/{database}"
