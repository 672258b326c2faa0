"""The output of a demonstration: lines of text, in colour on a terminal and plain in a log."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from kafka_replica.errors import KafkaReplicaError, WaitTimeoutError

T = TypeVar("T")

_LOG_WIDTH = 140


class DemoError(KafkaReplicaError):
    """An unexpected result in a demonstration."""


class DemoOutput:
    """The console of a demonstration."""

    def __init__(self) -> None:
        self.console = Console(highlight=False)
        if not self.console.is_terminal:
            self.console.width = _LOG_WIDTH
        self._part = 0

    def begin_part(self, title: str) -> None:
        """Begin a part of the demonstration with a numbered title."""
        self._part += 1
        self.console.print(f"\n[bold cyan]{self._part}  {title}[/]")

    def print(self, text: str) -> None:
        """Print a line."""
        self.console.print(f"   {text}", soft_wrap=True)

    @contextmanager
    def waiting(self, step: str) -> Iterator[Callable[[str], None]]:
        """Show that a step takes a while: an animated line on a terminal, a plain line in a log.

        Yields a function that shows the current state on a terminal.
        """
        if self.console.is_terminal:
            with self.console.status(step) as status:
                yield lambda state: status.update(f"{step}: {state}")
        else:
            self.print(step)
            yield lambda _state: None

    def print_table(self, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Print a small table."""
        table = Table(*head, box=None, padding=(0, 2, 0, 0), header_style="dim")
        for row in rows:
            table.add_row(*(str(cell) for cell in row))
        for line in self._lines_of(table):
            self.console.print(f"   {line}", markup=False, soft_wrap=True)

    def track(self, items: Sequence[T], label: str) -> Iterable[T]:
        """Iterate over a sequence, with a progress bar on a terminal."""
        progress = Progress(
            TextColumn(f"   {label}"), BarColumn(), MofNCompleteColumn(), console=self.console, transient=True,
            disable=not self.console.is_terminal,
        )  # fmt: skip
        with progress:
            yield from progress.track(items)

    def _lines_of(self, table: Table) -> list[str]:
        with self.console.capture() as caught:
            self.console.print(table)
        return [line.rstrip() for line in caught.get().splitlines()]


def expect(holds: object, otherwise: str) -> None:
    """End the demonstration if a condition does not hold.

    Raises:
        DemoError: the condition does not hold.
    """
    if not holds:
        raise DemoError(f"{otherwise}; this is a fault of kafka_replica, please report it")


def wait_until(holds: Callable[[], object], otherwise: str, timeout_s: float = 20.0) -> float:
    """Wait until a condition holds; return the time that this took, in seconds.

    Args:
        holds: the condition.
        otherwise: the text of the error.
        timeout_s: the maximum time to wait, in seconds.

    Raises:
        WaitTimeoutError: the condition did not become true in time.
    """
    began_s = time.monotonic()
    while not holds():
        if time.monotonic() - began_s > timeout_s:
            raise WaitTimeoutError(f"{otherwise} in {timeout_s:.0f} s")
        time.sleep(0.001)
    return time.monotonic() - began_s


@contextmanager
def stderr_hidden() -> Iterator[None]:
    """Hide the stderr output of a Java process during its start; show it if the start fails."""
    sys.stderr.flush()
    stderr = os.dup(2)
    with tempfile.TemporaryFile() as captured:
        os.dup2(captured.fileno(), 2)
        try:
            yield
        except BaseException:
            captured.seek(0)
            os.write(stderr, captured.read())
            raise
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
