"""The CSV files that paths denote: files, folders and patterns."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from kafka_replica.errors import UsageError

Paths: TypeAlias = str | Path | Sequence[str | Path]


def csv_files(paths: Paths) -> Iterator[Path]:
    """Yield the files of paths: ``*.csv`` and ``*.csv.gz`` in a folder, in order, and all matches of a pattern.

    Raises:
        UsageError: a file does not exist, or a folder has no such files.
    """
    for path in map(Path, [paths] if isinstance(paths, str | Path) else paths):
        for one in _fitting(path):
            yield from _in_folder(one) if one.is_dir() else [one]


def _fitting(path: Path) -> list[Path]:
    """Return the files of a path; if a file has the pattern itself as its name, that file."""
    if path.exists() or not glob.has_magic(str(path)):
        return [path]
    found = sorted(map(Path, glob.glob(str(path), recursive=True)))  # noqa: PTH207 - takes absolute patterns
    if not found:
        raise UsageError(f"reading {path}: no file or folder matches this pattern")
    return found


def _in_folder(folder: Path) -> list[Path]:
    found = sorted(one for one in folder.rglob("*") if one.name.endswith((".csv", ".csv.gz")) and one.is_file())
    if not found:
        raise UsageError(f"reading the folder {folder}: it contains no file named *.csv or *.csv.gz")
    return found
