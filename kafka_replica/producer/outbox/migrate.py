"""Migration of the tables to this version, by the package's own migrations."""

from __future__ import annotations

from enum import Enum
from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

from kafka_replica.producer.errors import OutboxError, OutboxNotMigratedError
from kafka_replica.producer.outbox.database import HOW_TO_MIGRATE, reading, translate_errors

_SCRIPTS = Path(__file__).parent / "migrations"
_LOCK = 0x6B61666B61  # the same lock number for all processes that migrate a database
VERSION_TABLE = "kafka_producer_schema_version"
"""The table in which Alembic stores the version of our tables; it is separate from the user's own version table."""


class Migration(Enum):
    """The result of a migration."""

    CREATED = "created"
    """There were no tables."""
    UPDATED = "updated"
    """The tables had an earlier version."""
    UNCHANGED = "unchanged"
    """The tables had the wanted version already."""


@translate_errors("migrating the producer's tables")
def migrate(engine: Engine, revision: str = "head") -> Migration:
    """Create the tables, or migrate them to this version. Several instances may call this concurrently.

    If the tables already have this version, nothing is locked or written, and write permission is not needed.

    Raises:
        OutboxUnavailableError: the database cannot be reached.
        OutboxError: the database refused, or its tables are of a newer version.
    """
    with reading(engine) as connection:
        before = _version(connection)
        if revision == "head" and before == _latest():
            return Migration.UNCHANGED
    with engine.begin() as connection:  # on SQLite this waits for other writers
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        config = _config()
        config.attributes["connection"] = connection
        config.attributes["version_table"] = VERSION_TABLE
        command.upgrade(config, revision)
    return Migration.CREATED if before is None else Migration.UPDATED


@translate_errors("looking for the producer's tables")
def check_tables(engine: Engine) -> None:
    """Check, without writing, that the tables have this version.

    Raises:
        OutboxNotMigratedError: the tables are missing, or of an earlier version.
        OutboxError: the tables are of a newer version, or the database refused.
    """
    with reading(engine) as connection:
        version = _version(connection)
    if version != _latest():
        state = (
            "has no tables of the producer" if version is None else f"has the producer's tables of version {version}"
        )
        raise OutboxNotMigratedError(
            f"the database {state}, and this program needs version {_latest()}; {HOW_TO_MIGRATE}"
        )


def _version(connection: Connection) -> str | None:
    context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
    version = context.get_current_revision()
    if version is not None and version not in _all_versions():
        raise OutboxError(
            f"the database has the producer's tables of version {version}, which is newer than this program "
            f"({_latest()}); update kafka-replica"
        )
    return version


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    return config


@cache
def _all_versions() -> tuple[str, ...]:
    """Return all versions, latest first."""
    return tuple(script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions())


def _latest() -> str:
    return _all_versions()[0]
