"""Text output: whoever can write to the topic controls neither the terminal nor the lines of output."""

from __future__ import annotations

import io
import logging

import pytest
from rich.table import Table

from kafka_replica.cli.commands import watch
from kafka_replica.cli.console import OutputConsole
from kafka_replica.cli.log_output import log_message, set_up_logging
from kafka_replica.cli.output import print_json_line, print_line
from kafka_replica.listeners import Change
from kafka_replica.records import key_text
from kafka_replica.testing import FakeTopic
from support.cli.data_runs import without_client_lines

HOSTILE = "A\x1b]0;owned\x07\nFORGED\r\x7f\x9b2J\u202eB\u2028C"
SHOWN = r"A\x1b]0;owned\x07\nFORGED\r\x7f\x9b2J\u202eB\u2028C"


def test_a_line_of_text_has_no_control_characters(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """A key is one line, and what would control the terminal is escaped; other characters stay."""
    print_line(key_text(HOSTILE.encode()))
    print_line("SDMX:CL_FREQ(2.1)\tÄ 数 \\")
    assert capfdbinary.readouterr().out.decode() == f"{SHOWN}\nSDMX:CL_FREQ(2.1)\tÄ 数 \\\n"


def test_lines_of_json_have_escapes_of_json(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Programs read the keys unchanged."""
    print_json_line({"key": "\x7f\n\u202e"})
    assert capfdbinary.readouterr().out == b'{"key":"\\u007f\\n\\u202e"}\n'


def test_changed_keys_are_one_line_each(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Each version of ``watch`` is written at once, with a line for each key."""
    topic = FakeTopic()
    with topic.replica() as replica:
        replica.wait_ready(timeout_s=60)
        before = replica.snapshot()
        after = replica.wait_for(topic.put(HOSTILE, b"1"), timeout_s=60)
    change = Change(after, before, changed=[HOSTILE.encode()], deleted=[b"old"])
    for line in watch._change_lines(change):
        print_line(line)
    lines = capfdbinary.readouterr().out.decode().split("\n")
    assert lines[1:] == [f"  + {SHOWN}", "  - old", ""]


def test_messages_and_warnings_forge_no_line(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message may have several lines, such as the end of a log; those after the first are indented."""
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    set_up_logging()
    log_message(f"kafka-replica: key '{HOSTILE}'\n  an indented line")
    logging.getLogger("kafka_replica").warning("key '%s' was left out", HOSTILE)
    shown = SHOWN.replace(r"\n", "\n  ")
    assert without_client_lines(capfdbinary.readouterr().err.decode()) == (
        f"kafka-replica: key '{shown}'\n  an indented line\nkafka-replica: WARNING: key '{shown}' was left out\n"
    )


def test_a_table_has_no_control_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts in colour and in tables are escaped, too, and keep their styles."""
    output = io.StringIO()
    monkeypatch.setattr("sys.stdout", output)
    console = OutputConsole()
    console.print("[red]a\x1b[2J[/]")
    table = Table("title")
    table.add_row("cell\x1b[2J")
    console.print(table)
    assert "\x1b" not in output.getvalue()
    assert output.getvalue().startswith("a\\x1b[2J\n")
    assert "cell\\x1b[2J" in output.getvalue()
