"""Validate the observations of a polars frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any, Final, NamedTuple

import polars as pl

from kafka_replica.data.mapping.model import SOURCE
from kafka_replica.data.polars.cross_row import Hit, flagged_rows
from kafka_replica.data.polars.frame_conversion import as_frame
from kafka_replica.data.polars.prepared_frame import ROW, PreparedFrame, prepare_frame
from kafka_replica.data.validation.actions import Action
from kafka_replica.data.validation.arguments import bad_severities, rules_for
from kafka_replica.data.validation.model import ERRORS, FIELDS, Rules
from kafka_replica.data.validation.report_building import fields_of
from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Snapshot, Urn

ERRORS_TYPE: Final = pl.List(pl.Struct(dict.fromkeys(FIELDS, pl.String())))
"""The type of the column ``_errors``."""
_ORDER: Final = "__order"


class SplitRows(NamedTuple):
    """Good rows without the column ``_errors``, and bad rows with it."""

    good: pl.DataFrame
    bad: pl.DataFrame


def validate(
    frame: Any,
    reference: Urn | str | Rules,
    snapshot: Snapshot | None = None,
    *,
    rules: Mapping[str, str] | None = None,
    action: Action | None = None,
    as_of: date | None = None,
) -> pl.DataFrame:
    """Return the frame with a column ``_errors`` that describes the findings in each row.

    Each row is an observation, and each column a component, whose exact id is the column's name; a component without a
    column counts as empty in each row. ``_errors`` is NULL for a row without findings, else a list of structs ``rule,
    component, value, message, severity, artefact`` (all strings). The order of rows is kept.

    Args:
        frame: a polars, pandas or Arrow table, or a list of dictionaries. Values are compared as texts in the form of
            SDMX.
        reference: the URN of a data structure, dataflow or provision agreement, a short reference to one, or rules.
        snapshot: the version to validate against; None with rules.
        rules: rule code to ``error``, ``warning``, ``information`` or ``off``.
        action: the action of rows without one; None means information, or what compiled rules say.
        as_of: the date on which constraints must be valid; None means today.

    Raises:
        UsageError: the frame has a column ``_errors`` already; a dimension or the action has several values in a row;
            the reference is to another kind of artefact.
        ArtefactNotFoundError: the artefact is not in this version.
        IncompleteStructureError: artefacts that it refers to are missing from this version, or cannot be used because
            they are stubs or cannot be read; the error names all of them.
        SdmxError: the artefact itself cannot be read.
    """
    df, compiled = as_frame(frame), rules_for(reference, snapshot, rules, action, as_of)
    refuse_errors(df)
    rows = prepare_frame(df, compiled)
    return df.with_columns(errors_of(rows, flagged_rows(rows)))


def refuse_errors(frame: pl.DataFrame) -> None:
    """Check that a frame has no column that marks the results of validation or mapping.

    Raises:
        UsageError: the frame has a column ``_errors`` or ``_source``.
    """
    for name in (ERRORS, SOURCE):
        if name in frame.columns:
            raise UsageError(f"validating: the frame has a column {name} already; drop it first")


def split(validated: pl.DataFrame, *, severity: str = "error") -> SplitRows:
    """Split the result of :func:`validate` or ``transform`` into good rows and bad rows.

    Bad rows have a finding of at least the given severity; rows that could not be mapped are returned unchanged.

    Args:
        validated: a frame with ``_errors``.
        severity: the lowest severity that makes a row bad; rows with only less severe findings are good.

    Raises:
        UsageError: the frame has no column ``_errors``, or the severity is unknown.
    """
    worse = bad_severities(validated.columns, severity)
    bad = pl.col(ERRORS).list.eval(pl.element().struct.field("severity").is_in(worse)).list.any().fill_null(value=False)
    good = validated.drop(ERRORS, *({SOURCE} & {*validated.columns}))  # first, because most rows are good
    if validated[ERRORS].null_count() == validated.height:
        bad_rows = validated.clear()
    else:
        is_bad = validated.select(bad).to_series()
        good, bad_rows = good.filter(~is_bad), validated.filter(is_bad)
    if SOURCE in validated.columns:
        # Mapped frames: bad rows are returned in their original form.
        bad_rows = bad_rows.select(SOURCE, ERRORS).unnest(SOURCE)
    return SplitRows(good, bad_rows)


def errors_of(rows: PreparedFrame, compared: Iterable[Hit]) -> pl.Series:
    """Return the column ``_errors`` of all rows.

    Args:
        rows: the rows.
        compared: the violations of checks that compare rows with each other.
    """
    checks = rows.bound.checks
    found = [_listed(hit, number, fields_of(checks[number], value)) for number, hit, value in rows.broken_rows()]
    found += [
        _listed(hit, number, fields_of(other, value))
        for number, (other, hit, value) in enumerate(compared, start=len(checks))
    ]
    if not found:
        return pl.Series(ERRORS, [None], dtype=ERRORS_TYPE).new_from_index(0, rows.texts.height)
    listed = pl.concat(found).sort(ROW, _ORDER).group_by(ROW, maintain_order=True).agg(pl.col(ERRORS))
    return rows.texts.select(ROW).join(listed, on=ROW, how="left", maintain_order="left")[ERRORS]


def _listed(hit: pl.DataFrame, number: int, fields: Sequence[Any]) -> pl.DataFrame:
    return hit.select(ROW, pl.lit(number, pl.Int32).alias(_ORDER), finding_of(fields).alias(ERRORS))


def finding_of(fields: Sequence[Any]) -> pl.Expr:
    """Return an element of ``_errors``; the values of ``FIELDS`` are expressions or constants."""
    return pl.struct(
        (value if isinstance(value, pl.Expr) else pl.lit(value, pl.String)).alias(name)
        for name, value in zip(FIELDS, fields, strict=True)
    )
