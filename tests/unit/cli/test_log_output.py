"""The log records of the library and its clients that commands show."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from kafka_replica.cli.log_output import _should_show
from kafka_replica.common.log_lines import JsonLines

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize(
    ("name", "level", "shown"),
    [
        ("kafka_replica", logging.WARNING, True),
        ("kafka_replica", logging.ERROR, True),
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
    assert _should_show(record)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("TXNERR [x#producer-3] [thrd:main]: Fatal transaction error: refused", False),
        ("FATAL [x#producer-3] [thrd:main]: Fatal error: refused", False),
        ("MAXFD [x] too many open files", True),
    ],
)
def test_lines_of_librdkafka_about_an_error_that_is_explained_are_not_shown(
    line: str, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message of a command explains a fatal error; other lines at level CRITICAL may be the only ones."""
    monkeypatch.delenv("KAFKA_REPLICA_DEBUG", raising=False)
    record = logging.LogRecord("kafka_replica.librdkafka", logging.CRITICAL, "", 0, line, None, None)
    assert _should_show(record) is shown
    monkeypatch.setenv("KAFKA_REPLICA_DEBUG", "1")
    assert _should_show(record)


def run(*words: str, **variables: str) -> tuple[int, list[dict[str, Any]]]:
    """Run a command as a process; return its exit status and what it wrote to stderr, line by line."""
    program = str(Path(sys.executable).with_name("kafka-replica"))
    done = subprocess.run(
        [program, *words], check=False, capture_output=True, text=True, timeout=120, env={**os.environ, **variables}
    )
    return done.returncode, [json.loads(line) for line in done.stderr.splitlines()]


def lines_of(program: str, **variables: str) -> list[str]:
    """Run a program as a process; return what it wrote to stderr, line by line."""
    program = f"import logging, sys\nfrom kafka_replica.cli.log_output import *\n{SHORT}\n{program}"
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, env={**os.environ, **variables}
    )
    return done.stderr.splitlines()


SHORT = """
from kafka_replica.errors import StoreError
set_up_logging()
log, error = logging.getLogger('kafka_replica'), StoreError('the disk is full')
def fail(): log.error('the replica of t failed: %s', error)
def mark(): print('MARK', file=sys.stderr)
"""
FAILED = "kafka-replica: ERROR: the replica of t failed: the disk is full"


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("fail(); mark(); end_command()", ["MARK", FAILED]),
        ("fail(); mark(); assert not end_command(error)", ["MARK"]),
        ("fail(); mark(); assert not end_command(StoreError('t: the disk is full; free some'))", ["MARK"]),
        ("fail(); mark(); assert not end_command(StoreError('other'))", ["MARK", FAILED]),
        ("fail(); mark(); assert not end_command(KeyboardInterrupt())", ["MARK", FAILED]),
        ("end_command(); fail(); mark()", [FAILED, "MARK"]),
        (
            "fail()\nwith warnings_held(): log.warning('w'); mark()\nmark(); fail(); end_command(error)",
            ["MARK", FAILED, "kafka-replica: WARNING: w", "MARK"],
        ),
        ("logging.getLogger('kafka_replica.history').error('a'); mark()", ["kafka-replica: ERROR: a", "MARK"]),
    ],
)
def test_a_short_command_holds_errors_until_it_is_known_whether_it_ends_with_them(
    program: str, expected: list[str]
) -> None:
    """No error is lost: it is a line of the log, or the last message of the command."""
    assert lines_of(program) == expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("begin_long_run(); fail(); mark(); assert end_command(error)", [f"TIME {FAILED}", "MARK"]),
        ("fail(); begin_long_run(); mark(); assert end_command(error)", [f"TIME {FAILED}", "MARK"]),
        ("begin_long_run(); fail(); assert not end_command(StoreError('other'))", [f"TIME {FAILED}"]),
        ("begin_long_run(); log_message('kafka-replica: x')", ["TIME kafka-replica: x"]),
        ("begin_long_run(); log.warning('x'); set_format('text')", ["TIME kafka-replica: WARNING: x"]),
    ],
)
def test_a_long_command_writes_errors_immediately_with_their_time(program: str, expected: list[str]) -> None:
    """The line appears while the process runs, and the same error at its end is not written again."""
    time = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} ")
    assert [time.sub("TIME ", line) for line in lines_of(program)] == expected


@pytest.mark.parametrize(("level", "expected"), [("info", ["i", "w", "e"]), ("warning", ["w", "e"]), ("error", ["e"])])
def test_the_level_selects_lines_of_the_library(level: str, expected: list[str]) -> None:
    """Lines of other packages below WARNING are never shown, as they are about details of a client."""
    program = f"""
begin_long_run(); set_level({level!r}); log.info('i'); logging.getLogger('aiokafka').info('x')
log.warning('w'); log.error('e')
"""
    assert [line.rpartition(": ")[2] for line in lines_of(program)] == expected


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["explain", "nonsense"], 2, "nonsense"),
        (["explain", "--no-such-option"], 2, "--no-such-option"),
        (["--log-format", "xml", "explain", "3"], 2, "'xml'"),
        (["--log-level", "all", "explain", "3"], 2, "'all'"),
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
