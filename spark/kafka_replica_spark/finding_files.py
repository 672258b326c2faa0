"""Write a table of findings to a single file: CSV, JSON lines or Parquet, by the extension of its name."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from kafka_replica.common.wording import reason_of
from kafka_replica.errors import ConfigurationError, UsageError

_BLOCK_ROWS: Final = 10_000
_NUMBERS: Final = ("line", "row", "part_row")
_KINDS: Final = (".csv", ".jsonl", ".parquet")


def check_extension(path: Path) -> None:
    """Raise ConfigurationError if Spark cannot write a file with this extension."""
    if path.suffix.lower() not in _KINDS:
        raise ConfigurationError(
            f"writing the findings to {path}: Spark writes no workbooks; call it {', '.join(_KINDS[:-1])} or "
            f"{_KINDS[-1]}, or choose the engine local (--engine local)"
        )


def write_findings(table: DataFrame, path: Path, *, writes_here: bool, most: int | None = None) -> None:
    """Write the first ``most`` rows of a table of findings; an existing file is replaced.

    Args:
        table: the ordered table.
        path: the file on the driver's machine.
        writes_here: whether Spark can write to this machine; partitions are then written in parallel, and joined.
        most: the maximum number of rows that are written; None means all.

    Raises:
        UsageError: the file cannot be written.
    """
    try:
        if writes_here:
            _write_parts(table, path, most)
        else:
            _write_rows(table, path, most)
    except OSError as error:
        raise UsageError(f"writing the findings to {path}: {reason_of(error)}") from error


def _write_parts(table: DataFrame, path: Path, most: int | None) -> None:
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
        join_parts(sorted(folder.glob("part-*")), path, table.columns, most)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def join_parts(parts: Sequence[Path], path: Path, names: Sequence[str], most: int | None) -> None:
    """Write the first ``most`` rows of files with the same columns to one file; None means all rows."""
    if path.suffix.lower() == ".parquet":
        _join_parquet(parts, path, names, most)
        return
    with path.open("wb") as file:
        if path.suffix.lower() == ".csv":
            file.write(",".join(names).encode() + b"\n")
        left = most
        for part in parts:
            with part.open("rb") as rows:
                if left is None:
                    shutil.copyfileobj(rows, file)
                else:
                    left -= _copy_rows(rows, file, left, may_break=path.suffix.lower() == ".csv")


def _copy_rows(source: IO[bytes], target: IO[bytes], most: int, *, may_break: bool) -> int:
    """Copy up to ``most`` rows of text, which in CSV may have line breaks within quotes; return their number."""
    rows, quotes = 0, 0
    for line in source if most else ():
        target.write(line)
        quotes += line.count(b'"') if may_break else 0
        rows += quotes % 2 == 0
        if rows == most:
            break
    return rows


def _join_parquet(parts: Sequence[Path], path: Path, names: Sequence[str], most: int | None) -> None:
    schema, left = _schema(names), most
    with pq.ParquetWriter(path, schema) as writer:
        for part in parts:
            for batch in pq.ParquetFile(part).iter_batches():
                first = batch if left is None else batch.slice(0, left)
                writer.write_batch(first.cast(schema))
                left = None if left is None else left - first.num_rows
                if left == 0:
                    return


def _write_rows(table: DataFrame, path: Path, most: int | None) -> None:
    """Write the rows while the driver receives them, one partition at a time."""
    rows = islice(table.toLocalIterator(prefetchPartitions=True), most)
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
