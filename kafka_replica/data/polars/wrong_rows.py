"""Rows with more or fewer cells than the header of their file: they are rejected with a finding."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from kafka_replica.common.wording import counted
from kafka_replica.data.errors import DatasetError
from kafka_replica.data.jobs.job import Job
from kafka_replica.data.polars.datasets.records import WrongRow
from kafka_replica.data.polars.inputs import AT, Batch
from kafka_replica.data.polars.validation import ERRORS_TYPE
from kafka_replica.data.validation.catalogue import CELL_COUNT
from kafka_replica.data.validation.model import ERRORS


def with_wrong_rows(rows: pl.DataFrame, batch: Batch, job: Job) -> pl.DataFrame:
    """Add the wrong rows of a batch to other rows with errors, in order; they have only their position and error."""
    if not batch.wrong:
        return rows
    return pl.concat([rows, _wrong(batch, job)], how="diagonal").sort(AT, maintain_order=True)


def _wrong(batch: Batch, job: Job) -> pl.DataFrame:
    severity = job.rules.severity(CELL_COUNT)
    width = 0 if batch.csv is None else len(batch.csv.layout.header)
    if severity is None:
        _refuse(batch.wrong, width, job)
    errors = [[_finding(row, width, severity or "", job)] for row in batch.wrong.values()]
    return pl.DataFrame(
        {AT: list(batch.wrong), ERRORS: errors}, schema={AT: pl.UInt32(), ERRORS: ERRORS_TYPE}
    )  # fmt: skip


def _finding(row: WrongRow, width: int, severity: str, job: Job) -> dict[str, str | None]:
    return {
        "rule": CELL_COUNT, "component": None, "value": row.text,
        "message": f"the row has {counted(row.cells, 'cell')}, the header {width}",
        "severity": severity, "artefact": str(job.rules.structure),
    }  # fmt: skip


def _refuse(wrong: Mapping[int, WrongRow], width: int, job: Job) -> None:
    for row in wrong.values():
        raise DatasetError(
            f"reading data of {job.rules.artefact}: line {row.line} has {counted(row.cells, 'cell')}, the header "
            f"{width}; the rule {CELL_COUNT}, which would reject the row, is off"
        )
