"""The results of jobs on the local engine, for comparison of batches of different sizes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl

from kafka_replica.data.jobs import MappingJob, ValidationJob
from kafka_replica.data.polars.job import LocalEngine
from kafka_replica.data.polars.source_rows import BatchSize
from kafka_replica.errors import KafkaReplicaError

WHOLE = BatchSize(bytes=1 << 30, rows=1 << 30)


def results(job: ValidationJob | MappingJob, size: BatchSize) -> dict[str, Any]:
    """Return the content of all files that a job writes, its report and its numbers of rows; or its error."""
    job.out.mkdir(parents=True)
    local = LocalEngine(size)
    try:
        done = local.map(job, _ignore) if isinstance(job, MappingJob) else local.validate(job, _ignore)
    except KafkaReplicaError as error:
        assert not list(job.out.glob(".*")), "temporary files are left"
        return {"error": f"{type(error).__name__} {error}"}
    found: dict[str, Any] = {path.name: _content(path) for path in sorted(job.out.iterdir())}
    return found | {"outcome": json.dumps(done.as_json(), indent=1).splitlines()}


def _content(path: Path) -> Any:
    if path.suffix == ".parquet":
        frame = pl.read_parquet(path)
        return frame.schema, repr(frame.to_dicts())  # NaN equals nothing
    return re.sub(rb'"time": "[^"]*"', b"", path.read_bytes()).split(b"\n")


def _ignore(_progress: object) -> None:
    pass
