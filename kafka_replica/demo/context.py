"""The context of the demonstration: its server, table, topic, source, and the results for the summary."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from kafka_replica.broker.admin.topics import Topics
from kafka_replica.broker.topic_settings import STRUCTURE_TOPIC
from kafka_replica.demo.local_postgres import LocalPostgres, find_binaries
from kafka_replica.demo.output import DemoError, DemoOutput
from kafka_replica.demo.terminals import TerminalTable
from kafka_replica.embedded import ExistingKafka, LocalKafka
from kafka_replica.producer.notices.notices import Acknowledgement, DatabaseWait, Notice
from kafka_replica.producer.postgres import TableSource, TableSourceSettings

_NO_POSTGRES = (
    "there is no PostgreSQL on this machine: install it (on Debian and Ubuntu: apt install postgresql), or name one "
    'that runs: make demo-directory DEMO_ARGS="--database postgresql://user:password@host/database"'
)


class Terminal(msgspec.Struct, rename="camel"):
    """A row of the table, with the fields that the service needs."""

    terminal_id: str
    acquirer_id: str


class Notices:
    """The latest notices of the source."""

    def __init__(self) -> None:
        self.records = 0
        self.outage = ""

    def __call__(self, notice: Notice) -> None:
        """Handle a notice."""
        if isinstance(notice, Acknowledgement):
            self.records += notice.messages
        elif isinstance(notice, DatabaseWait):
            self.outage = notice.reason


class DemoContext:
    """The objects that all parts of the demonstration use.

    Args:
        output: the output.
        table: the table in PostgreSQL.
        server: the PostgreSQL server, if the demonstration has started it; None for an existing server.
        settings: the settings of the source.
    """

    def __init__(
        self, output: DemoOutput, table: TerminalTable, server: LocalPostgres | None, settings: TableSourceSettings
    ) -> None:
        self.output = output
        self.table = table
        self.server = server
        self.settings = settings
        self.notices = Notices()
        self.source = TableSource(settings, observers=[self.notices])
        self.results: list[tuple[str, str]] = []

    def close(self) -> None:
        """Stop the source."""
        self.source.close()

    def record_result(self, title: str, result: str) -> None:
        """Print a result, and keep it for the summary."""
        self.results.append((title, result))
        self.output.print(f"{title}: [bold]{result}[/]")


@contextmanager
def own_server() -> Iterator[LocalPostgres]:
    """Start a PostgreSQL server, which is removed at the end of the block.

    Raises:
        DemoError: PostgreSQL is not installed, or cannot be started.
    """
    binaries = find_binaries()
    if binaries is None:
        raise DemoError(_NO_POSTGRES)
    with LocalPostgres(binaries) as server:
        yield server


@contextmanager
def terminals_topic(kafka: LocalKafka | ExistingKafka, config: dict[str, Any]) -> Iterator[str]:
    """Create a topic; delete it after the block if the demonstration uses an existing Kafka, which continues to run."""
    topic = f"demo.terminals.{os.urandom(4).hex()}"
    Topics(config).create(topic, 1, STRUCTURE_TOPIC, 20)
    try:
        yield topic
    finally:
        if isinstance(kafka, ExistingKafka):
            for each in (topic, f"{topic}.progress"):
                kafka.delete_topic(each)
