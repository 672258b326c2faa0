"""Tools of the tests of table sources: a table, its settings, what a topic holds, processes to be killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psycopg

from kafka_replica import Partition
from kafka_replica.producer.postgres import TableSourceSettings
from support.producer.producer_tools import records_of

PROGRAM = Path(__file__).parent / "table_process.py"
TABLE = """
    CREATE TABLE item (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        item_key text NOT NULL UNIQUE,
        version integer NOT NULL,
        is_active boolean NOT NULL DEFAULT true,
        updated_at timestamptz NOT NULL DEFAULT now()
    )
"""


def table_settings(bootstrap: str, topic: str, database: str, **more: Any) -> TableSourceSettings:
    """Return settings for tests, which poll often."""
    given: dict[str, Any] = {
        "table": "item", "key_column": "item_key", "timestamp_column": "updated_at", "incrementing_column": "id",
        "active_column": "is_active", "poll_s": 0.02, "timeout_s": 20.0, **more,
    }  # fmt: skip
    kafka = {"bootstrap.servers": bootstrap, "log_level": 0, **given.pop("kafka", {})}
    return TableSourceSettings(database=database, topic=topic, kafka=kafka, **given)


def open_connection(database: str) -> psycopg.Connection[Any]:
    """Return a connection in autocommit mode to a database given as a URL for SQLAlchemy."""
    return psycopg.connect(database.replace("+psycopg", ""), autocommit=True)


class SourceProcess:
    """A source in a separate process, which can be killed and started again.

    Args:
        settings: the settings of the source.
        die_at: the step at which it kills itself.
    """

    def __init__(self, settings: TableSourceSettings, die_at: str = "") -> None:
        self.settings = settings
        arguments = {**asdict(settings), "kafka": dict(settings.kafka), "database": str(settings.database)}
        self._command = [sys.executable, str(PROGRAM), json.dumps(arguments)]
        self._environment = {**os.environ, "DIE_AT": die_at}
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> subprocess.Popen[str]:
        """Start the process."""
        self.process = subprocess.Popen(
            self._command, env=self._environment, stdout=subprocess.DEVNULL, text=True
        )  # fmt: skip
        return self.process

    def kill(self) -> None:
        """Kill the process with SIGKILL, if it is still alive."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@contextmanager
def source_process(settings: TableSourceSettings, die_at: str = "") -> Iterator[subprocess.Popen[str]]:
    """A source in a separate process; killed at the end, if it is still alive."""
    source = SourceProcess(settings, die_at)
    try:
        yield source.start()
    finally:
        source.kill()


def committed_values(bootstrap: str, topic: str) -> list[tuple[str, Any]]:
    """Return key and JSON of every committed record in the order of the log; None for a tombstone."""
    found = records_of(bootstrap, Partition(topic, 0))
    return [(each.key.decode(), None if each.value is None else json.loads(each.value)) for each in found]


def last_values(records: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the last value of each key, without deleted ones."""
    return {key: value for key, value in dict(records).items() if value is not None}


def table_rows(connection: psycopg.Connection[Any]) -> dict[str, int]:
    """Return the version of each active row by its key."""
    return dict(connection.execute("SELECT item_key, version FROM item WHERE is_active").fetchall())
