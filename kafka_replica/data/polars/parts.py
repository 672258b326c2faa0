"""Frames that are collected one after the other: all but a single one are kept in files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl


class Parts:
    """Frames with the same columns, in order."""

    def __init__(self, folder: Path, name: str) -> None:
        """Name an existing folder for the files, and the beginning of their names."""
        self._folder, self._name = folder, name
        self._first: pl.DataFrame | None = None
        self._files: list[Path] = []
        self.rows = 0
        """The number of rows of all frames."""

    def add(self, frame: pl.DataFrame) -> None:
        """Add a frame."""
        self.rows += frame.height
        if self._first is None and not self._files:
            self._first = frame
            return
        if self._first is not None:
            self._store(self._first)
            self._first = None
        self._store(frame)

    def _store(self, frame: pl.DataFrame) -> None:
        self._files.append(self._folder / f"{self._name}-{len(self._files)}.arrow")
        frame.write_ipc(self._files[-1], compression="lz4")

    def frames(self) -> Iterator[pl.DataFrame]:
        """Yield the frames."""
        if self._first is not None:
            yield self._first
        for file in self._files:
            yield pl.read_ipc(file)

    def write_parquet(self, path: Path) -> None:
        """Write all rows to a file; there must be a frame."""
        if self._first is not None:
            self._first.write_parquet(path)
        else:
            pl.scan_ipc(self._files).sink_parquet(path)

    def clear(self) -> None:
        """Remove all frames."""
        self._first, self.rows = None, 0
        for file in self._files:
            file.unlink()
        self._files = []
