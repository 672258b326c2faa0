"""A large CSV file on the local engine, or read by polars alone.

    python -m benchmarks.programs.local_csv write|scan|validate FILE [ROWS]

``write`` makes the file. ``scan`` reads all of its columns as texts into a frame; ``validate`` is the job behind
``kafka-replica validate``, from the file to good and rejected rows and report, without compiling the rules. Each of
them prints its wall and processor time in seconds and the peak of its memory in MB.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

from benchmarks.observations import SIZES, STRUCTURE, snapshot_of, write_rows
from benchmarks.programs.common import tell
from kafka_replica.data.jobs import ValidationJob, engine, sources_of
from kafka_replica.data.validation import compile_rules
from kafka_replica.sdmx import Structures


def _write(file: Path, rows: int) -> None:
    write_rows(file.with_suffix(".parquet"), rows, SIZES)
    pl.scan_parquet(file.with_suffix(".parquet")).sink_csv(file)
    tell(rows=rows, bytes=file.stat().st_size)


def _scan(file: Path) -> None:
    began, cpu = time.perf_counter(), time.process_time()
    rows = pl.read_csv(file, infer_schema=False).height
    _print_result(began, cpu, rows)


def _validate(file: Path) -> None:
    rules = compile_rules(Structures(snapshot_of(SIZES)), STRUCTURE)
    local = engine("local")
    with tempfile.TemporaryDirectory() as out:
        job = ValidationJob(sources=sources_of([str(file)]), rules=rules, out=Path(out))
        began, cpu = time.perf_counter(), time.process_time()
        done = local.validate(job, lambda _progress: None)
        _print_result(began, cpu, done.report.rows, good=done.good_rows, rejected=done.rejected_rows)


def _print_result(began: float, cpu: float, rows: int, **more: int) -> None:
    wall_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    tell(wall=wall_s, cpu=cpu_s, peak_mb=peak_mb, rows=rows, **more)


if __name__ == "__main__":
    if sys.argv[1] == "write":
        _write(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        {"scan": _scan, "validate": _validate}[sys.argv[1]](Path(sys.argv[2]))
