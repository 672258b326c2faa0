"""The log records of the library and its clients that commands show."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from kafka_replica.cli.log_output import _should_show
from kafka_replica.common.log_lines import JsonLines


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
    assert _should_show(record) is shown
    monkeypatch.setenv("KAFKA_REPLICA_DEBUG", "1")
    assert _should_show(record) or name == "kafka_replica"


def run(*words: str, **variables: str) -> tuple[int, list[dict[str, Any]]]:
    """Run a command as a process; return its exit status and what it wrote to stderr, line by line."""
    program = str(Path(sys.executable).with_name("kafka-replica"))
    done = subprocess.run(
        [program, *words], check=False, capture_output=True, text=True, timeout=120, env={**os.environ, **variables}
    )
    return done.returncode, [json.loads(line) for line in done.stderr.splitlines()]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["explain", "nonsense"], 2, "nonsense"),
        (["explain", "--no-such-option"], 2, "--no-such-option"),
        (["--log-format", "xml", "explain", "3"], 2, "'xml'"),
        (["explain", "3"], 0, None),
    ],
)
def test_errors_as_json(words: list[str], status: int, message: str | None) -> None:
    """The variable is enough; also an error on the command line is one line of JSON with an instant and a level."""
    found, lines = run(*words, KAFKA_REPLICA_LOG_FORMAT="json")
    assert found == status
    assert len(lines) == (0 if message is None else 1)
    for line in lines:
        assert list(line) == ["time", "level", "logger", "message"]
        assert (line["level"], line["logger"]) == ("ERROR", "kafka_replica.cli")
        assert message is not None
        assert message in line["message"]
        assert not line["message"].startswith("kafka-replica:")
        age = datetime.now().astimezone() - datetime.fromisoformat(line["time"])
        assert abs(age.total_seconds()) < 3600


@pytest.mark.thorough
def test_stack_traces_as_json() -> None:
    """With KAFKA_REPLICA_DEBUG the error has its stack trace, in the same line."""
    words = ["--log-format", "json", "get", "k", "-b", "127.0.0.1:1", "-t", "codes", "--timeout-s", "3"]
    status, lines = run(*words, KAFKA_REPLICA_DEBUG="1")
    assert (status, lines[-1]["level"]) == (1, "ERROR")
    assert "127.0.0.1:1" in lines[-1]["message"]
    assert lines[-1]["exception"].startswith("Traceback")


def test_warnings_of_the_library_as_json() -> None:
    """Warnings name their logger; messages of commands are lines of the same kind, until the format is text again."""
    program = (
        "import logging; from kafka_replica.cli.log_output import log_message, set_format, set_up_logging; "
        "set_up_logging(); set_format('json'); logging.getLogger('kafka_replica').warning('the broker %s', 'answers'); "
        "log_message('kafka-replica: done'); set_format('text'); log_message('kafka-replica: done')"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    *lines, last = done.stderr.splitlines()
    assert [(one["level"], one["logger"], one["message"]) for one in map(json.loads, lines)] == [
        ("WARNING", "kafka_replica", "the broker answers"),
        ("INFO", "kafka_replica.cli", "done"),
    ]
    assert last == "kafka-replica: done"


def test_any_record_is_one_line() -> None:
    """Line ends in messages do not begin a new line, and what is not JSON becomes text."""
    record = logging.makeLogRecord(
        {"msg": "a\nb %s", "args": (b"\xff",), "levelname": "INFO", "name": "x", "created": 0}
    )
    line = JsonLines().format(record)
    assert "\n" not in line
    expected = {"time": "1970-01-01T00:00:00.000Z", "level": "INFO", "logger": "x", "message": "a\nb b'\\xff'"}
    assert json.loads(line) == expected
