"""Validate the observations of a data frame with Spark's own expressions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from itertools import accumulate
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica import Snapshot
from kafka_replica.data.mapping.model import SOURCE
from kafka_replica.data.validation.actions import Action
from kafka_replica.data.validation.arguments import bad_severities, rules_for
from kafka_replica.data.validation.conditions import Condition, sets_in, size_of
from kafka_replica.data.validation.model import ERRORS, Rules
from kafka_replica.data.validation.report_building import fields_of
from kafka_replica.data.validation.screening import narrowed_condition, screening_conditions
from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Urn
from kafka_replica_spark.caching import cache_rows
from kafka_replica_spark.cross_row import MarkedCheck, with_cross_row_checks
from kafka_replica_spark.errors_column import Finding, Item, with_findings
from kafka_replica_spark.literals import MOST_IN_MAPS, map_size, maps_are_hashed
from kafka_replica_spark.rows import PreparedFrame, prepare_frame, with_texts_computed_once
from kafka_replica_spark.stamps import POSITION, VERSION, position_json, with_stamp


class SplitRows(NamedTuple):
    """Good rows without the column ``_errors``, and bad rows with it; both read the same cache."""

    good: DataFrame
    bad: DataFrame


def validate(
    df: DataFrame,
    reference: Urn | str | Rules,
    snapshot: Snapshot | None = None,
    *,
    rules: Mapping[str, str] | None = None,
    action: Action | None = None,
    as_of: date | None = None,
    stamp: bool = False,
) -> DataFrame:
    """Return the frame with a column ``_errors`` that describes the findings in each row.

    Each row is an observation, and each column a component, whose exact id is the column's name; a component without a
    column counts as empty in each row. Other columns are unchanged. ``_errors`` is NULL for a row without findings,
    else an array of structs ``rule, component, value, message, severity, artefact`` (all strings). Only Spark's own
    expressions are used; the data is not read before an action. All structures are those of the snapshot's version.

    The metadata of ``_errors`` in the schema has ``version`` (int), ``position`` (JSON; only with a snapshot),
    ``artefact`` (URN of the data structure), ``dataset`` (findings about the columns, without missing columns that only
    rows with some actions need) and ``unchecked`` (list of strings).

    Args:
        df: the observations. Values are compared as texts in the form of SDMX. For a streaming frame, rules that
            compare rows are skipped, and listed in ``unchecked``.
        reference: the URN of a data structure, dataflow or provision agreement, a short reference to one, or rules.
        snapshot: the version to validate against; None with rules.
        rules: rule code to ``error``, ``warning``, ``information`` or ``off``.
        action: the action of rows without one; None means information, or the action in compiled rules.
        as_of: the date on which constraints must be valid; None means today.
        stamp: whether to add the constant columns ``_version`` (long) and ``_position`` (string, JSON).

    Raises:
        UsageError: several columns have the name of a component; the frame already has a column that would be added, or
            ``_source``, which only mapped rows have; a dimension or the action has several values in a row; the
            reference is to another kind of artefact; or a stamp is requested without a snapshot.
        ArtefactNotFoundError: the artefact is not in this version.
        IncompleteStructureError: artefacts that it refers to are missing from this version, or cannot be used because
            they are stubs or cannot be read; the error names all of them.
        SdmxError: the artefact itself cannot be read.
    """
    compiled = rules_for(reference, snapshot, rules, action, as_of)
    _check_columns(df, compiled, [ERRORS, SOURCE, VERSION, POSITION] if stamp else [ERRORS, SOURCE])
    rows = with_texts_computed_once(prepare_frame(df, compiled))
    is_streaming = df.isStreaming  # the rows of a streaming frame are not compared with each other
    marked_rows, marked = (rows.df, []) if is_streaming else with_cross_row_checks(rows)
    metadata = _metadata(rows, compiled, snapshot, is_streaming=is_streaming)
    checked = with_findings(marked_rows, _items(rows, compiled, marked), metadata)
    return with_stamp(checked, snapshot, f"validating against {compiled.artefact}") if stamp else checked


def split(validated: DataFrame, *, severity: str = "error") -> SplitRows:
    """Split the result of :func:`validate` or ``transform`` into good rows and bad rows.

    Bad rows have a finding of at least the given severity; rows that could not be mapped are returned unchanged. The
    frame is cached (memory, then disk), so that both parts are computed in one pass; remove it from the cache with
    ``validated.unpersist()`` after writing them. A streaming frame is not cached.

    Args:
        validated: a frame with ``_errors``.
        severity: the lowest severity that makes a row bad; rows with only less severe findings are good.

    Raises:
        UsageError: the frame has no column ``_errors``, or the severity is unknown.
    """
    worse = bad_severities(validated.columns, severity)
    if not validated.isStreaming and not validated.is_cached:
        cache_rows(validated)
    bad = F.coalesce(F.exists(F.col(ERRORS), lambda one: one["severity"].isin(*worse)), F.lit(False))
    if SOURCE in validated.columns:
        # In a mapped frame, bad rows are returned in their original form.
        original = validated.select(f"{SOURCE}.*").columns
        stamps = [name for name in (VERSION, POSITION) if name in validated.columns and name not in original]
        mapped = validated.filter(~bad).drop(ERRORS, SOURCE)
        return SplitRows(mapped, validated.filter(bad).select(f"{SOURCE}.*", ERRORS, *stamps))
    return SplitRows(validated.filter(~bad).drop(ERRORS), validated.filter(bad))


def _metadata(rows: PreparedFrame, rules: Rules, snapshot: Snapshot | None, *, is_streaming: bool) -> dict[str, Any]:
    """Return the metadata of the column ``_errors``; see :func:`validate`."""
    unchecked = list(rows.bound.unchecked)
    if is_streaming and (rows.bound.keys or rows.bound.levels):
        unchecked.append("duplicate keys and attributes over several rows, because the frame is streaming")
    metadata: dict[str, Any] = {
        "version": rules.version,
        "artefact": str(rules.structure),
        "unchecked": unchecked,
        "dataset": [f"{finding.severity} {finding.rule}: {finding.message}" for finding in rows.bound.findings],
    }
    return metadata if snapshot is None else metadata | {"position": position_json(snapshot)}


def _check_columns(df: DataFrame, rules: Rules, reserved: list[str]) -> None:
    folded = {name.lower() for name in df.columns}
    taken = [name for name in reserved if name in folded]
    if taken:
        raise UsageError(
            f"validating against {rules.artefact}: the frame has a column {', '.join(taken)}; drop it first"
        )


def _items(rows: PreparedFrame, rules: Rules, marked: list[MarkedCheck]) -> list[Item]:
    """Return all possible findings, each with a short condition that is true in all rows that have the finding."""
    screened = dict(zip(rows.screened, screening_conditions(rules, rows.screened, rows.several), strict=True))
    # These conditions are evaluated for each row, all others only for a few rows.
    expressions = rows.expressions.with_maps(_in_maps(rows.df.sparkSession, screened.values()))
    made: dict[Condition, Column] = {}
    items: list[Item] = []
    for check in rows.bound.checks:
        screen = screened.get(check)
        if screen is None:
            broken = rows.broken(check)
            items.append(Item(broken, broken, Finding(*fields_of(check, rows.shown(check))), size_of(check.broken)))
            continue
        if screen not in made:
            made[screen] = expressions.broken(screen)
        suspected = made[screen]
        left = check.broken if screen is check.broken else narrowed_condition(check.broken, screen)
        is_found = suspected if left is screen else expressions.broken(left)
        items.append(Item(suspected, is_found, Finding(*fields_of(check, rows.shown(check))), size_of(left)))
    return items + [Item(one.broken, one.broken, Finding(*fields_of(one.check, one.value)), 1) for one in marked]


def _in_maps(session: SparkSession, conditions: Iterable[Condition]) -> list[frozenset[str]]:
    """Return the sets to look up in maps: as many of the smallest sets as the limit allows."""
    if not maps_are_hashed(session):
        return []
    sets = sorted((set_ for condition in set(conditions) for set_ in sets_in(condition)), key=len)
    totals = accumulate(map_size(len(set_)) for set_ in sets)
    return [set_ for set_, total in zip(sets, totals, strict=True) if total <= MOST_IN_MAPS]
