"""Write a table of findings to a file: CSV, JSON lines, Parquet or a workbook, by the extension of its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import polars as pl

from kafka_replica.common.wording import reason_of
from kafka_replica.data.jobs.options import check_findings_path
from kafka_replica.data.polars.spilled_frames import SpilledFrames
from kafka_replica.errors import UsageError

_SHEET_ROWS: Final = 1_048_575
"""The maximum number of rows on a sheet of a workbook, without the header."""


def write_findings(table: pl.DataFrame, path: Path | str, *, most: int | None = None) -> int:
    """Write the first findings of a table, and return their number; an existing file is replaced.

    Args:
        table: the result of ``finding_table``.
        path: the file; its extension selects the format: .csv, .jsonl, .parquet or .xlsx.
        most: the maximum number of findings that are written; None means all. A workbook has at most 1,048,575.

    Raises:
        UsageError: the extension selects no format, or the file cannot be written.
        MissingExtraError: the library for workbooks is not installed.
    """
    return write_finding_frames([table], Path(path), most=most)


def write_finding_frames(frames: Iterable[pl.DataFrame], path: Path, *, most: int | None = None) -> int:
    """Write the first findings of a table that is given in parts; see :func:`write_findings`.

    Raises:
        UsageError: the extension selects no format, or the file cannot be written.
        MissingExtraError: the library for workbooks is not installed.
    """
    check_findings_path(path)
    suffix = path.suffix.lower()
    limits = [one for one in (most, _SHEET_ROWS if suffix == ".xlsx" else None) if one is not None]
    counted = _CountedFrames(first_rows(frames, min(limits, default=None)))
    try:
        _WRITERS[suffix](counted, path)
    except OSError as error:
        raise UsageError(f"writing the findings to {path}: {reason_of(error)}") from error
    return counted.rows


def first_rows(frames: Iterable[pl.DataFrame], most: int | None) -> Iterator[pl.DataFrame]:
    """Yield frames until ``most`` rows have been yielded, at least one frame; None means no limit."""
    left = most
    for number, frame in enumerate(frames):
        if left is None:
            yield frame
            continue
        if left <= 0 and number:
            return
        yield frame.head(left)
        left -= frame.height


class _CountedFrames:
    """An iterable of frames that counts the rows it has yielded."""

    def __init__(self, frames: Iterable[pl.DataFrame]) -> None:
        self._frames = frames
        self.rows = 0

    def __iter__(self) -> Iterator[pl.DataFrame]:
        for frame in self._frames:
            self.rows += frame.height
            yield frame


def _csv(frames: Iterable[pl.DataFrame], path: Path) -> None:
    with path.open("wb") as file:
        for number, frame in enumerate(frames):
            frame.write_csv(file, include_header=not number)


def _json_lines(frames: Iterable[pl.DataFrame], path: Path) -> None:
    with path.open("wb") as file:
        for frame in frames:
            frame.write_ndjson(file)


def _parquet(frames: Iterable[pl.DataFrame], path: Path) -> None:
    with TemporaryDirectory(prefix=".findings-", dir=path.parent) as folder:
        stored = SpilledFrames(Path(folder), "findings")
        for frame in frames:
            stored.add(frame)
        stored.write_parquet(path)


def _workbook(frames: Iterable[pl.DataFrame], path: Path) -> None:
    """Write a workbook whose cells are texts, so that a value that begins with ``=`` is not a formula."""
    with path.open("wb") as file:
        pl.concat(frames).write_excel(file, worksheet="findings", freeze_panes=(1, 0), autofit=False)


_WRITERS: Final[Mapping[str, Callable[[Iterable[pl.DataFrame], Path], None]]] = {
    ".csv": _csv, ".jsonl": _json_lines, ".parquet": _parquet, ".xlsx": _workbook,
}  # fmt: skip
