"""All rows of a job at once."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from kafka_replica.data.jobs import ValidationJob
from kafka_replica.data.polars.job_input import JobInput
from kafka_replica.data.polars.source_rows import BatchSize
from kafka_replica.sdmx import Urn


def whole_input(job: ValidationJob, size: BatchSize | None = None) -> tuple[pl.DataFrame, pl.DataFrame, dict[Urn, int]]:
    """Return the rows of the job's structure, the locations of all rows, and the numbers of other rows."""
    with TemporaryDirectory() as folder:
        data = JobInput(job, lambda _: None, Path(folder), size)
        batches = list(data.batches("reading"))
    frame = pl.concat([data.empty_frame, *(batch.frame for batch in batches)])
    locations = [batch.locations for batch in batches]
    return frame, pl.concat(locations) if locations else pl.DataFrame(), data.others
