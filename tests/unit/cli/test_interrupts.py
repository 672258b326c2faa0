"""Ctrl-C at any moment: exit status 130, and never a traceback. With real signals to real processes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.effort import usual_or_long

pytestmark = pytest.mark.long

# The first import by `main` reports that the command runs. Before `main`, Python itself starts and imports the command:
# no code of ours can answer Ctrl-C there, because only a command, and no import, may change how a process answers it.
# A shell's background command, which these tests may be, passes on that Ctrl-C is ignored.
_NOT_IGNORED = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
_PROGRAM = """
import os, sys

def tell(name, arguments):
    if name == "import" and arguments[0] == "kafka_replica.cli.run":
        os.write(1, b"begun\\n")

import kafka_replica
sys.addaudithook(tell)
from kafka_replica.cli import main
main()
"""
_BEGUN = b"begun\n"
_INTERRUPTED = {130, -signal.SIGINT}
"""The exit statuses; at the very end Python has removed its handlers, and the signal itself ends the process."""
_COMMANDS = (["broker", "status"], ["validate", "--help"], ["--help"], ["list", "--help"], ["producer", "--help"])


def run(command: list[str], folder: Path, interrupt_after_s: float | None) -> tuple[int, bytes, float]:
    """Run a command; return its exit status, its stderr, and how long its own code ran."""
    process = subprocess.Popen(
        [sys.executable, "-c", _NOT_IGNORED + _PROGRAM, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "KAFKA_REPLICA_STATE": str(folder)},
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == _BEGUN
    began_s = time.monotonic()
    if interrupt_after_s is not None:
        time.sleep(interrupt_after_s)
        process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    return process.returncode, errors, time.monotonic() - began_s


@pytest.mark.scaled
@pytest.mark.parametrize("command", _COMMANDS, ids=" ".join)
def test_ctrl_c_at_any_early_moment_ends_without_a_traceback(command: list[str], tmp_path: Path) -> None:
    """Ctrl-C during imports, while the command runs, and while Python shuts down, ends without a traceback."""
    status, errors, took_s = run(command, tmp_path, None)
    assert status in {0, 3}, errors
    dice = random.Random(" ".join(command))
    ended = []
    for number in range(usual_or_long(4, 8)):
        # The first moments, and random later ones: imports take nearly all of the time.
        delay_s = dice.uniform(0, 0.02) if number < 2 else dice.uniform(0, took_s * 1.1)
        ended.append(run(command, tmp_path, delay_s))
    for after, errors, _ in ended:
        assert after in {*_INTERRUPTED, status}, (after, errors)
        assert b"Traceback" not in errors
        assert b"KeyboardInterrupt" not in errors
    assert any(after in _INTERRUPTED for after, *_ in ended)


@pytest.mark.parametrize(
    "module", ["kafka_replica.cli.interrupts", "kafka_replica.cli.started_broker", "click._textwrap"]
)
def test_ctrl_c_in_a_callback_of_the_interpreter_is_not_lost(module: str, tmp_path: Path) -> None:
    """Ctrl-C inside a callback of the import system is not lost, though exceptions there are printed and forgotten."""
    program = f"""
{_NOT_IGNORED}
import sys, weakref

class Thing: pass

def tell(name, arguments):
    if name == "import" and arguments[0] == "{module}":
        thing = Thing()
        reference = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
        del thing

sys.addaudithook(tell)
from kafka_replica.cli import main
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", program, "broker", "status", "--help"], capture_output=True, timeout=120, check=False,
        env={**os.environ, "KAFKA_REPLICA_STATE": str(tmp_path)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (130, b"")


def test_ctrl_c_while_a_command_waits_for_a_broker(tmp_path: Path) -> None:
    """Ctrl-C while waiting for a broker closes the replica and reports only the interruption, with status 130."""
    process = subprocess.Popen(
        [sys.executable, "-c", _NOT_IGNORED + _PROGRAM, "watch", "-b", "127.0.0.1:1", "-t", "t", "--timeout-s", "100"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "KAFKA_REPLICA_STATE": str(tmp_path)},
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(4)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert b"Traceback" not in errors
    # A warning may come before, on a slow machine.
    assert [line for line in errors.strip().splitlines() if b" WARNING: " not in line] == []


def test_ctrl_c_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    """A script's background command continues when the script's user presses Ctrl-C."""
    program = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n{_PROGRAM}"
    process = subprocess.Popen(
        [sys.executable, "-c", program, "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == _BEGUN
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert b"Commands:" in output
