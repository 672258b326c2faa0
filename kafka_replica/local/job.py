"""The engine ``local``: data from files to files with polars, in this process."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from kafka_replica.datasets.messages import read_data_message
from kafka_replica.errors import DatasetError, UsageError
from kafka_replica.jobs.job import ERRORS_TEXT, GOOD, REJECTED, Outcome, Step, ValidationJob
from kafka_replica.jobs.sources import Source
from kafka_replica.local.datasets import read_sdmx_csv, rows_of, structures_in, write_sdmx_csv
from kafka_replica.local.reports import report
from kafka_replica.local.validation import split, validate
from kafka_replica.rules.model import ERRORS


class LocalEngine:
    """Polars."""

    def validate(self, job: ValidationJob, step: Step) -> Outcome:
        """Validates data and writes good and rejected rows, a file each.

        Raises:
            KafkaReplicaError: a file cannot be read, or no row is of the structure.
        """
        step("reading data")
        frame = read_sources(job)
        step("picking rows")
        mine = rows_of(frame, job.rules)
        if frame.height and not mine.height:
            raise no_rows(job, structures_in(frame))
        step(f"validating {mine.height:,} rows")
        checked = validate(mine, job.rules)
        good, bad = split(checked)
        step("writing")
        _write(good, job, GOOD)
        _write(bad, job, REJECTED)
        step("reporting")
        return Outcome(report(checked, job.rules), good.height, bad.height, frame.height - mine.height)


def no_rows(job: ValidationJob, found: object) -> DatasetError:
    """No row is of the structure that was asked for."""
    said = ", ".join(str(urn) for urn in found) if isinstance(found, tuple) else str(found)
    return DatasetError(f"validating against {job.rules.artefact}: no row is of it; the rows say they are of {said}")


def read_sources(job: ValidationJob) -> pl.DataFrame:
    """All the data in one frame; what a file lacks is NULL.

    Raises:
        DatasetError: a file cannot be read, or files have columns of different kinds.
    """
    frames = [_read(source, job) for source in job.sources]
    try:
        return pl.concat(frames, how="diagonal_relaxed")
    except pl.exceptions.PolarsError as error:
        raise DatasetError(f"reading {len(frames)} files into one frame: {error}") from error


def _read(source: Source, job: ValidationJob) -> pl.DataFrame:
    if "://" in source.path:
        raise UsageError(f"reading {source.path}: only Spark can; say --engine spark")
    if source.kind == "sdmx-csv":
        return read_sdmx_csv(source.path, rules=job.rules, decimal=job.decimal, encoding=job.encoding)
    if source.kind == "message":
        return pl.DataFrame(read_data_message(source.path), infer_schema_length=None)
    try:
        if source.kind == "parquet":
            return pl.read_parquet(source.path)
        frame = pl.read_csv(source.path, infer_schema=False, encoding=job.encoding or "utf8")
    except (pl.exceptions.PolarsError, OSError, LookupError) as error:
        raise DatasetError(f"reading {source.path}: {error}") from error
    return frame.with_columns(pl.when(pl.all() != "").then(pl.all()))


def _write(frame: pl.DataFrame, job: ValidationJob, what: str) -> None:
    path = job.file(what)
    if job.out_format == "csv":
        shown = frame.with_columns(_in_words().alias(ERRORS_TEXT)) if ERRORS in frame.columns else frame
        write_sdmx_csv(shown, path, job.rules)
        return
    try:
        frame.write_parquet(Path(path))
    except OSError as error:
        raise UsageError(f"writing {path}: {error}") from error


def _in_words() -> pl.Expr:
    one = pl.element().struct
    value = pl.when(one.field("value").is_not_null()).then(
        pl.concat_str([pl.lit(" ("), one.field("value"), pl.lit(")")])
    )
    words = pl.concat_str(
        [one.field("severity"), pl.lit(" "), one.field("rule"), pl.lit(": "), one.field("message"), value.fill_null("")]
    )
    return pl.col(ERRORS).list.eval(words).list.join(" | ")
