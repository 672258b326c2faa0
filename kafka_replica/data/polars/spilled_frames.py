"""Collect frames one after the other, in temporary files unless there is only one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl


class SpilledFrames:
    """An ordered collection of frames with the same columns."""

    def __init__(self, folder: Path, name: str) -> None:
        """Create an empty collection, with an existing folder for its files and the prefix of their names."""
        self._folder, self._name = folder, name
        self._first: pl.DataFrame | None = None
        self._files: list[Path] = []
        self.rows = 0
        """The total number of rows."""

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
        """Write all rows to a Parquet file; the collection must not be empty."""
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
