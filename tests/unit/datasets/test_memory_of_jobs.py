"""The memory of jobs on the local engine does not grow with the file, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import cramjam
import polars as pl
import pyarrow as pa
import pytest
import xlsxwriter  # type: ignore[import-untyped]

from support.effort import usual_or_long
from support.paths import ROOT

pytestmark = pytest.mark.long

_EDI_BEFORE = (
    "UNA:+.? '\nUNB+UNOC:3+A+B+200101:0000+I1++SDMX-EDI'\nUNH+M1+GESMES:2:1:E6'\nBGM+74'\nNAD+Z02+T'\nNAD+MR+B'\n"
    "NAD+MS+A'\nDSI+DATA'\nSTS+3+7'\nIDE+5+D'\nGIS+AR3'\nGIS+1:::-'\n"
)
ROWS = usual_or_long(400_000, 1_000_000, 5_000_000)
EDI_ROWS = usual_or_long(400_000, 400_000, 1_000_000)
"""A segment for each row takes six times as long to read as a row of CSV."""
_PROGRAM = """
import json, sys
from pathlib import Path
from kafka_replica.data.jobs import ValidationJob, sources_of
from kafka_replica.data.polars.job import LocalEngine
from kafka_replica.data.polars.source_rows import BatchSize
from support.memory import peak_bytes
from support.rules.structures_by_hand import (
    DSD, attribute, dimension, measure, rules_of, structure, text, time, version_of,
)

folder, batch = Path(sys.argv[1]), BatchSize(int(sys.argv[2]), int(sys.argv[3]))
times = [time()] if sys.argv[4].endswith(".edi") else []
parts = [dimension("ID", text()), *times, measure(), attribute("NOTE"), attribute("MORE")]
rules = rules_of(version_of(structure(*parts)), DSD)
peaks = []
for name in sys.argv[4:]:
    (folder / f"out-{name}").mkdir()
    out = folder / f"out-{name}"
    with (folder / name).open() as sys.stdin:
        sources = sources_of(["-" if name.startswith("stdin") else str(folder / name)])
    job = ValidationJob(
        sources=sources, rules=rules, out=out, findings=out / "findings.parquet"
    )
    done = LocalEngine(batch).validate(job, lambda _progress: None)
    peaks.append(peak_bytes())
print(json.dumps({"peaks": peaks, "rows": done.report.rows, "rejected": done.rejected_rows, "good": done.good_rows}))
"""


def validated(*arguments: object) -> dict[str, Any]:
    """Return what a process found in files, and its peak of memory after each of them."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *map(str, arguments)],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /proc")


@on_linux
def test_rows_with_a_wrong_number_of_cells_take_little_memory(tmp_path: Path) -> None:
    """A short row in a batch takes less than five kilobytes while it is processed, its findings included."""
    rows = 60_000
    for name, count in (("small", 1_000), ("large", rows)):
        (tmp_path / f"{name}.csv").write_text("ID,OBS_VALUE\n" + "x\n" * count)
    found = validated(tmp_path, "16000000", "100000", "small.csv", "large.csv")
    assert (found["rows"], found["rejected"], found["good"]) == (rows, rows, 0)
    small, large = found["peaks"]
    assert large - small < 5_000 * rows, f"{(large - small) / rows:,.0f} bytes more for each row"


@pytest.mark.scaled
@on_linux
@pytest.mark.parametrize("kind", ["csv", "parquet", "zst in zip", "stdin", "csv.zst", "arrow", "arrows", "edi"])
def test_peak_of_memory(kind: str, tmp_path: Path) -> None:
    """A file of hundreds of thousands of rows takes little more memory than one of a tenth of its size."""
    count = EDI_ROWS if kind == "edi" else ROWS
    number = pl.int_range(count)
    rows = pl.select(
        ID=number.cast(pl.String), OBS_VALUE=pl.when(number % 100 == 7).then(pl.lit("x")).otherwise(pl.lit("1.5")),
        NOTE=pl.format("a note of some length about the observation {}", number), MORE=pl.lit("much the same text"),
    )  # fmt: skip
    names = [
        _written(kind, size, frame, tmp_path) for size, frame in (("small", rows.head(count // 10)), ("large", rows))
    ]
    found = validated(tmp_path, "1000000", "10000", *names)
    bad = count // 100
    assert (found["rows"], found["rejected"], found["good"]) == (count, bad, count - bad)
    small, large = found["peaks"]
    # 8 bytes of hash per row, three times while they are sorted, and the findings by series; batches being read or
    # written meanwhile are in both
    allowed = 40 * count + 48_000_000
    assert large - small < allowed, f"{large - small:,} bytes more for {count:,} rows"
    assert large < 1_000_000_000


def _written(kind: str, size: str, frame: pl.DataFrame, folder: Path) -> str:
    """Write rows to a file, and return its name."""
    name = {"stdin": f"stdin-{size}", "zst in zip": f"{size}.zip"}.get(kind, f"{size}.{kind}")
    file = folder / name
    if kind == "parquet":
        frame.write_parquet(file, row_group_size=20_000)
    elif kind == "arrow":
        frame.write_ipc(file, compression="lz4", record_batch_size=20_000)
    elif kind == "arrows":
        with pa.ipc.new_stream(
            str(file), frame.to_arrow().schema, options=pa.ipc.IpcWriteOptions(compression="lz4")
        ) as made:
            made.write_table(frame.to_arrow(), max_chunksize=20_000)
    elif kind == "edi":
        file.write_text(_EDI_BEFORE)
        with file.open("a") as opened:
            opened.writelines(
                f"ARR++{id_}:2001:602:{value}'\n" for id_, value in frame.select("ID", "OBS_VALUE").iter_rows()
            )
            opened.write("UNT+1+M1'\nUNZ+1+I1'\n")
    elif kind in {"csv", "stdin"}:
        frame.write_csv(file)
    else:
        packed = bytes(cramjam.zstd.compress(frame.write_csv().encode()))
        if kind == "csv.zst":
            file.write_bytes(packed)
        else:
            with zipfile.ZipFile(file, "w") as archive:
                archive.writestr("data.csv.zst", packed)
    return name


@pytest.mark.long
@on_linux
def test_workbooks_are_read_in_batches(tmp_path: Path) -> None:
    """A workbook of 200,000 rows takes little more memory than one of a quarter of its size, beyond its texts."""
    peaks = {}
    for name, count in (("small", 50_000), ("large", 200_000)):
        with xlsxwriter.Workbook(tmp_path / f"{name}.xlsx", {"constant_memory": True}) as book:
            sheet = book.add_worksheet()
            sheet.write_row(0, 0, ["ID", "OBS_VALUE", "NOTE"])
            for number in range(count):
                sheet.write_row(number + 1, 0, [number, 1.5, "a note of some length"])
        peaks[name] = validated(tmp_path, "1000000", "10000", f"{name}.xlsx")["peaks"][0]
    assert peaks["large"] - peaks["small"] < 30_000_000
