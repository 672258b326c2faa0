"""Checking the observations of a data frame against a data structure, in Spark's own expressions."""

from __future__ import annotations

from collections import Counter
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica import Snapshot
from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Structures, Urn
from kafka_replica_spark.checks import Demand, data_structure, demands
from kafka_replica_spark.frames import CUT, VERSION, cut_json
from kafka_replica_spark.rules import Compiler, Rule, any_of

ERRORS: Final = "_errors"
"""The column that holds what is wrong with a row; NULL where nothing is."""

_ERRORS_TYPE: Final = (
    "array<struct<rule:string,component:string,value:string,message:string,severity:string,artefact:string>>"
)


def validate(df: DataFrame, reference: Urn | str, snapshot: Snapshot, *, stamp: bool = False) -> DataFrame:
    """The frame with a column ``_errors`` that says what is wrong with each row.

    One row is one observation, one column a component, by its id exactly. Other columns are left alone.
    ``_errors`` is NULL for a valid row, else an array of structs ``rule, component, value, message, severity,
    artefact`` (all strings): severity is ``error``, artefact the URN of the codelist or data structure that
    decides. Only Spark's own expressions are used; the data is not touched before an action. Everything looked at is of
    the snapshot's one version.

    The metadata of ``_errors`` in the schema says ``version`` (int), ``cut`` (JSON), ``artefact`` (URN of the
    data structure) and ``unchecked`` (list of strings): demands that these rules cannot check.

    Args:
        df: the observations. Values are compared as text; other types are written as SDMX writes them.
        reference: the URN of a data structure or of a dataflow, or a short reference to one.
        snapshot: the version to validate against.
        stamp: also add the columns ``_version`` (long) and ``_cut`` (string, JSON), constant.

    Raises:
        UsageError: a column that each observation needs is missing or there twice, or one that would be added
            is there already; the reference is of something else.
        ArtefactNotFoundError: the data structure, or a list or concept it refers to, is not in this version.
        SdmxError: one of them cannot be read.
    """
    structures = Structures(snapshot)
    structure = data_structure(structures, reference)
    wanted = demands(structures, structure)
    added = [ERRORS, VERSION, CUT] if stamp else [ERRORS]
    _check_columns(df, str(structure.urn), wanted, added)
    compiler = Compiler(df.sparkSession, str(structure.urn))
    kinds = {field.name: field.dataType for field in df.schema.fields}
    rules = [rule for demand in wanted if demand.id in kinds for rule in compiler.rules(demand, kinds[demand.id])]
    metadata = {
        "version": snapshot.version,
        "cut": cut_json(snapshot),
        "artefact": str(structure.urn),
        "unchecked": compiler.unchecked,
    }
    columns = [F.col("*"), _errors(rules).alias(ERRORS, metadata=metadata)]
    if stamp:
        columns += [F.lit(snapshot.version).cast("bigint").alias(VERSION), F.lit(cut_json(snapshot)).alias(CUT)]
    return df.select(*columns)


def split(validated: DataFrame) -> tuple[DataFrame, DataFrame]:
    """What :func:`validate` gave, parted: the valid rows without ``_errors``, and the others with it.

    Each of the two is computed on its own; ``validated.cache()`` saves doing the work twice.

    Raises:
        UsageError: the frame has no column ``_errors``.
    """
    if ERRORS not in validated.columns:
        raise UsageError(f"splitting a frame into good and bad rows: it has no column {ERRORS}; validate() it first")
    errors = F.col(ERRORS)
    return validated.filter(errors.isNull()).drop(ERRORS), validated.filter(errors.isNotNull())


def _check_columns(df: DataFrame, structure: str, wanted: list[Demand], added: list[str]) -> None:
    # Spark does not tell upper from lower case unless told to, SDMX does.
    folded = Counter(name.lower() for name in df.columns)
    missing = [demand.id for demand in wanted if demand.required and demand.id not in df.columns]
    if missing:
        there = ", ".join(df.columns) or "none"
        raise UsageError(
            f"validating against {structure}: there is no column {', '.join(missing)}, which each observation needs; "
            f"name columns by component ids, exactly (columns: {there})"
        )
    twice = [demand.id for demand in wanted if demand.id in df.columns and folded[demand.id.lower()] > 1]
    if twice:
        raise UsageError(f"validating against {structure}: more than one column is called {', '.join(twice)}")
    taken = [name for name in added if name in folded]
    if taken:
        raise UsageError(
            f"validating against {structure}: the frame has a column {', '.join(taken)} already; drop it first"
        )


def _errors(rules: list[Rule]) -> Column:
    if not rules:
        return F.lit(None).cast(_ERRORS_TYPE)
    # The condition first: it is compiled, while filtering the array is not, and most rows are valid.
    found = F.array_compact(F.array(*[F.when(rule.broken, _finding(rule)) for rule in rules]))
    return F.when(any_of([rule.broken for rule in rules]), found).cast(_ERRORS_TYPE)


def _finding(rule: Rule) -> Column:
    return F.struct(
        F.lit(rule.rule).alias("rule"),
        F.lit(rule.component).alias("component"),
        rule.value.alias("value"),
        F.lit(rule.message).alias("message"),
        F.lit("error").alias("severity"),
        F.lit(rule.artefact).alias("artefact"),
    )
