"""A terminal: one shell that runs the blocks of a page in turn, with their variables and background processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self


class Terminal:
    """A shell in a folder; what runs in the background ends with it."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self._folder = folder
        self._shell = subprocess.Popen(
            ["bash"], cwd=folder, env={**os.environ, "PATH": path, **environment}, text=True, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def __enter__(self) -> Self:
        """Return the terminal."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the shell and all that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self._shell.pid, signal.SIGKILL)
        self._shell.communicate()

    def run(self, commands: str) -> str:
        """Run commands; return what they print.

        Raises:
            AssertionError: one of the lines failed.
        """
        end = uuid.uuid4().hex
        (self._folder / ".commands").write_text(commands, encoding="utf-8")
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        # Sourced, so that variables and jobs stay. A failing line does not end the shell, but is noted.
        note = "trap 'failed=\"$failed $BASH_COMMAND;\"' ERR"
        self._shell.stdin.write(f"failed=; {note}; . ./.commands < /dev/null; trap - ERR; echo {end} $failed\n")
        self._shell.stdin.flush()
        printed = []
        for line in self._shell.stdout:
            before, found, failed = line.partition(end)
            printed.append(before)
            if found:
                assert not failed.strip(), f"failed: {failed}\n{''.join(printed)}"
                return "".join(printed)
        raise AssertionError(f"the shell ended in {commands}\n{''.join(printed)}")
