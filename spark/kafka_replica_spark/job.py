"""The engine ``spark``: data from files to folders, in a local session or the session of ``spark-submit``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from typing import Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.utils import is_remote

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages import read_data_message
from kafka_replica.data.jobs.job import (
    BETWEEN_ERRORS,
    ERRORS_TEXT,
    GOOD,
    REJECTED,
    Job,
    MappingJob,
    Outcome,
    ValidationJob,
    in_words,
    verdict_of,
)
from kafka_replica.data.jobs.progress import Progress, Step
from kafka_replica.data.jobs.sources import Source
from kafka_replica.data.validation import ERRORS, Report, Rules
from kafka_replica.errors import ConfigurationError
from kafka_replica.sdmx import Urn
from kafka_replica_spark.arrow_files import read_arrow
from kafka_replica_spark.datasets import read_sdmx_csv, write_sdmx_csv
from kafka_replica_spark.datasets.reading import read_plain_csv
from kafka_replica_spark.datasets.rows import parted
from kafka_replica_spark.mapping import transform
from kafka_replica_spark.mapping.engine import SparkEngine as Expressions
from kafka_replica_spark.reports import map_report, report
from kafka_replica_spark.rows import quoted
from kafka_replica_spark.sessions import session
from kafka_replica_spark.validation import split, validate

_FILE: Final = re.compile(r"while reading file (?P<path>\S+)\.\s")
_REFUSED: Final = re.compile(r"\[USER_RAISED_EXCEPTION\] (?P<said>(?:reading|writing) .*?)\s+SQLSTATE", re.DOTALL)
"""An error raised by this package's own expressions; see ``raise_error``."""


@contextmanager
def _in_words_of_ours() -> Iterator[None]:
    """Report a row that Spark cannot read as an error in the data, not as a failure of Spark.

    Raises:
        DatasetError: a row is longer or shorter than the header, or the file has another header.
    """
    try:
        yield
    except Exception as error:  # also errors of py4j, which clients of Spark Connect need not have
        text = str(error)
        refused = _REFUSED.search(text)
        if refused is not None:
            raise DatasetError(refused["said"]) from error
        if "MALFORMED_RECORD" not in text:
            raise
        file = _FILE.search(text)
        raise DatasetError(
            f"reading {'data' if file is None else file['path']}: a row has more or fewer cells than the first; if "
            "cells contain line breaks, use --line-breaks (line_breaks=True); otherwise, --engine local names the line"
        ) from error


class SparkEngine:
    """The engine that runs jobs on Spark."""

    def __init__(self) -> None:
        self._spark = SparkSession.getActiveSession() or _session()

    @property
    def writes_here(self) -> bool:
        """True if a path without a scheme is a file that this process can access."""
        if is_remote():
            return False
        hadoop = self._spark.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001 - Python has no name for it
        return str(hadoop.get("fs.defaultFS", "file:///")).startswith("file:")

    @_in_words_of_ours()
    def validate(self, job: ValidationJob, step: Step) -> Outcome:
        """Validate data and write good and rejected rows, a folder each.

        Raises:
            KafkaReplicaError: no row is of the structure, or a line is wrong.
            PySparkException: Spark could not do it.
        """
        mine, others = self._mine(job, step)
        step(Progress("validating and writing"))
        checked = validate(mine, job.rules)
        return self._written(job, job.rules, checked, lambda: report(checked, job.rules), others)

    @_in_words_of_ours()
    def map(self, job: MappingJob, step: Step) -> Outcome:
        """Map data and write mapped rows, and rejected rows unchanged, a folder each.

        Raises:
            KafkaReplicaError: no row is of the source, or a line is wrong.
            PySparkException: Spark could not do it.
        """
        mine, others = self._mine(job, step)
        step(Progress("mapping and writing"))
        mapped = transform(mine, job.plan)
        return self._written(job, job.target, mapped, lambda: map_report(mapped, job.plan), others)

    def _mine(self, job: Job, step: Step) -> tuple[DataFrame, dict[Urn, int]]:
        """Return the rows of the job's structure, and the numbers of other rows."""
        if job.findings is not None or job.ess_reports:
            raise ConfigurationError(
                "listing all findings in a file: Spark provides no locations; use the engine local, or write --format "
                "parquet, where _errors lists the findings of each row"
            )
        step(Progress("reading data"))
        df = self._read(job)
        step(Progress("picking rows"))
        mine, others = parted(df, job.rules, job.usages)
        if others and mine.isEmpty():
            raise job.none_meant(others)
        return mine, others

    def _written(
        self,
        job: Job,
        good_rules: Rules,
        checked: DataFrame,
        found: Callable[[], Report],
        others: dict[Urn, int],
    ) -> Outcome:
        parts = split(checked)
        try:
            _write(parts.good, job, GOOD, good_rules)
            _write(parts.bad, job, REJECTED, job.rules)
            made, rejected = found(), parts.bad.count()
        finally:
            checked.unpersist()
        return Outcome(made, made.rows - rejected, rejected, others, switched_off=job.switched_off)

    def _read(self, job: Job) -> DataFrame:
        frames = [self._read_one(source, job) for source in job.sources]
        return reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), frames)

    def _read_one(self, source: Source, job: Job) -> DataFrame:
        """Return the rows of a source, without the verdict column of an earlier run."""
        verdict = verdict_of(source, job.rules)
        df = self._rows(source, job)
        return df if verdict is None else df.drop(verdict)

    def _rows(self, source: Source, job: Job) -> DataFrame:
        if source.kind == "message":
            rows = read_data_message(source.path, job.rules, job.usages, content=source.content)
            return _with_maps(self._spark.createDataFrame(pa.Table.from_pylist(rows)))
        if source.kind == "xlsx":
            raise ConfigurationError(
                f"reading {source.path}: Spark cannot read workbooks; use the engine local (--engine local)"
            )
        if source.kind == "arrow":
            return self._spark.createDataFrame(read_arrow(source))
        if source.is_packed and (source.kind == "parquet" or not source.path.lower().endswith(".gz")):
            raise ConfigurationError(
                f"reading {source.path}: Spark cannot read archives, zstd or standard input; decompress it, or "
                "choose the engine local (--engine local)"
            )
        if source.kind == "parquet":
            return self._spark.read.parquet(source.path)
        encoding = source.encoding or job.encoding or "UTF-8"
        read = read_sdmx_csv if source.kind == "sdmx-csv" else read_plain_csv
        return read(
            self._spark, source.path, rules=job.rules, decimal=job.decimal, encoding=encoding,
            line_breaks=job.line_breaks,
        )  # fmt: skip


def _session() -> SparkSession:
    """Return the session of spark-submit or of a Spark Connect server if configured, else a local session."""
    if "SPARK_REMOTE" in os.environ or "PYSPARK_GATEWAY_PORT" in os.environ:
        return SparkSession.Builder().appName("kafka-replica").getOrCreate()
    # An error that ends a command is reported once, by the command's last sentence.
    level = "ERROR" if "KAFKA_REPLICA_DEBUG" in os.environ else "FATAL"
    return session("kafka-replica", "local[*]", **{"spark.log.level": level})


def _with_maps(df: DataFrame) -> DataFrame:
    """Convert lists of languages and texts to maps, their form on Spark."""
    listed = [name for name, kind in df.dtypes if kind == "array<struct<language:string,text:string>>"]
    return df.withColumns({name: F.map_from_entries(quoted(name)) for name in listed})


def _write(df: DataFrame, job: Job, what: str, rules: Rules) -> None:
    path = str(job.file(what))
    if job.out_format == "parquet":
        df.write.parquet(path, mode="overwrite")
        return
    shown = df.withColumn(ERRORS_TEXT, _told(df)) if ERRORS in df.columns else df
    write_sdmx_csv(shown, path, rules, time_format=job.time_format_of(what), mode="overwrite")


def _told(df: DataFrame) -> Column:
    engine = Expressions(df)
    words = F.transform(F.col(ERRORS), lambda one: in_words(engine, one.__getitem__))
    return F.array_join(words, BETWEEN_ERRORS)
