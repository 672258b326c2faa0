"""README's commands as a newcomer types them: each line as it is written, one after the other, on a real broker."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.cli.command_tools import environment  # noqa: F401 - a fixture
from support.doc_blocks import programs

pytestmark = pytest.mark.broker


WRONG_PLURAL = re.compile(
    r"(?<![\d.,@-])1 (keys|records|structures|checks|faults|rows|files|offsets|partitions|brokers)\b"
)
REJECTED = 3  # two rows of the sample data are wrong


def readme_lines() -> list[str]:
    """Return the lines of README's commands."""
    [commands] = programs("README.md", language="sh")
    return commands.splitlines()


def shell(line: str) -> subprocess.CompletedProcess[str]:
    """Run a line in the folder and with the variables of the newcomer."""
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=180, check=False)


@pytest.fixture
def newcomer(environment: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:  # noqa: F811
    """An empty folder, the commands on the path, and no earlier broker; stops the broker that was started."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    yield
    shell("kafka-replica broker stop")
    assert not [*environment.glob("*.json")]


@pytest.mark.long
@pytest.mark.runs("README.md", language="sh")
@pytest.mark.usefixtures("newcomer")
def test_the_commands_of_the_readme_run_in_sequence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command does what its comment says, finds the broker by itself, and repeats no message."""
    outputs: dict[str, str] = {}
    monkeypatch.setenv("KAFKA_REPLICA_PORT", "0")  # 8080 may be taken
    for line in readme_lines():
        command, _, _ = line.partition("#")
        if command.startswith("export "):
            name, _, value = command.removeprefix("export ").strip().partition("=")
            monkeypatch.setenv(name, value)
            continue
        word = command.split()[1]
        if word in {"watch", "serve"}:
            outputs[word] = _first_line_of(command)
            continue
        done = shell(line)
        assert done.returncode == (REJECTED if word in {"validate", "map"} else 0), (line, done.stdout, done.stderr)
        outputs[word] = done.stdout
        for output in (done.stdout, done.stderr):
            assert not WRONG_PLURAL.search(output), output
            assert len(set(output.splitlines())) == len(output.splitlines()) or word == "get", output
    address = re.match(r"Kafka is running at (127\.0\.0\.1:\d+) ", outputs["broker"])
    assert address is not None
    assert shell("kafka-replica dump").stderr == f"kafka-replica: using the broker 'default' at {address[1]}\n"
    assert "18 structures published" in outputs["publish"]
    assert "Codelist=SDMX:CL_FREQ(2.1)" in outputs["list"]
    assert outputs["get"].startswith("<")
    assert outputs["dump"].rstrip().endswith(": 18 keys")
    assert "live" in outputs["status"]
    assert ": 0 faults, " in outputs["doctor"]
    assert "27 rows, 25 good, 2 rejected" in outputs["validate"]
    assert "27 rows, 26 good, 1 rejected" in outputs["map"]
    assert outputs["watch"].rstrip().endswith(": 18 keys")
    assert outputs["serve"].startswith("serving sdmx.structures at http://127.0.0.1:")
    assert json.loads((tmp_path / "checked" / "report.json").read_text())["rows"] == 27
    assert {path.name for path in tmp_path.iterdir()} == {"samples", "checked", "mapped", "state"}


@pytest.mark.long
@pytest.mark.usefixtures("newcomer")
def test_messages_name_topic_address_and_advice_once(tmp_path: Path) -> None:
    """A single structure is in the singular; topic, address and advice are named once; similar topics are suggested."""
    assert shell("kafka-replica broker start").returncode == 0
    assert shell("kafka-replica broker status").returncode == 0
    (tmp_path / "one.json").write_text(json.dumps({
        "meta": {"schema": "https://json.sdmx.org/2.0.0/sdmx-json-structure-schema.json", "id": "M"},
        "data": {"codelists": [{"id": "CL", "agencyID": "A", "version": "1.0", "name": "One"}]},
    }))  # fmt: skip
    published = shell("kafka-replica publish one.json --create-topic -t sdmx.structures")
    assert published.stdout.startswith("1 structure published, 0 deleted, "), published.stderr
    assert shell("kafka-replica dump -t sdmx.structures").stdout.rstrip().endswith(": 1 key")
    assert "1 record\n" in shell("kafka-replica status -t sdmx.structures").stdout
    for command in ("dump", "get x", "publish one.json", "status"):
        done = shell(f"kafka-replica {command} -t sdmx.structure")
        assert done.returncode == 1
        *_, message = done.stderr.splitlines()
        assert len(done.stderr.splitlines()) == 2  # the first names the broker
        assert message.count("sdmx.structure") == 2, message
        remedy = "; create it with --create-topic" if command.startswith("publish") else ""
        assert message.endswith(f"; did you mean 'sdmx.structures'?{remedy}")
    done = shell("kafka-replica doctor -t sdmx.structure")
    assert (done.returncode, done.stdout.count("FAULT")) == (1, 1)
    [fault] = re.findall("FAULT.*", done.stdout)
    assert fault.count("sdmx.structure") == 1
    assert "did you mean 'sdmx.structures'?" in done.stdout


@pytest.mark.usefixtures("newcomer")
def test_an_unreachable_broker_is_named_once() -> None:
    """An unreachable broker gives one line with cause and advice, and status 1, before or after the timeout."""
    for options in ("", " --timeout-s 2"):
        done = shell(f"kafka-replica dump -t t -b 127.0.0.1:1{options}")
        assert done.returncode == 1
        *_, line = done.stderr.splitlines()  # a warning may come before, on a slow machine
        assert line.count("127.0.0.1:1") == line.count("check bootstrap.servers") == 1, done.stderr


def _first_line_of(command: str) -> str:
    """Run a command until its first line, then press Ctrl-C; the exit status has to be 0."""
    process = subprocess.Popen(
        ["bash", "-c", f"exec {command}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    time.sleep(2)  # a person does not press Ctrl-C while the line is being printed, which is an interruption
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, len(errors.splitlines())) == (0, 1), errors
    return line
