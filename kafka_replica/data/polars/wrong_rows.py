"""Reject rows with more or fewer cells than the header of their file, with a finding."""

from __future__ import annotations

from typing import NoReturn

import polars as pl

from kafka_replica.common.wording import counted
from kafka_replica.data.errors import DatasetError
from kafka_replica.data.jobs.job import Job
from kafka_replica.data.polars.job_input import AT, Batch
from kafka_replica.data.polars.validation import ERRORS_TYPE
from kafka_replica.data.validation.catalogue import CELL_COUNT
from kafka_replica.data.validation.model import ERRORS, FIELDS


def with_wrong_rows(rows: pl.DataFrame, wrong: pl.DataFrame | None) -> pl.DataFrame:
    """Return rows with errors and wrong rows together, by position; wrong rows have only their position and error."""
    if wrong is None:
        return rows
    return pl.concat([rows, wrong], how="diagonal").sort(AT, maintain_order=True)


def wrong_rows_of(batch: Batch, job: Job) -> pl.DataFrame | None:
    """Return the position and error of each wrong row of a batch; None if there are no wrong rows.

    Raises:
        DatasetError: there is a wrong row, and the rule that would reject it is switched off.
    """
    if not batch.wrong:
        return None
    severity = job.rules.severity(CELL_COUNT)
    if severity is None:
        _refuse(batch, job)
    rows = batch.wrong.values()
    # Built as columns, because polars needs 10 KB per row for a list of Python dictionaries in each row.
    columns = pl.DataFrame(
        {
            AT: list(batch.wrong), "value": [row.text for row in rows],
            "message": [f"the row has {counted(row.cells, 'cell')}, the header {row.wanted}" for row in rows],
        },
        schema={AT: pl.UInt32(), "value": pl.String(), "message": pl.String()},
    )  # fmt: skip
    constants = {
        "rule": CELL_COUNT, "component": None, "severity": severity, "artefact": str(job.rules.structure),
    }  # fmt: skip
    error = pl.struct(
        pl.lit(constants[name], pl.String).alias(name) if name in constants else pl.col(name) for name in FIELDS
    )
    return columns.select(AT, pl.concat_list(error).cast(ERRORS_TYPE).alias(ERRORS))


def _refuse(batch: Batch, job: Job) -> NoReturn:
    row = next(iter(batch.wrong.values()))
    where = batch.locations["file"][0] or f"data of {job.rules.artefact}"
    raise DatasetError(
        f"reading {where}: line {row.line} has {counted(row.cells, 'cell')}, the header {row.wanted}; the rule "
        f"{CELL_COUNT}, which would reject the row, is off"
    )
