"""Show the progress of commands on data: a bar on a terminal, otherwise a line from time to time."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from kafka_replica.cli.log_output import log_message
from kafka_replica.data.jobs import Progress, ProgressCallback

LINE_EVERY_S = 5.0
"""The minimum time between lines, and before the first line, so that shorter runs print no lines."""


@contextmanager
def shown_progress(*, quiet: bool) -> Iterator[ProgressCallback]:
    """Yield a function that shows the progress on stderr.

    Args:
        quiet: whether to show nothing.
    """
    console = Console(file=sys.stderr)
    if quiet:
        yield lambda _progress: None
    elif console.is_terminal:
        columns = (
            SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(bar_width=24),
            TextColumn("{task.fields[numbers]}", markup=False), TimeElapsedColumn(),
        )  # fmt: skip
        with Bar(*columns, console=console, transient=True) as bar:
            yield _TerminalProgress(bar)
    else:
        yield _InLines()


def progress_text(progress: Progress, elapsed_s: float) -> str:
    """Return the progress, the rates and the remaining time: ``1,000 rows, 2.0 of 4.0 MB, 1.0 MB/s, 2 s left``.

    Args:
        progress: the progress of the step.
        elapsed_s: the time since the step began, in seconds.
    """
    parts = [] if progress.rows is None else [f"{progress.rows:,} rows"]
    done, total = progress.done, progress.total
    if done is not None and total:
        is_bytes = progress.unit == "bytes"
        parts.append(f"{decimal(done)} of {decimal(total)}" if is_bytes else f"{done:,} of {total:,} {progress.unit}")
    if elapsed_s > 0 and progress.rows and progress.unit == "bytes" and done is not None:
        parts.append(f"{progress.rows / elapsed_s:,.0f} rows/s")
    if elapsed_s > 0 and done and total:
        if progress.unit == "bytes":
            parts.append(f"{decimal(round(done / elapsed_s))}/s")
        if done < total:
            parts.append(f"{_duration(elapsed_s * (total - done) / done)} left")
    return ", ".join(parts)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


class _Clock:
    """A clock that measures the time since the current step began."""

    def __init__(self) -> None:
        self._step: str | None = None
        self._began_s = 0.0

    def elapsed_s(self, step: str, now_s: float) -> float:
        """Return the time since the step began, in seconds."""
        if step != self._step:
            self._step, self._began_s = step, now_s
        return now_s - self._began_s


class _TerminalProgress:
    def __init__(self, bar: Bar) -> None:
        self._bar, self._clock = bar, _Clock()
        self._task = bar.add_task("", total=None, numbers="")

    def __call__(self, progress: Progress) -> None:
        elapsed_s = self._clock.elapsed_s(progress.step, time.monotonic())
        self._bar.update(
            self._task, description=progress.step, total=progress.total or None, completed=progress.done or 0,
            numbers=progress_text(progress, elapsed_s),
        )  # fmt: skip


class _InLines:
    def __init__(self) -> None:
        self._clock, self._last_s = _Clock(), time.monotonic()

    def __call__(self, progress: Progress) -> None:
        now_s = time.monotonic()
        elapsed_s = self._clock.elapsed_s(progress.step, now_s)
        if now_s - self._last_s >= LINE_EVERY_S:
            self._last_s = now_s
            numbers = progress_text(progress, elapsed_s)
            log_message(f"kafka-replica: {progress.step}{': ' if numbers else ''}{numbers}")
