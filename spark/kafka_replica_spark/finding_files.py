"""Write a table of findings to one file: CSV, JSON lines or Parquet, by the extension of its name."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from kafka_replica.common.wording import reason_of
from kafka_replica.errors import ConfigurationError, UsageError

_BLOCK_ROWS: Final = 10_000
_NUMBERS: Final = ("line", "row", "part_row")
_KINDS: Final = (".csv", ".jsonl", ".parquet")


def check_kind(path: Path) -> None:
    """Raise ConfigurationError if Spark cannot write a file with this extension."""
    if path.suffix.lower() not in _KINDS:
        raise ConfigurationError(
            f"writing the findings to {path}: Spark writes no workbooks; call it {', '.join(_KINDS[:-1])} or "
            f"{_KINDS[-1]}, or choose the engine local (--engine local)"
        )


def write_findings(table: DataFrame, path: Path, *, writes_here: bool) -> None:
    """Write a table of findings; an existing file is replaced.

    Args:
        table: the table, in its order.
        path: the file, on the driver's machine.
        writes_here: whether Spark can write to that machine: then each partition is written in parallel first.

    Raises:
        UsageError: the file cannot be written.
    """
    try:
        if writes_here:
            _write_parts(table, path)
        else:
            _write_rows(table, path)
    except OSError as error:
        raise UsageError(f"writing the findings to {path}: {reason_of(error)}") from error


def _write_parts(table: DataFrame, path: Path) -> None:
    folder = path.with_name(f".{path.name}-parts")
    writer = table.write.mode("overwrite")
    try:
        match path.suffix.lower():
            case ".csv":
                writer.csv(str(folder), header=False, quote='"', escape='"', nullValue="", emptyValue='""',
                           ignoreLeadingWhiteSpace=False, ignoreTrailingWhiteSpace=False)  # fmt: skip
            case ".jsonl":
                writer.json(str(folder), ignoreNullFields=False)
            case _:
                writer.parquet(str(folder))
        _join(sorted(folder.glob("part-*")), path, table.columns)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _join(parts: Sequence[Path], path: Path, names: Sequence[str]) -> None:
    if path.suffix.lower() == ".parquet":
        with pq.ParquetWriter(path, _schema(names)) as writer:
            for part in parts:
                for batch in pq.ParquetFile(part).iter_batches():
                    writer.write_batch(batch.cast(_schema(names)))
        return
    with path.open("wb") as file:
        if path.suffix.lower() == ".csv":
            file.write(",".join(names).encode() + b"\n")
        for part in parts:
            with part.open("rb") as rows:
                shutil.copyfileobj(rows, file)


def _write_rows(table: DataFrame, path: Path) -> None:
    """Write the rows as the driver gets them, a partition at a time."""
    rows = table.toLocalIterator(prefetchPartitions=True)
    blocks: Iterator[list[Any]] = iter(lambda: list(islice(rows, _BLOCK_ROWS)), [])
    if path.suffix.lower() == ".parquet":
        schema = _schema(table.columns)
        with pq.ParquetWriter(path, schema) as writer:
            for block in blocks:
                writer.write_table(pa.Table.from_pylist([row.asDict() for row in block], schema))
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        if path.suffix.lower() == ".csv":
            file.write(_as_csv([table.columns]))
        for block in blocks:
            is_csv = path.suffix.lower() == ".csv"
            file.write(_as_csv(block) if is_csv else "".join(_as_json(row.asDict()) for row in block))


def _as_csv(rows: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _as_json(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"


def _schema(names: Sequence[str]) -> pa.Schema:
    return pa.schema([pa.field(name, pa.uint32() if name in _NUMBERS else pa.string()) for name in names])
