"""The engine ``local``, which processes data from files to files with polars, in this process."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl

from kafka_replica.common.wording import counted, reason_of
from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages import read_message_columns
from kafka_replica.data.jobs.job import (
    BETWEEN_ERRORS,
    ERRORS_TEXT,
    GOOD,
    REJECTED,
    Job,
    MappingJob,
    Outcome,
    Step,
    ValidationJob,
    in_words,
    verdict_of,
)
from kafka_replica.data.jobs.sources import Source
from kafka_replica.data.polars.datasets import write_sdmx_csv
from kafka_replica.data.polars.datasets.reading import read_one_sdmx_csv, read_plain_csv
from kafka_replica.data.polars.datasets.rows import parted
from kafka_replica.data.polars.mapping import transform
from kafka_replica.data.polars.mapping.engine import PolarsEngine
from kafka_replica.data.polars.reports import map_report, report
from kafka_replica.data.polars.validation import split, validate
from kafka_replica.data.validation import ERRORS, Rules
from kafka_replica.errors import ConfigurationError, UsageError
from kafka_replica.sdmx import Urn


class LocalEngine:
    """The engine that uses polars."""

    writes_here = True

    def validate(self, job: ValidationJob, step: Step) -> Outcome:
        """Validate data, and write good and rejected rows to a file each.

        Raises:
            KafkaReplicaError: a file cannot be read, or no row belongs to the structure.
        """
        mine, others = _mine(job, step)
        step(f"validating {counted(mine.height, 'row')}")
        checked = validate(mine, job.rules)
        good, bad = split(checked)
        step("writing")
        _write(good, job, GOOD, job.rules)
        _write(bad, job, REJECTED, job.rules)
        step("reporting")
        return Outcome(report(checked, job.rules), good.height, bad.height, others)

    def map(self, job: MappingJob, step: Step) -> Outcome:
        """Map data, and write mapped rows, and rejected rows unchanged, to a file each.

        Raises:
            KafkaReplicaError: a file cannot be read, or no row belongs to the source.
        """
        mine, others = _mine(job, step)
        step(f"mapping {counted(mine.height, 'row')}")
        mapped = transform(mine, job.plan)
        good, bad = split(mapped)
        step("writing")
        _write(good, job, GOOD, job.target)
        _write(bad, job, REJECTED, job.rules)
        return Outcome(map_report(mapped, job.plan), good.height, bad.height, others)


def _mine(job: Job, step: Step) -> tuple[pl.DataFrame, dict[Urn, int]]:
    """Return the rows that belong to the job's structure, and the number of other rows."""
    step("reading data")
    mine, others = parted(_read_all(job), job.rules, job.usages)
    if others and not mine.height:
        raise job.none_meant(others)
    return mine, others


def _read_all(job: Job) -> pl.DataFrame:
    """Return all the data in one frame; columns that a file lacks are NULL.

    Raises:
        DatasetError: a file cannot be read, or files have columns of different kinds.
    """
    frames = [_read(source, job) for source in job.sources]
    try:
        return pl.concat(frames, how="diagonal_relaxed")
    except pl.exceptions.PolarsError as error:
        raise DatasetError(f"reading {counted(len(frames), 'file')} into one frame: {error}") from error


def _read(source: Source, job: Job) -> pl.DataFrame:
    """Return the rows of a file, without the errors that an earlier run has written."""
    if "://" in source.path:
        raise ConfigurationError(f"reading {source.path}: only Spark can; choose the engine spark (--engine spark)")
    verdict = verdict_of(source, job.rules)
    return _rows(source, job).drop([] if verdict is None else [verdict], strict=False)


def _rows(source: Source, job: Job) -> pl.DataFrame:
    path, rules, content = Path(source.path), job.rules, source.content
    if source.kind in {"csv", "sdmx-csv"}:
        read = read_one_sdmx_csv if source.kind == "sdmx-csv" else read_plain_csv
        return read(path, rules=rules, decimal=job.decimal, encoding=job.encoding, content=content)
    if source.kind == "message":
        return pl.DataFrame(
            read_message_columns(source.path, rules, job.usages, content=content), infer_schema_length=None
        )
    try:
        return pl.read_parquet(io.BytesIO(source.read()) if source.is_packed else source.path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DatasetError(f"reading {source.path}: {error}") from error


def _write(frame: pl.DataFrame, job: Job, what: str, rules: Rules) -> None:
    path = job.file(what)
    if job.out_format == "csv":
        words = in_words(PolarsEngine(frame), pl.element().struct.field)
        told = pl.col(ERRORS).list.eval(words).list.join(BETWEEN_ERRORS).alias(ERRORS_TEXT)
        shown = frame.with_columns(told) if ERRORS in frame.columns else frame
        write_sdmx_csv(shown, path, rules, time_format=job.time_format_of(what))
        return
    try:
        frame.write_parquet(Path(path))
    except OSError as error:
        raise UsageError(f"writing {path}: {reason_of(error)}") from error
