"""The first findings of a table that Spark wrote in parts are joined to one file."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import polars as pl
import pytest

from kafka_replica_spark.finding_files import join_parts

_COLUMNS = ("row", "value")
_VALUES = ("a", 'two\nlines, "quoted"', "", "b\r\nc", '"', "z")


def _parts(folder: Path, kind: str) -> list[Path]:
    """Write two parts of three rows, with line breaks in cells, and an empty one between them."""
    paths = []
    for number, rows in enumerate((range(3), range(0), range(3, 6))):
        paths.append(folder / f"part-{number}{kind}")
        part = pl.DataFrame(
            {"row": list(rows), "value": [_VALUES[row] for row in rows]}, {"row": pl.UInt32, "value": pl.String}
        )
        match kind:
            case ".csv":
                part.write_csv(paths[-1], include_header=False)
            case ".jsonl":
                part.write_ndjson(paths[-1])
            case _:
                part.write_parquet(paths[-1])
    return paths


def _values(path: Path) -> list[str]:
    match path.suffix:
        case ".csv":
            with path.open(newline="", encoding="utf-8") as file:
                return [row["value"] for row in csv.DictReader(file)]
        case ".jsonl":
            return [json.loads(line)["value"] for line in path.read_bytes().splitlines()]
        case _:
            return pl.read_parquet(path)["value"].to_list()


@pytest.mark.parametrize("kind", [".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("most", [None, 0, 1, 2, 3, 4, 5, 6, 7])
def test_the_first_rows_of_parts(tmp_path: Path, kind: str, most: int | None) -> None:
    """A file has exactly the first rows, also where cells have line breaks and quotes."""
    path = tmp_path / f"findings{kind}"
    join_parts(_parts(tmp_path, kind), path, _COLUMNS, most)
    assert _values(path) == list(_VALUES[:most])
