"""Commands whose reader ends, as in ``kafka-replica list | head``: exit status 141, and nothing on stderr."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import FileIO, TextIOWrapper
from pathlib import Path

import pytest

from kafka_replica.cli.commands import source
from kafka_replica.cli.console import OutputConsole
from kafka_replica.cli.notices import StoppingPrinter
from kafka_replica.cli.output import OutputClosedError
from kafka_replica.errors import BrokerUnavailableError, ConfigurationError, TopicNotFoundError
from kafka_replica.producer.notices.notices import Takeover
from kafka_replica.producer.postgres import TableSource
from support.cli.command_tools import environment  # noqa: F401 - a fixture
from support.cli.data_runs import Run
from support.closed_port import closed_port

pytestmark = pytest.mark.long

CLOSED = 141
SOURCE = """
    [source]
    database = "postgresql://app@127.0.0.1:{port}/payments"
    table = "item"
    topic = "items"
    key_column = "k"
    [kafka]
    "bootstrap.servers" = "127.0.0.1:{port}"
"""
PRODUCER = """
    [producer]
    topic = "items"
    database = "{database}"
    [kafka]
    "bootstrap.servers" = "127.0.0.1:{port}"
    log_level = 0
"""


def closed_pipe() -> int:
    """Return the writing end of a pipe without a reader."""
    reading, writing = os.pipe()
    os.close(reading)
    return writing


@contextmanager
def closed_stdout() -> Iterator[None]:
    """Replace the standard output by a pipe without a reader."""
    with TextIOWrapper(FileIO(closed_pipe(), "w"), write_through=True) as text, redirect_stdout(text):
        yield


def run_unread(*words: str) -> tuple[int, str]:
    """Run a command in a process whose output has no reader; return its exit status and its stderr."""
    pipe = closed_pipe()
    try:
        program = str(Path(sys.executable).with_name("kafka-replica"))
        done = subprocess.run(
            [program, *words], check=False, stdout=pipe, stderr=subprocess.PIPE, text=True, timeout=120
        )
    finally:
        os.close(pipe)
    return done.returncode, done.stderr


@pytest.mark.parametrize("line", ["--help", "--version", "broker status", "broker stop --help"])
def test_output_without_a_reader_ends_a_command_with_141(line: str) -> None:
    """Help, the version and the status of a broker have the same exit status as other output without a reader."""
    assert run_unread(*line.split()) == (CLOSED, "")


def test_notices_without_a_reader_end_a_source(tmp_path: Path) -> None:
    """A source whose notices are not read ends, though its database is still awaited."""
    file = tmp_path / "source.toml"
    file.write_text(SOURCE.format(port=closed_port()))
    status, errors = run_unread("source", "run", "--config", str(file))
    assert (status, errors.count("\n")) == (CLOSED, 1), errors
    assert "WARNING: waiting for the database, 1 attempt" in errors


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_notices_without_a_reader_end_a_producer(kind: str, tmp_path: Path) -> None:
    """A producer whose notices are not read ends, while it runs and while it waits for its database at the start."""
    port, file = closed_port(), tmp_path / "producer.toml"
    found = f"sqlite:///{tmp_path / 'o.db'}" if kind == "sqlite" else f"postgresql+psycopg://app@127.0.0.1:{port}/o"
    file.write_text(PRODUCER.format(database=found, port=port))
    status, errors = run_unread("producer", "run", "--config", str(file))
    assert status == CLOSED, errors
    assert "Traceback" not in errors


def test_a_console_without_a_reader_raises_an_error() -> None:
    """Tables and coloured lines without a reader raise the error of plain lines, and do not end the process."""
    with closed_stdout(), pytest.raises(OutputClosedError):
        OutputConsole().print("text")


def test_a_printer_without_a_reader_stops_the_sender_once() -> None:
    """The sender of notices is stopped at the first one that is not read, and sees no exception."""
    stops: list[int] = []
    printer = StoppingPrinter(as_json=True, stop=lambda: stops.append(1))
    printer.raise_if_closed()
    with closed_stdout():
        printer(Takeover())
        printer(Takeover())
    assert stops == [1]
    with pytest.raises(OutputClosedError):
        printer.raise_if_closed()


class Outage:
    """An outage of Kafka, which ends before the third attempt to create a topic."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.attempts = 0

    def __call__(self, _config: object) -> Outage:
        """Return a client."""
        return self

    def create(self, *_arguments: object) -> bool:
        """Create the topic, or fail."""
        self.attempts += 1
        if self.attempts < 3:
            raise self.error
        return True


@pytest.mark.parametrize(
    ("error", "attempts", "status"), [(BrokerUnavailableError("no broker"), 3, 2), (TopicNotFoundError("none"), 1, 1)]
)
def test_a_topic_is_created_when_an_outage_of_kafka_ends(
    error: Exception, attempts: int, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """A source that shall create its topic waits for Kafka, and warns with the reason once; other failures end it."""

    def refuse(_source: object) -> None:
        raise ConfigurationError("the source ran")

    outage = Outage(error)
    monkeypatch.setattr(source, "Topics", outage)
    monkeypatch.setattr(source, "retry_pause_s", lambda _attempt: 0)
    monkeypatch.setattr(TableSource, "run", refuse)
    file = tmp_path / "source.toml"
    file.write_text(SOURCE.format(port=closed_port()))
    done = run("source", "run", "--config", file, "--create-topic")
    assert (outage.attempts, done.returncode) == (attempts, status), done.stderr
    assert done.stderr.count("WARNING: no broker; trying again") == attempts - 1
    assert done.stdout == ""
