"""Checking the observations of a data frame, in Spark's own expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from operator import or_
from typing import Any, Final, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.storagelevel import StorageLevel

from kafka_replica import Snapshot
from kafka_replica.errors import UsageError
from kafka_replica.mapping.model import SOURCE
from kafka_replica.rules.actions import Action
from kafka_replica.rules.conditions import Condition, size_of
from kafka_replica.rules.model import ERRORS, Check, KeyCheck, LevelCheck, Rules
from kafka_replica.rules.requests import rules_for, splitting_at
from kafka_replica.rules.screening import screens
from kafka_replica.sdmx import Urn
from kafka_replica_spark.comparing import MARK, compared
from kafka_replica_spark.expressions import balanced
from kafka_replica_spark.rows import ERRORS_TYPE, Prepared, prepared
from kafka_replica_spark.stamps import CUT, VERSION, cut_json

_ASKED: Final = f"{MARK}asked"
_LISTED: Final = f"{MARK}listed"
_SURELY_COMPILED: Final = 56
"""The size of conditions, of which with their findings no method gets too long."""
_FINDING: Final = 4


class Split(NamedTuple):
    """Good rows without ``_errors``, and bad ones with it; both read one cache."""

    good: DataFrame
    bad: DataFrame


def validate(
    df: DataFrame,
    reference: Urn | str | Rules,
    snapshot: Snapshot | None = None,
    *,
    rules: Mapping[str, str] | None = None,
    action: Action = "information",
    as_of: date | None = None,
    stamp: bool = False,
) -> DataFrame:
    """The frame with a column ``_errors`` that says what is wrong with each row.

    One row is one observation, one column a component, by its id exactly; a component without a column counts as empty
    in each row. Other columns are left alone. ``_errors`` is NULL for a valid row, else an array of structs ``rule,
    component, value, message, severity, artefact`` (all strings). Only Spark's own expressions are used; the data is
    not touched before an action. Everything looked at is of the snapshot's one version.

    The metadata of ``_errors`` in the schema says ``version`` (int), ``cut`` (JSON; with a snapshot), ``artefact`` (URN
    of the data structure), ``dataset`` (findings about the columns) and ``unchecked`` (list of strings).

    Args:
        df: the observations. Values are compared as text; other types are written as SDMX writes them. Rules that
            compare rows are left out for a streaming frame, and ``unchecked`` says so.
        reference: the URN of a data structure, dataflow or provision agreement, a short reference to one, or rules.
        snapshot: the version to validate against; None with rules.
        rules: rule code to ``error``, ``warning``, ``information`` or ``off``.
        action: the action of rows that name none.
        as_of: the date on which constraints must be valid; today if None.
        stamp: also add the columns ``_version`` (long) and ``_cut`` (string, JSON), constant.

    Raises:
        UsageError: a component is there twice, or a column that would be added is there already; the reference is of
            something else; a stamp is asked for without a snapshot.
        ArtefactNotFoundError: the artefact, or a list or concept it refers to, is not in this version.
        SdmxError: one of them cannot be read.
    """
    compiled = rules_for(reference, snapshot, rules, action, as_of)
    _check_columns(df, compiled, [ERRORS, VERSION, CUT] if stamp else [ERRORS])
    rows = prepared(df, compiled)
    unchecked = list(rows.bound.unchecked)
    findings = [_Found(check, rows.broken(check), rows.shown(check)) for check in rows.bound.checks]
    whole = df
    if not df.isStreaming:
        whole, marked = compared(rows)
        findings += [_Found(*one) for one in marked]
    elif rows.bound.keys or rows.bound.levels:
        unchecked.append("duplicate keys and attributes over several rows, for the frame is streaming")
    metadata = _metadata(rows, compiled, snapshot, unchecked)
    whole = _with_errors(whole, findings, _suspected(rows, compiled, findings), metadata)
    columns: list[Column] = []
    if stamp:
        if snapshot is None:
            raise UsageError("validating with a stamp: give the snapshot, not rules; they do not know their cut")
        columns += [F.lit(snapshot.version).cast("bigint").alias(VERSION), F.lit(cut_json(snapshot)).alias(CUT)]
    return whole.select("*", *columns) if columns else whole


def split(validated: DataFrame, *, severity: str = "error") -> Split:
    """What :func:`validate` or ``transform`` gave, parted: rows that may pass, and those with a finding that severe.

    Bad rows that could not be mapped are given as they came. The frame is cached (memory, then disk), so that both
    parts are made of one pass; take it out of the cache with ``validated.unpersist()`` when they are written. A
    streaming frame is not cached.

    Args:
        validated: a frame with ``_errors``.
        severity: a row is bad from this severity on; rows with lesser findings are good.

    Raises:
        UsageError: the frame has no column ``_errors``, or there is no such severity.
    """
    worse = splitting_at(validated.columns, severity)
    if not validated.isStreaming and not validated.is_cached:
        validated.persist(StorageLevel.MEMORY_AND_DISK)
    bad = F.coalesce(F.exists(F.col(ERRORS), lambda one: one["severity"].isin(*worse)), F.lit(False))
    if SOURCE in validated.columns:
        # Mapped rows: the bad ones as they came.
        return Split(validated.filter(~bad).drop(ERRORS, SOURCE), validated.filter(bad).select(f"{SOURCE}.*", ERRORS))
    return Split(validated.filter(~bad).drop(ERRORS), validated.filter(bad))


class _Found(NamedTuple):
    """A check, when a row breaks it, and the value that is then shown."""

    check: Check | KeyCheck | LevelCheck
    broken: Column
    value: Column


def _metadata(rows: Prepared, rules: Rules, snapshot: Snapshot | None, unchecked: list[str]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "version": rules.version,
        "artefact": str(rules.structure),
        "unchecked": unchecked,
        "dataset": [f"{one.severity} {one.rule}: {one.message}" for one in rows.bound.findings],
    }
    return made if snapshot is None else made | {"cut": cut_json(snapshot)}


def _check_columns(df: DataFrame, rules: Rules, added: list[str]) -> None:
    folded = {name.lower() for name in df.columns}
    taken = [name for name in added if name in folded]
    if taken:
        raise UsageError(
            f"validating against {rules.artefact}: the frame has a column {', '.join(taken)} already; drop it first"
        )


def _suspected(rows: Prepared, rules: Rules, findings: list[_Found]) -> list[Column]:
    """For each finding a short condition that is true where the finding is."""
    screened = dict(zip(rows.screened, screens(rules, rows.screened, rows.several), strict=True))
    made: dict[Condition, Column] = {}
    for condition in screened.values():
        if condition not in made:
            made[condition] = rows.expressions.broken(condition)
    return [made[screened[one.check]] if one.check in screened else one.broken for one in findings]


def _with_errors(df: DataFrame, findings: list[_Found], suspected: list[Column], metadata: dict[str, Any]) -> DataFrame:
    """The frame with its errors, in three steps: short questions, findings where these ask for it, all in one array.

    Spark makes one Java method of all it does to a row, and Java never compiles a method of more than 8,000 bytes but
    interprets it, ten times as slow. What stands twice in a step gets a method of its own, so all here is in parts
    that stand twice. Spark does not make one step of two where what was computed is used twice.
    """
    if not findings:
        return df.select("*", F.lit(None).cast(ERRORS_TYPE).alias(ERRORS, metadata=metadata))
    parts = _parts(findings)
    asked = [balanced(_distinct(suspected[part]), or_) for part in parts]
    df = _twice(df, _ASKED, asked, lambda one: one.cast("int"))
    listed = [
        F.when(F.col(f"{_ASKED}{number}"), F.when(F.col(f"{_ASKED}{number}_") > 0, _listed(findings[part])))
        for number, part in enumerate(parts)
    ]
    df = _twice(df, _LISTED, listed, F.size)
    lists = [F.col(f"{_LISTED}{number}") for number in range(len(parts))]
    some = [one.isNotNull() & (F.col(f"{_LISTED}{number}_") > 0) for number, one in enumerate(lists)]
    nothing = F.array().cast(ERRORS_TYPE)
    errors = F.when(balanced(some, or_), F.concat(*(F.coalesce(one, nothing) for one in lists)))
    marks = [name for name in df.columns if name.startswith(MARK)]
    return df.select("*", errors.alias(ERRORS, metadata=metadata)).drop(*marks)


def _parts(findings: list[_Found]) -> list[slice]:
    """Findings one after the other that make a method that is surely compiled."""
    parts = [slice(0, 0)]
    total = 0
    for number, one in enumerate(findings):
        size = _FINDING + (size_of(one.check.broken) if isinstance(one.check, Check) else 1)
        total += size
        if total > _SURELY_COMPILED and number > parts[-1].start:
            parts.append(slice(number, number))
            total = size
        parts[-1] = slice(parts[-1].start, number + 1)
    return parts


def _twice(df: DataFrame, name: str, columns: list[Column], other: Callable[[Column], Column]) -> DataFrame:
    """The frame with columns, and each once more in another form."""
    return df.select(
        "*",
        *(one.alias(f"{name}{number}") for number, one in enumerate(columns)),
        *(other(one).alias(f"{name}{number}_") for number, one in enumerate(columns)),
    )


def _distinct(columns: list[Column]) -> list[Column]:
    return list({id(one): one for one in columns}.values())


def _listed(findings: list[_Found]) -> Column:
    return F.array_compact(F.array(*[F.when(one.broken, _finding(one)) for one in findings])).cast(ERRORS_TYPE)


def _finding(one: _Found) -> Column:
    component = getattr(one.check, "component", None)
    return F.struct(
        F.lit(one.check.rule).alias("rule"),
        F.lit(component).cast("string").alias("component"),
        one.value.alias("value"),
        F.lit(one.check.message).alias("message"),
        F.lit(one.check.severity).alias("severity"),
        F.lit(one.check.artefact).alias("artefact"),
    )
