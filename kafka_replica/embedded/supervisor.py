"""The supervisor process between the user's process and the broker, which cleans up when the user's process ends.

The supervisor is started as a script, imports nothing from the rest of kafka_replica, and needs only the standard
library. It reads one JSON command per line from standard input, and responds to each with one line of JSON that
contains the number of the command.

The supervisor stops the broker and removes a temporary folder when it receives the command ``quit`` or SIGTERM, when
its standard input is closed, or when its parent process has changed (a forked child of the parent may keep the pipe
open). If the supervisor itself is killed, a shell that reads from a pipe of the supervisor notices this, kills the
broker with SIGKILL and removes the folder. This works without services of a particular operating system.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

_POLL_INTERVAL_S = 0.2
_STOPPING_S = 30.0
_REFRESH_EVERY_S = 3600.0
# Reads the broker's process id (0: no broker) line by line; the end of the pipe means that the supervisor has died.
_LAST_GUARD = """
pid=0
while read -r line; do
  [ "$line" = bye ] && exit 0
  pid=$line
done
[ "$pid" -gt 0 ] && kill -9 "$pid" 2>/dev/null
[ -n "$1" ] && sleep 0.2 && rm -rf -- "$1"
exit 0
"""


class Supervisor:
    """The supervisor of one folder, with at most one broker."""

    def __init__(self, folder: Path, *, temporary: bool, parent: int, grace_s: float) -> None:
        self.folder, self.temporary, self.grace_s = folder, temporary, grace_s
        self.parent = parent if os.getppid() == parent else None
        self.attached = True
        self.ending = False
        self.refreshed_at = time.time()  # by a clock that includes the time in which the machine is suspended
        self.broker: subprocess.Popen[bytes] | None = None
        self.guard = subprocess.Popen(
            ["/bin/sh", "-c", _LAST_GUARD, "kafka-replica-guard", str(folder) if temporary else ""],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            cwd="/", start_new_session=True,
        )  # fmt: skip

    def serve(self) -> None:
        """Execute commands until one of the end conditions holds, and then clean up."""
        waiting = b""
        source = 0
        try:
            while not self.ending and self.is_needed():
                if self.temporary and abs(time.time() - self.refreshed_at) > _REFRESH_EVERY_S:
                    self.refreshed_at = time.time()
                    refresh_times(self.folder)
                ready = select.select([source], [], [], _POLL_INTERVAL_S)[0] if self.attached else []
                if not self.attached:
                    time.sleep(_POLL_INTERVAL_S)
                if ready:
                    got = os.read(source, 65536)
                    if not got:
                        break
                    *lines, waiting = (waiting + got).split(b"\n")
                    for line in lines:
                        command = json.loads(line)
                        send_response({**self.execute(command), "number": command["number"]})
        finally:
            self.end_broker(0.0 if self.temporary else self.grace_s)
            if self.temporary:
                shutil.rmtree(self.folder, ignore_errors=True)
            self.write_to_guard("bye")

    def is_needed(self) -> bool:
        """Return whether the supervisor is still needed."""
        if not self.attached:
            return self.broker is not None and self.broker.poll() is None
        return self.parent is None or os.getppid() == self.parent

    def execute(self, command: dict[str, Any]) -> dict[str, Any]:
        """Execute a command and return the response, which has the member ``error`` if the command failed."""
        todo = command["do"]
        try:
            if todo == "start":
                self.start(command["argv"], command["log"])
            elif todo == "signal" and self.broker is not None and self.broker.poll() is None:
                self.broker.send_signal(command["signal"])
                if command["signal"] == signal.SIGSTOP:
                    wait_stopped(self.broker.pid)
            elif todo == "stop":
                self.end_broker(command["grace_s"])
            elif todo == "detach":
                self.attached = False
            elif todo == "quit":
                self.ending = True
                self.end_broker(command["grace_s"])
        except OSError as error:
            return {**self.state(), "error": f"{error.strerror or error}: {error.filename or ''}".rstrip(": ")}
        return self.state()

    def state(self) -> dict[str, Any]:
        """Return the broker's process id, and its exit status once it has ended."""
        if self.broker is None:
            return {"pid": None, "exit": None}
        status = self.broker.poll()
        if status is not None:
            self.write_to_guard("0")
        return {"pid": self.broker.pid, "exit": status}

    def start(self, argv: list[str], log: str) -> None:
        """Start the broker; append its output to the file `log`."""
        with Path(log).open("ab") as out:
            self.broker = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, cwd=self.folder
            )
        self.write_to_guard(str(self.broker.pid))

    def end_broker(self, grace_s: float) -> None:
        """Stop the broker: with SIGTERM, and after `grace_s` seconds with SIGKILL; with 0, immediately with SIGKILL."""
        broker = self.broker
        if broker is None:
            return
        if grace_s > 0 and broker.poll() is None:
            broker.send_signal(signal.SIGCONT)
            broker.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                broker.wait(grace_s)
        if broker.poll() is None:
            broker.kill()
        broker.wait()
        self.write_to_guard("0")

    def write_to_guard(self, line: str) -> None:
        """Send a line to the guard process; ignore errors, because it may have been killed."""
        with contextlib.suppress(OSError, ValueError):
            if self.guard.stdin is not None:
                self.guard.stdin.write(line.encode() + b"\n")
                self.guard.stdin.flush()
        if line == "bye":
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.guard.wait(2)


def refresh_times(folder: Path) -> None:
    """Mark all files as used now, because some systems remove temporary files that have not been used for days."""
    for parent, _, names in os.walk(folder):
        for path in (Path(parent), *(Path(parent, name) for name in names)):
            with contextlib.suppress(OSError):
                os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))


def wait_stopped(pid: int) -> None:
    """Wait up to 30 s until all threads of a child process have stopped, or the child has ended.

    Threads continue until one of them has processed SIGSTOP, which takes a while on a busy machine.
    """
    if not hasattr(os, "waitid"):  # macOS, before Python 3.13
        return
    give_up_s = time.monotonic() + _STOPPING_S
    only_look = os.WSTOPPED | os.WEXITED | os.WNOWAIT | os.WNOHANG
    while os.waitid(os.P_PID, pid, only_look) is None and time.monotonic() < give_up_s:
        time.sleep(0.005)


def send_response(message: dict[str, Any]) -> None:
    """Send one line to the parent; ignore errors, because it may have ended."""
    with contextlib.suppress(OSError):
        os.write(1, json.dumps(message).encode() + b"\n")


def main() -> None:
    """Create the folder if necessary, lock it, report the result, and serve."""
    options = json.loads(sys.argv[1])
    try:
        if options["folder"] is None:
            folder = Path(tempfile.mkdtemp(prefix="kafka-replica-"))
        else:
            folder = Path(options["folder"])
            folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / "in-use.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            send_response({"in_use": True})
            return
    except OSError as error:
        send_response({"error": error.strerror or str(error), "errno": error.errno, "path": str(error.filename)})
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    supervisor = Supervisor(
        folder, temporary=options["folder"] is None, parent=options["parent"], grace_s=options["grace_s"]
    )

    def end(*_: object) -> None:
        supervisor.ending = True

    signal.signal(signal.SIGTERM, end)
    send_response({"folder": str(folder), "pid": os.getpid()})
    supervisor.serve()


if __name__ == "__main__":
    main()
