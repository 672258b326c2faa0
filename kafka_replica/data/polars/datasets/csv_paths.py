"""Find the CSV files that paths denote: files, folders and patterns."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from kafka_replica.errors import UsageError

Paths: TypeAlias = str | Path | Sequence[str | Path]


def csv_files(paths: Paths) -> Iterator[Path]:
    """Yield the files that paths denote.

    A folder denotes its files ``*.csv`` and ``*.csv.gz``, in order and including subfolders; a pattern denotes all
    files and folders that match it. A plain path is yielded even if no such file exists.

    Raises:
        UsageError: nothing matches a pattern, or a folder has no such files.
    """
    for path in map(Path, [paths] if isinstance(paths, str | Path) else paths):
        for one in _fitting(path):
            yield from _in_folder(one) if one.is_dir() else [one]


def _fitting(path: Path) -> list[Path]:
    """Return the files and folders that match a path; a file whose name is the pattern itself takes precedence."""
    if path.exists() or not glob.has_magic(str(path)):
        return [path]
    found = sorted(map(Path, glob.glob(str(path), recursive=True)))  # noqa: PTH207 - takes absolute patterns
    if not found:
        raise UsageError(f"reading {path}: no file or folder matches this pattern")
    return found


def _in_folder(folder: Path) -> list[Path]:
    found = sorted(path for path in folder.rglob("*") if path.name.endswith((".csv", ".csv.gz")) and path.is_file())
    if not found:
        raise UsageError(f"reading the folder {folder}: it contains no file named *.csv or *.csv.gz")
    return found
