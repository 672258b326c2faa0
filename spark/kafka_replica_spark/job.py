"""The engine ``spark``: data from files to folders, in a local session or the one that ``spark-submit`` made."""

from __future__ import annotations

import os
from functools import reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica.datasets.messages import read_data_message
from kafka_replica.errors import DatasetError
from kafka_replica.jobs.job import ERRORS_TEXT, GOOD, REJECTED, Outcome, Step, ValidationJob
from kafka_replica.jobs.sources import Source
from kafka_replica.rules.model import ERRORS
from kafka_replica_spark.datasets import read_sdmx_csv, rows_of, structures_in, write_sdmx_csv
from kafka_replica_spark.reports import report
from kafka_replica_spark.rows import quoted
from kafka_replica_spark.sessions import session
from kafka_replica_spark.validation import split, validate


class SparkEngine:
    """Spark."""

    def __init__(self) -> None:
        self._spark = SparkSession.getActiveSession() or _session()

    def validate(self, job: ValidationJob, step: Step) -> Outcome:
        """Validates data and writes good and rejected rows, a folder each.

        Raises:
            KafkaReplicaError: no row is of the structure, or a first line is wrong.
            PySparkException: Spark could not do it.
        """
        step("reading data")
        df = self._read(job)
        step("picking rows")
        mine = rows_of(df, job.rules)
        step("validating and writing")
        checked = validate(mine, job.rules)
        parts = split(checked)
        try:
            _write(parts.good, job, GOOD)
            _write(parts.bad, job, REJECTED)
            step("reporting")
            found = report(checked, job.rules)
            rejected = parts.bad.count()
        finally:
            checked.unpersist()
        others = 0 if mine is df else df.count() - found.rows
        if others and not found.rows:
            said = ", ".join(map(str, structures_in(df)))
            raise DatasetError(
                f"validating against {job.rules.artefact}: no row is of it; the rows say they are of {said}"
            )
        return Outcome(found, found.rows - rejected, rejected, others)

    def _read(self, job: ValidationJob) -> DataFrame:
        frames = [self._read_one(source, job) for source in job.sources]
        return reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), frames)

    def _read_one(self, source: Source, job: ValidationJob) -> DataFrame:
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


def _write(df: DataFrame, job: ValidationJob, what: str) -> None:
    path = str(job.file(what))
    if job.out_format == "parquet":
        df.write.parquet(path, mode="overwrite")
        return
    shown = df.withColumn(ERRORS_TEXT, _in_words()) if ERRORS in df.columns else df
    write_sdmx_csv(shown, path, job.rules, mode="overwrite")


def _in_words() -> Column:
    def words(one: Column) -> Column:
        value = F.coalesce(F.concat(F.lit(" ("), one["value"], F.lit(")")), F.lit(""))
        return F.concat(one["severity"], F.lit(" "), one["rule"], F.lit(": "), one["message"], value)

    return F.array_join(F.transform(F.col(ERRORS), words), " | ")
