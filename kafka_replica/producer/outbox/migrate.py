"""Brings the tables to this version, by the migrations that come with the package."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, text

from kafka_replica.producer.outbox.database import translated

_SCRIPTS = Path(__file__).parent / "migrations"
_LOCK = 0x6B61666B61  # one number for all who migrate the same database
VERSION_TABLE = "kafka_producer_schema_version"
"""Where Alembic keeps which version the tables have; one of its own, beside the user's."""


@translated("bringing the producer's tables to this version")
def migrate(engine: Engine, revision: str = "head") -> None:
    """Makes the tables, or brings them to this version. Any number of instances may do it at once.

    Raises:
        OutboxUnavailableError: the database cannot be reached.
        OutboxError: it refused.
    """
    with engine.begin() as connection:  # on SQLite this waits for other writers
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        config = Config()
        config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
        config.attributes["connection"] = connection
        config.attributes["version_table"] = VERSION_TABLE
        command.upgrade(config, revision)
