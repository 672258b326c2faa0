"""The table of the demonstration in PostgreSQL: terminals with their acquirers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from kafka_replica.producer.outbox import open_database
from kafka_replica.producer.outbox.database import outbox_errors

_SCHEMA = """
    CREATE SCHEMA {schema};
    CREATE TABLE {schema}.terminal_acquirer (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        terminal_id text NOT NULL CONSTRAINT one_row_for_each_terminal UNIQUE,
        acquirer_id text NOT NULL CONSTRAINT known_form_of_acquirer CHECK (acquirer_id ~ '^ACQ-[0-9]+$'),
        is_active boolean NOT NULL DEFAULT true,
        updated_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE FUNCTION {schema}.set_updated_at() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN NEW.updated_at := clock_timestamp(); RETURN NEW; END $$;
    CREATE TRIGGER set_updated_at BEFORE UPDATE ON {schema}.terminal_acquirer
        FOR EACH ROW EXECUTE FUNCTION {schema}.set_updated_at();
    CREATE FUNCTION {schema}.notify_source() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN NOTIFY kafka_replica_source; RETURN NULL; END $$;
    CREATE TRIGGER notify_source AFTER INSERT OR UPDATE OR DELETE ON {schema}.terminal_acquirer
        FOR EACH STATEMENT EXECUTE FUNCTION {schema}.notify_source();
    CREATE FUNCTION {schema}.move_terminals(first integer, count integer, acquirer text) RETURNS void LANGUAGE sql AS
        $$ UPDATE {schema}.terminal_acquirer SET acquirer_id = acquirer WHERE id >= first AND id < first + count $$;
    CREATE FUNCTION {schema}.get_acquirer_id(terminal text) RETURNS text LANGUAGE sql STABLE AS
        $$ SELECT acquirer_id FROM {schema}.terminal_acquirer WHERE terminal_id = terminal AND is_active $$
"""
_FILL = """
    INSERT INTO {schema}.terminal_acquirer (terminal_id, acquirer_id)
    SELECT 'T' || lpad(n::text, 6, '0'), 'ACQ-' || mod(n, 40) FROM generate_series(1, {rows}) n
"""


def terminal_id(number: int) -> str:
    """Return the id of a terminal from its number, which is counted from 1."""
    return f"T{number:06d}"


class TerminalTable:
    """The table ``terminal_acquirer``, in a schema of its own.

    Args:
        url: a connection URI of PostgreSQL, ``postgresql://`` or ``postgres://``.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._schema = f"kafka_replica_demo_{os.urandom(4).hex()}"
        self._engine = open_database(re.sub("^postgres(ql)?://", "postgresql+psycopg://", url))

    @property
    def name(self) -> str:
        """The name of the table."""
        return f"{self._schema}.terminal_acquirer"

    @contextmanager
    def created(self, rows: int, *, drop: bool) -> Iterator[None]:
        """Create and fill the table; with ``drop``, drop its schema at the end of the block.

        Raises:
            OutboxError: the database cannot be reached, or refused a statement.
        """
        self._run(_SCHEMA.format(schema=self._schema))
        try:
            self._run(_FILL.format(schema=self._schema, rows=rows))
            yield
        finally:
            if drop:
                self._run(f"DROP SCHEMA {self._schema} CASCADE")
            self._engine.dispose()

    def change_acquirer(self, first: int, count: int, acquirer: str) -> None:
        """Change the acquirer of ``count`` terminals, beginning with number ``first``."""
        self._run(f"SELECT {self._schema}.move_terminals({first}, {count}, '{acquirer}')")

    def close_terminal(self, number: int) -> None:
        """Make a terminal inactive."""
        self._run(f"UPDATE {self.name} SET is_active = false WHERE id = {number}")  # noqa: S608 - our own values

    @contextmanager
    def late_commit(self, number: int, acquirer: str) -> Iterator[None]:
        """Change a terminal in a transaction that is committed at the end of the block."""
        with outbox_errors("writing to the table"), self._engine.begin() as connection:
            connection.exec_driver_sql(f"SELECT {self._schema}.move_terminals({number}, 1, '{acquirer}')")
            yield

    def acquirer_of(self, terminal: str) -> str | None:
        """Look up the acquirer of a terminal in the database."""
        with outbox_errors("looking up a terminal"), self._engine.connect() as connection:
            found = connection.exec_driver_sql(f"SELECT {self._schema}.get_acquirer_id('{terminal}')").scalar_one()
        return None if found is None else str(found)

    def active_terminals(self) -> dict[str, str]:
        """Return the acquirer of each active terminal."""
        query = f"SELECT terminal_id, acquirer_id FROM {self.name} WHERE is_active"  # noqa: S608 - our own values
        with outbox_errors("reading the table"), self._engine.connect() as connection:
            return {str(terminal): str(acquirer) for terminal, acquirer in connection.exec_driver_sql(query)}

    def _run(self, statements: str) -> None:
        with outbox_errors("preparing the table of the demonstration"), self._engine.begin() as connection:
            connection.exec_driver_sql(statements)
