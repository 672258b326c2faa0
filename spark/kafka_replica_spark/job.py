"""The engine ``spark``, which processes data from files to folders in a local session or that of ``spark-submit``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark.errors import PySparkTypeError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.utils import is_remote

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.jobs.job import (
    BETWEEN_ERRORS,
    ERRORS_TEXT,
    GOOD,
    REJECTED,
    Job,
    MappingJob,
    Outcome,
    ValidationJob,
    error_column_of,
    error_in_words,
    note_adder,
)
from kafka_replica.data.jobs.progress import Progress, ProgressCallback
from kafka_replica.data.jobs.sources import Source
from kafka_replica.data.mapping.model import SOURCE as MAPPED_SOURCE
from kafka_replica.data.validation import ERRORS, Report, Rules
from kafka_replica.errors import ConfigurationError
from kafka_replica.sdmx import Urn
from kafka_replica_spark.arrow_files import read_arrow
from kafka_replica_spark.datasets import write_sdmx_csv
from kafka_replica_spark.datasets.reading import plain_csv_rows, sdmx_csv_rows
from kafka_replica_spark.datasets.rows import split_by_structure
from kafka_replica_spark.finding_files import check_extension, write_findings
from kafka_replica_spark.finding_tables import finding_table, write_ess_report
from kafka_replica_spark.java_process import JavaProcess
from kafka_replica_spark.locations import (
    AT,
    SOURCE_ROW,
    with_location,
    with_location_of_parquet,
    with_location_of_text,
    with_source_row,
    without_locations,
)
from kafka_replica_spark.mapping import transform
from kafka_replica_spark.mapping.engine import SparkEngine as Expressions
from kafka_replica_spark.message_blocks import read_message
from kafka_replica_spark.message_tables import BATCH_ROWS
from kafka_replica_spark.patterns import pattern_of
from kafka_replica_spark.rejected import RejectedLayout, common_layout, rejected_layout, write_rejected
from kafka_replica_spark.reports import job_report, report
from kafka_replica_spark.rows import named_column
from kafka_replica_spark.sessions import session
from kafka_replica_spark.shared_folders import check_shared
from kafka_replica_spark.unions import union_of
from kafka_replica_spark.validation import split, validate

_FILE: Final = re.compile(r"while reading file (?P<path>\S+)\.\s")
_REFUSED: Final = re.compile(r"\[USER_RAISED_EXCEPTION\] (?P<reason>(?:reading|writing) .*?)\s+SQLSTATE", re.DOTALL)
"""The message of an error that an expression of this package raises with ``raise_error``."""

_HELD: Final = "the rows of this file are held in the memory of Spark's driver; write large data as Parquet"
_MOST_IN_MEMORY: Final = 100_000
"""The maximum number of findings that Spark selects in memory."""


@contextmanager
def _row_errors_translated() -> Iterator[None]:
    """Translate Spark's error about a row that it cannot read or write to an error in the data.

    Raises:
        DatasetError: a row has more or fewer cells than the header, or a file has another header.
    """
    try:
        yield
    except Exception as error:  # includes the errors of Py4J, which clients of Spark Connect need not have
        text = str(error)
        refused = _REFUSED.search(text)
        if refused is not None:
            raise DatasetError(refused["reason"]) from error
        if "MALFORMED_RECORD" not in text:
            raise
        file = _FILE.search(text)
        raise DatasetError(
            f"reading {'data' if file is None else file['path']}: a row has more or fewer cells than the first; if "
            "cells contain line breaks, use --line-breaks (line_breaks=True); otherwise, --engine local names the line"
        ) from error


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    """Return a folder for temporary files, which are removed at the end."""
    with TemporaryDirectory(prefix="kafka-replica-") as folder:
        yield Path(folder)


class _Data(NamedTuple):
    """The data of a job.

    Attributes:
        all: all rows as they were read.
        mine: the rows that belong to the job's structure.
        others: the number of other rows, by the structure that they name.
        notes: the remarks in data messages.
        layout: the layout of rejected rows; None if they are written as SDMX-CSV.
    """

    all: DataFrame
    mine: DataFrame
    others: dict[Urn, int]
    notes: tuple[str, ...]
    layout: RejectedLayout | None


class _SourceRows(NamedTuple):
    """The rows of a source or of all sources, and the layout of rejected rows; None if they are written as SDMX-CSV."""

    rows: DataFrame
    layout: RejectedLayout | None = None


class _Checked(NamedTuple):
    """The result of validating or mapping data.

    Attributes:
        all: all rows, which are cached.
        good: the good rows.
        bad: the rejected rows, as they were read.
        found: the rows as they were read, at least those with findings.
        report: returns the report.
        has_several: whether a row that was read may have become several rows.
    """

    all: DataFrame
    good: DataFrame
    bad: DataFrame
    found: DataFrame
    report: Callable[[], Report]
    has_several: bool = False


class SparkEngine:
    """The engine that runs jobs on Spark."""

    def __init__(self) -> None:
        self._spark = SparkSession.getActiveSession() or _session()
        self._java = JavaProcess(self._spark)

    @property
    def writes_here(self) -> bool:
        """True if a path without a scheme is a file that this process can access."""
        if is_remote():
            return False
        context: Any = self._spark.sparkContext
        hadoop = context._jsc.hadoopConfiguration()  # noqa: SLF001 - Python has no name for it
        return str(hadoop.get("fs.defaultFS", "file:///")).startswith("file:")

    @property
    def _runs_here(self) -> bool:
        """True if all executors run on this machine."""
        return not is_remote() and str(self._spark.sparkContext.master).startswith("local")

    def validate(self, job: ValidationJob, step: ProgressCallback) -> Outcome:
        """Validate data, and write good and rejected rows to separate folders.

        Raises:
            KafkaReplicaError: data cannot be read, or no row belongs to the structure.
            EngineEndedError: Spark's Java process ended.
            PySparkException: Spark failed.
        """
        with self._java.watched(f"validating {job.files}"), _row_errors_translated(), _temporary_folder() as folder:
            data = self._data(job, step, folder)
            step(Progress("validating and writing"))
            checked = validate(data.mine, job.rules)
            parts = split(checked)
            made = _Checked(checked, parts.good, parts.bad, checked, lambda: report(checked, job.rules))
            return self._written(job, job.rules, made, data)

    def map(self, job: MappingJob, step: ProgressCallback) -> Outcome:
        """Map data, and write mapped rows and unchanged rejected rows to separate folders.

        Raises:
            KafkaReplicaError: data cannot be read, or no row belongs to the source.
            EngineEndedError: Spark's Java process ended.
            PySparkException: Spark failed.
        """
        with self._java.watched(f"mapping {job.files}"), _row_errors_translated(), _temporary_folder() as folder:
            data = self._data(job, step, folder)
            step(Progress("mapping and writing"))
            mapped = transform(with_source_row(data.mine), job.plan)
            parts = split(mapped)
            bad, found = parts.bad, mapped.filter(F.col(ERRORS).isNotNull()).select(f"{MAPPED_SOURCE}.*", ERRORS)
            has_several = any(value_map.several for value_map in job.plan.values)
            if has_several:
                bad, found = _distinct_rows(bad), _distinct_rows(found)

            def made() -> Report:
                rows = mapped.select(SOURCE_ROW).distinct().count() if has_several else mapped.count()
                return job_report(found, rows, job.plan, job.rules)

            return self._written(job, job.target, _Checked(mapped, parts.good, bad, found, made, has_several), data)

    def _data(self, job: Job, step: ProgressCallback, folder: Path) -> _Data:
        if job.findings is not None:
            check_extension(job.findings)
        step(Progress("reading data"))
        notes: list[str] = []
        df, layout = self._read(job, notes, folder)
        step(Progress("picking rows"))
        mine, others = split_by_structure(df, job.rules, job.usages, job.files)
        if others and mine.isEmpty():
            raise job.wrong_structure(others)
        return _Data(df, mine, others, tuple(notes), layout if job.keeps_layout else None)

    def _written(self, job: Job, good_rules: Rules, checked: _Checked, data: _Data) -> Outcome:
        if self.writes_here and not self._runs_here:
            check_shared(self._spark, job.out)
        try:
            _write(without_locations(checked.good), job, GOOD, good_rules)
            _write(without_locations(checked.bad), job, REJECTED, job.rules, data.layout)
            made, rejected = checked.report(), checked.bad.count()
            good = checked.good.count() if checked.has_several else made.rows - rejected
            listed = _write_lists(job, checked.found, data.all, made, writes_here=self.writes_here and self._runs_here)
        finally:
            checked.all.unpersist()
        return Outcome(made, good, rejected, data.others, listed, job.switched_off, data.notes)

    def _read(self, job: Job, notes: list[str], folder: Path) -> _SourceRows:
        every = [self._read_one(number, source, job, notes, folder) for number, source in enumerate(job.sources)]
        rows = union_of([one.rows for one in every], job.files)
        return _SourceRows(rows, common_layout([one.layout for one in every]))

    def _read_one(self, number: int, source: Source, job: Job, notes: list[str], folder: Path) -> _SourceRows:
        """Return the rows of a source, without the column in which an earlier run described errors."""
        error_column = error_column_of(source, job.rules)
        if source.kind in {"sdmx-csv", "csv"}:
            df, layout = self._csv_rows(number, source, job, error_column)
        else:
            df, layout = self._rows(number, source, job, notes, folder), None
        df = df if error_column is None else df.drop(error_column)
        return _SourceRows(df if _lists_findings(job) else without_locations(df), layout)

    def _rows(self, number: int, source: Source, job: Job, notes: list[str], folder: Path) -> DataFrame:
        """Return the rows of a source that is not CSV, with their locations."""
        note = note_adder(job, source, notes)
        if source.kind == "message":
            file = folder / f"{number}.parquet" if self._runs_here else None
            rows = read_message(self._spark, source, job.rules, job.usages, note, file)
            return with_location(rows, number, source.path)
        if source.kind == "xlsx":
            raise ConfigurationError(
                f"reading {source.path}: Spark cannot read workbooks; use the engine local (--engine local)"
            )
        if source.kind == "arrow":
            return with_location(self._arrow_rows(source, note), number, source.path)
        _refuse_packed(source)
        return with_location_of_parquet(self._spark.read.parquet(_readable(source.path)), number, source.path)

    def _arrow_rows(self, source: Source, note: Callable[[str], object]) -> DataFrame:
        table = read_arrow(source)
        if table.num_rows > BATCH_ROWS:
            note(_HELD)
        numbers = pa.array(range(1, table.num_rows + 1), pa.int64())
        try:
            return self._spark.createDataFrame(table.append_column(AT, numbers))
        except PySparkTypeError as error:
            raise DatasetError(f"reading {source.path}: Spark has no type for one of its columns: {error}") from error

    def _csv_rows(self, number: int, source: Source, job: Job, error_column: str | None) -> _SourceRows:
        _refuse_packed(source)
        encoding = source.encoding or job.encoding or "UTF-8"
        read = sdmx_csv_rows if source.kind == "sdmx-csv" else plain_csv_rows
        rows, layout = read(
            self._spark, _readable(source.path), rules=job.rules, decimal=job.decimal, encoding=encoding,
            line_breaks=job.line_breaks, shown=source.path,
        )  # fmt: skip
        kept = rejected_layout(layout, encoding, job.decimal, error_column)
        return _SourceRows(with_location_of_text(rows, number, source.path), kept)


def _distinct_rows(df: DataFrame) -> DataFrame:
    """Return each source row once, with its distinct errors; a row that maps to several rows occurs several times."""
    others = [named_column(name) for name in df.columns if name not in {SOURCE_ROW, ERRORS}]
    errors = F.array_distinct(F.flatten(F.collect_list(ERRORS)))
    rows = df.groupBy(SOURCE_ROW).agg(F.first(F.struct(*others)).alias("row"), errors.alias(ERRORS))
    return rows.orderBy(SOURCE_ROW).select("row.*", SOURCE_ROW, ERRORS)


def _readable(path: str) -> str:
    """Return the path with which Spark reads a source; only URLs may be patterns."""
    return path if "://" in path else pattern_of(path)


def _refuse_packed(source: Source) -> None:
    if source.is_packed and (source.kind == "parquet" or not source.path.lower().endswith(".gz")):
        raise ConfigurationError(
            f"reading {source.path}: Spark cannot read archives, zstd or standard input; decompress it, or "
            "choose the engine local (--engine local)"
        )


def _session() -> SparkSession:
    """Return the session of spark-submit or of a Spark Connect server if one is configured, else a local session."""
    if "SPARK_REMOTE" in os.environ or "PYSPARK_GATEWAY_PORT" in os.environ:
        return SparkSession.Builder().appName("kafka-replica").getOrCreate()
    # Spark's log is silenced, because the command itself reports the error that ends the job.
    level = "ERROR" if "KAFKA_REPLICA_DEBUG" in os.environ else "FATAL"
    return session("kafka-replica", "local[*]", **{"spark.log.level": level})


def _lists_findings(job: Job) -> bool:
    return job.findings is not None or bool(job.ess_reports)


def _write_lists(job: Job, checked: DataFrame, data: DataFrame, made: Report, *, writes_here: bool) -> int | None:
    """Write the files with all findings that the job requests.

    Returns the number of findings in the table of findings; None if no table is requested.
    """
    if not _lists_findings(job):
        return None
    table = finding_table(
        checked, data, job.rules, made.dataset, names_files=job.names_files, file_of_dataset=job.file_of_dataset
    )
    most = job.max_findings
    # Spark keeps all rows of a limit in memory, even a million; for more rows, the sorted table is cut while writing.
    first = table if most is None or most > _MOST_IN_MEMORY else table.limit(most)
    for path in job.ess_reports:
        write_ess_report(path, first, made, None if isinstance(job, MappingJob) else job.rules, most=most)
    if job.findings is None:
        return None
    write_findings(first, job.findings, writes_here=writes_here, most=most)
    total = sum(made.counts.values()) + len(made.dataset)
    return total if most is None else min(total, most)


def _write(df: DataFrame, job: Job, what: str, rules: Rules, layout: RejectedLayout | None = None) -> None:
    path = str(job.file(what))
    if job.out_format == "parquet":
        df.write.parquet(path, mode="overwrite")
        return
    shown = df.withColumn(ERRORS_TEXT, _errors_text(df)) if ERRORS in df.columns else df
    if layout is not None:
        write_rejected(shown, path, layout)
        return
    write_sdmx_csv(
        shown, path, rules, action=rules.action, time_format=job.time_format_of(what), mode="overwrite"
    )  # fmt: skip


def _errors_text(df: DataFrame) -> Column:
    engine = Expressions(df)
    words = F.transform(F.col(ERRORS), lambda one: error_in_words(engine, one.__getitem__))
    return F.array_join(words, BETWEEN_ERRORS)
