"""The files that the paths of a command denote, with the kind of data in each."""

from __future__ import annotations

import codecs
import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from kafka_replica.errors import UsageError

Kind: TypeAlias = Literal["sdmx-csv", "csv", "parquet", "message"]
"""SDMX-CSV; other CSV with component ids as column names; Parquet; SDMX-ML or SDMX-JSON."""

_SUFFIXES: Final[dict[str, Kind]] = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".xml": "message", ".json": "message",
}  # fmt: skip
_HEADERS: Final = ("STRUCTURE,", "STRUCTURE;", "STRUCTURE\t", "STRUCTURE|", "STRUCTURE[", "DATAFLOW")


@dataclass(frozen=True, slots=True)
class Source:
    """The location and kind of data, and its encoding if a byte order mark shows it."""

    kind: Kind
    path: str
    encoding: str | None = None


def sources_of(paths: Iterable[str]) -> tuple[Source, ...]:
    """Return the data at paths: files, folders of files, or addresses such as ``hdfs://...`` that only Spark can read.

    Raises:
        UsageError: no data exists there, or a file's name does not show its kind.
    """
    found = tuple(source for path in paths for source in _sources(path))
    if not found:
        raise UsageError("there is no data: name files, or folders of *.csv, *.parquet, *.xml or *.json")
    return found


def _sources(path: str) -> Iterator[Source]:
    if "://" in path:
        yield Source(_kind(path.rstrip("/")) or "sdmx-csv", path)
        return
    place = Path(path)
    if not place.exists():
        raise UsageError(f"there is no file or folder {path}")
    if not place.is_dir():
        kind = _kind(path)
        if kind is None:
            raise UsageError(f"{path}: its name does not say what it holds; call it *.csv, *.parquet, *.xml or *.json")
        yield _looked_at(kind, place)
        return
    for file in sorted(one for one in place.rglob("*") if one.is_file() and not _is_hidden(one.relative_to(place))):
        kind = _kind(file.name)
        if kind is not None:
            yield _looked_at(kind, file)


def _is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)


def _kind(name: str) -> Kind | None:
    return _SUFFIXES.get(Path(name.lower().removesuffix(".gz")).suffix)


def _looked_at(kind: Kind, file: Path) -> Source:
    """Distinguish SDMX-CSV from other CSV by the first characters."""
    if kind != "csv":
        return Source(kind, str(file))
    with gzip.open(file) if file.name.lower().endswith(".gz") else file.open("rb") as opened:
        head = opened.read(64)
    encoding = "utf-16" if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else None
    start = head[: len(head) // 2 * 2].decode(encoding or "utf-8-sig", errors="replace")
    is_sdmx = start.lstrip('"').replace('"', "").startswith(_HEADERS)
    return Source("sdmx-csv" if is_sdmx else "csv", str(file), encoding)
