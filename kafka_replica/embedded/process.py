"""The client side of the pipe to the supervisor."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from kafka_replica.common.process import OwnerProcess
from kafka_replica.embedded.errors import EmbeddedKafkaError


class SupervisorProcess:
    """A supervisor process with the folder of its broker, and the broker itself while it runs.

    Args:
        folder: the permanent folder of the broker, created if necessary; None means a temporary folder.
        grace_s: the time that a broker with a permanent folder has to stop when this process dies, in seconds.

    Raises:
        EmbeddedKafkaError: the folder cannot be created, or another broker uses it.
    """

    def __init__(self, folder: Path | None, grace_s: float) -> None:
        self._owner = OwnerProcess()
        self._lock = threading.Lock()
        self._commands = itertools.count(1)
        options = {"folder": None if folder is None else str(folder), "parent": self._owner.pid, "grace_s": grace_s}
        if os.name == "nt":
            raise EmbeddedKafkaError(
                "the embedded Kafka runs on Linux and macOS; on Windows use WSL, "
                "or name a running broker with KAFKA_REPLICA_BOOTSTRAP_SERVERS"
            )
        if not sys.executable:
            raise EmbeddedKafkaError(
                "while starting Kafka: sys.executable is empty; "
                "start the broker from a normal Python installation, or use a running broker"
            )
        script = Path(__file__).with_name("supervisor.py")
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(script), json.dumps(options)],
            # A detached supervisor must not hold the caller's terminal or pipe open.
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        first = self._read()
        if "folder" not in first:
            self._close()
            self._process.wait(10)
            raise EmbeddedKafkaError(_start_refusal(first, folder))
        self.folder = Path(first["folder"])
        self.pid: int = first["pid"]

    def start(self, argv: list[str], log: Path) -> int:
        """Start the broker; return its process id."""
        state = self._ask(do="start", argv=argv, log=str(log))
        if state.get("error"):
            raise EmbeddedKafkaError(f"while starting Kafka: {state['error']}; check JAVA_HOME and the free disk space")
        return int(state["pid"])

    def exit_status(self) -> int | None:
        """Return the broker's exit status; None while the broker runs, negative if a signal ended it."""
        state = self._ask(do="look")
        return 0 if state["pid"] is None else state["exit"]

    def was_killed(self) -> bool:
        """Return whether SIGKILL ended the broker."""
        return self.exit_status() == -signal.SIGKILL

    def signal(self, number: int) -> None:
        """Send a signal to the broker, if it runs."""
        self._ask(do="signal", signal=number)

    def stop_broker(self, grace_s: float) -> None:
        """Stop the broker and keep its folder; with a `grace_s` of 0, send SIGKILL immediately."""
        self._ask(do="stop", grace_s=grace_s)

    def detach(self) -> None:
        """Let the supervisor and the broker outlive this process."""
        self._ask(do="detach")
        self._close()
        # Without this, Popen warns on garbage collection that its child is still running.
        self._process.returncode = 0

    def quit(self, grace_s: float) -> None:
        """Stop the broker, remove a temporary folder, and end the supervisor. Idempotent."""
        if not self._owner.is_current or self._process.returncode is not None:
            # A forked child has a copy of this object, but the broker belongs to the parent.
            return
        with contextlib.suppress(EmbeddedKafkaError):
            self._ask(do="quit", grace_s=grace_s)
        self._close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            # The supervisor's guard process then stops the broker and removes the folder.
            self._process.kill()
            self._process.wait()

    def _ask(self, **command: Any) -> dict[str, Any]:
        if not self._owner.is_current:
            raise EmbeddedKafkaError(
                "the embedded Kafka belongs to the process that started it, and this is a forked child; "
                "start, stop and signal it there"
            )
        with self._lock:
            number = next(self._commands)
            try:
                if self._process.stdin is None:
                    return self._gone()
                self._process.stdin.write(json.dumps({**command, "number": number}).encode() + b"\n")
                self._process.stdin.flush()
            except (OSError, ValueError):
                return self._gone()
            # An interrupted call has not read its response, which precedes the response to this command.
            while (state := self._read()).get("number") != number:
                pass
            return state

    def _read(self) -> dict[str, Any]:
        line = self._process.stdout.readline() if self._process.stdout is not None else b""
        if not line:
            return self._gone()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _gone(self) -> dict[str, Any]:
        raise EmbeddedKafkaError(
            "the process that supervises the embedded Kafka has ended, and so has the broker; "
            "start a new LocalKafka (if it was not killed, see the log of the broker)"
        )

    def _close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def _start_refusal(answer: dict[str, Any], folder: Path | None) -> str:
    if answer.get("in_use"):
        return (
            f"while starting Kafka: another embedded broker uses the folder {folder}; "
            "stop that one first, or give this one another data_dir"
        )
    return (
        f"while making the folder of the embedded Kafka: {answer.get('error')} ({answer.get('path')}); "
        "check the free space and the permissions there, or set TMPDIR or data_dir to a folder elsewhere"
    )
