"""The engine ``spark``: data from files to folders, in a local session or the one that ``spark-submit`` made."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.utils import is_remote

from kafka_replica.datasets import belongs_to
from kafka_replica.datasets.messages import read_data_message
from kafka_replica.errors import DatasetError
from kafka_replica.jobs.job import ERRORS_TEXT, GOOD, REJECTED, Job, MappingJob, Outcome, Step, ValidationJob
from kafka_replica.jobs.sources import Source
from kafka_replica.rules import Report, Rules, Sample
from kafka_replica.rules.model import ERRORS, FIELDS, Finding
from kafka_replica.sdmx import Urn
from kafka_replica_spark.datasets import read_sdmx_csv, rows_of, structures_in, write_sdmx_csv
from kafka_replica_spark.mapping import transform
from kafka_replica_spark.reports import report
from kafka_replica_spark.rows import quoted
from kafka_replica_spark.sessions import session
from kafka_replica_spark.validation import split, validate


@dataclass(frozen=True, slots=True)
class _Mine:
    """The rows that are meant, how many others there are, and of what these say they are."""

    df: DataFrame
    other_rows: int
    other_structures: tuple[Urn, ...]


class SparkEngine:
    """Spark."""

    def __init__(self) -> None:
        self._spark = SparkSession.getActiveSession() or _session()

    @property
    def writes_here(self) -> bool:
        """Whether a path without a scheme means a file that this process sees."""
        if is_remote():
            return False
        hadoop = self._spark.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001 - Python has no name for it
        return str(hadoop.get("fs.defaultFS", "file:///")).startswith("file:")

    def validate(self, job: ValidationJob, step: Step) -> Outcome:
        """Validates data and writes good and rejected rows, a folder each.

        Raises:
            KafkaReplicaError: no row is of the structure, or a first line is wrong.
            PySparkException: Spark could not do it.
        """
        mine = self._mine(job, step)
        step("validating and writing")
        checked = validate(mine.df, job.rules)
        return self._written(job, job.rules, checked, lambda: report(checked, job.rules), mine)

    def map(self, job: MappingJob, step: Step) -> Outcome:
        """Maps data and writes mapped rows, and rejected ones as they came, a folder each.

        Raises:
            KafkaReplicaError: no row is of the source, or a first line is wrong.
            PySparkException: Spark could not do it.
        """
        mine = self._mine(job, step)
        step("mapping and writing")
        mapped = transform(mine.df, job.plan)
        return self._written(job, job.target, mapped, lambda: _map_report(mapped, job), mine)

    def _mine(self, job: Job, step: Step) -> _Mine:
        step("reading data")
        df = self._read(job)
        step("picking rows")
        mine = rows_of(df, job.rules, job.usages)
        if mine is df:
            return _Mine(df, 0, ())
        others = tuple(urn for urn in structures_in(df) if not belongs_to(urn, job.rules, job.usages))
        if mine.isEmpty():
            said = ", ".join(map(str, others))
            raise DatasetError(
                f"reading data of {job.rules.artefact}: no row is of it; the rows say they are of {said}"
            )
        return _Mine(mine, df.count() - mine.count(), others)

    def _written(
        self, job: Job, good_rules: Rules, checked: DataFrame, found: Callable[[], Report], mine: _Mine
    ) -> Outcome:
        parts = split(checked)
        try:
            _write(parts.good, job, GOOD, good_rules)
            _write(parts.bad, job, REJECTED, job.rules)
            made, rejected = found(), parts.bad.count()
        finally:
            checked.unpersist()
        return Outcome(made, made.rows - rejected, rejected, mine.other_rows, mine.other_structures)

    def _read(self, job: Job) -> DataFrame:
        frames = [self._read_one(source, job) for source in job.sources]
        return reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), frames)

    def _read_one(self, source: Source, job: Job) -> DataFrame:
        encoding = job.encoding or "UTF-8"
        if source.kind == "sdmx-csv":
            return read_sdmx_csv(self._spark, source.path, rules=job.rules, decimal=job.decimal, encoding=encoding)
        if source.kind == "parquet":
            return self._spark.read.parquet(source.path)
        if source.kind == "message":
            return _with_maps(self._spark.createDataFrame(pa.Table.from_pylist(read_data_message(source.path))))
        return self._spark.read.csv(
            source.path, header=True, quote='"', escape='"', mode="FAILFAST", encoding=encoding, nullValue=""
        )


def _session() -> SparkSession:
    """The one that spark-submit or the address of a Spark Connect server asks for; else a local one."""
    if "SPARK_REMOTE" in os.environ or "PYSPARK_GATEWAY_PORT" in os.environ:
        return SparkSession.Builder().appName("kafka-replica").getOrCreate()
    return session("kafka-replica", "local[*]")


def _with_maps(df: DataFrame) -> DataFrame:
    """Lists of languages and texts as maps, which is what they are on Spark."""
    listed = [name for name, kind in df.dtypes if kind == "array<struct<language:string,text:string>>"]
    return df.withColumns({name: F.map_from_entries(quoted(name)) for name in listed})


def _map_report(mapped: DataFrame, job: MappingJob) -> Report:
    long = mapped.filter(F.col(ERRORS).isNotNull()).select(F.explode(ERRORS).alias("one")).select("one.*")
    by = ["rule", "component", "severity"]
    counts = long.groupBy(*by).count().orderBy(*by).collect()
    totals = mapped.agg(F.count("*"), F.count(ERRORS)).collect()[0]
    some = long.dropDuplicates(["rule", "component"]).orderBy(*by).limit(50).collect()
    return Report(
        artefact=job.plan.artefact,
        version=job.plan.version,
        rows=totals[0],
        bad_rows=totals[1],
        counts={(row["rule"], row["component"], row["severity"]): row["count"] for row in counts},
        by_series={},
        samples=tuple(Sample(None, Finding(*(row[name] for name in FIELDS))) for row in some),
        dataset=(),
        unchecked=job.plan.notes,
    )


def _write(df: DataFrame, job: Job, what: str, rules: Rules) -> None:
    path = str(job.file(what))
    if job.out_format == "parquet":
        df.write.parquet(path, mode="overwrite")
        return
    shown = df.withColumn(ERRORS_TEXT, _in_words()) if ERRORS in df.columns else df
    write_sdmx_csv(shown, path, rules, time_format=job.time_format_of(what), mode="overwrite")


def _in_words() -> Column:
    def words(one: Column) -> Column:
        value = F.coalesce(F.concat(F.lit(" ("), one["value"], F.lit(")")), F.lit(""))
        return F.concat(one["severity"], F.lit(" "), one["rule"], F.lit(": "), one["message"], value)

    return F.array_join(F.transform(F.col(ERRORS), words), " | ")
