"""The log records of the library and its clients that commands show."""

from __future__ import annotations

import logging

import pytest

from kafka_replica.cli.log_output import _is_to_be_shown


@pytest.mark.parametrize(
    ("name", "level", "shown"),
    [
        ("kafka_replica", logging.WARNING, True),
        ("kafka_replica", logging.ERROR, False),
        ("kafka_replica.librdkafka", logging.ERROR, False),
        ("psycopg", logging.WARNING, False),
        ("psycopg.transaction", logging.WARNING, False),
        ("psycopg.transaction", logging.CRITICAL, True),
        ("psycopg_other", logging.WARNING, True),
    ],
)
def test_warnings_of_clients_are_not_shown(name: str, level: int, shown: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients warn about what also ends a command, in loggers below their own, too; KAFKA_REPLICA_DEBUG shows it."""
    monkeypatch.delenv("KAFKA_REPLICA_DEBUG", raising=False)
    record = logging.makeLogRecord({"name": name, "levelno": level})
    assert _is_to_be_shown(record) is shown
    monkeypatch.setenv("KAFKA_REPLICA_DEBUG", "1")
    assert _is_to_be_shown(record) or name == "kafka_replica"
