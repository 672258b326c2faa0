"""Child processes that are started, signalled, given orders, and never left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).absolute().parent.parent


class Child:
    """A Python module that runs in a separate process, with settings as its one argument.

    The process has its own process group: the terminal's Ctrl-C is for the harness, and a child that is frozen when
    the harness dies is woken and ended by the kernel (an orphaned group gets SIGHUP and SIGCONT).
    """

    def __init__(self, module: str, settings: dict[str, Any], log: Path) -> None:
        path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, json.dumps(settings)],
                stdin=subprocess.PIPE, stdout=out, stderr=out, process_group=0, bufsize=0,
                env={**os.environ, "PYTHONPATH": path},
            )  # fmt: skip

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def exit_status(self) -> int | None:
        """The exit status: None while the process runs; negative for the signal that ended it."""
        return self._process.poll()

    def tell(self, order: dict[str, Any]) -> None:
        """Send an order; a child that has ended does not receive it."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            with suppress(OSError):
                self._process.stdin.write(json.dumps(order).encode() + b"\n")

    def pause(self) -> None:
        """Freeze the process."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let the process continue."""
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """End the process by kill -9."""
        self._process.kill()
        self.wait(None)

    def wait(self, timeout_s: float | None) -> bool:
        """Wait for the end of the process, without a limit if it is None; return True if it has ended."""
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        if self._process.stdin is not None:
            self._process.stdin.close()
        return True


class Orders:
    """The child's side: it receives orders from the harness as JSON lines. The child ends when the harness does."""

    def __init__(self) -> None:
        self.last: dict[str, Any] = {}
        self.came = threading.Event()
        threading.Thread(target=self._listen, name="orders", daemon=True).start()

    def _listen(self) -> None:
        for line in sys.stdin:
            self.last = json.loads(line)
            self.came.set()
        os._exit(1)
