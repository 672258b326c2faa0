"""A polars frame into SDMX-CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import polars as pl

from kafka_replica.common.wording import reason_of
from kafka_replica.data.files import (
    FORMS,
    HAS_ACTION,
    NO_ACTION,
    Collected,
    Form,
    Keys,
    Labels,
    Names,
    Plan,
    PlannedColumn,
    TimeFormat,
    normalizing,
    plan_of,
)
from kafka_replica.data.polars.datasets.cells import cell_of, name_of
from kafka_replica.data.polars.datasets.normalizing import with_days
from kafka_replica.data.polars.texts import as_text, shape_of
from kafka_replica.data.validation.actions import Action
from kafka_replica.data.validation.model import ACTION, Rules
from kafka_replica.errors import UsageError


def write_sdmx_csv(
    frame: pl.DataFrame,
    path: str | Path,
    rules: Rules,
    *,
    version: Literal["1.0", "2.0"] = "2.0",
    action: Action = "information",
    labels: Labels = "id",
    names: Names | None = None,
    keys: Keys = "none",
    time_format: TimeFormat = "original",
    collected: Collected = "start",
    separator: str = ",",
    sub_separator: str = ";",
    byte_order_mark: bool = False,
) -> None:
    """Writes a frame as one file of SDMX-CSV, in UTF-8; one that is there is replaced.

    The structure's components come first, in its order, then columns that are none; those that begin with ``_`` are
    left out. Values are written as validation reads them: 5.0 is ``5``.

    Args:
        frame: one row an observation, one column a component.
        path: the file.
        rules: of what the rows are of.
        version: 2.0 (which 2.1 reads as well) or 1.0.
        action: of rows that name none in ``ACTION``.
        labels: whether names are given, behind ids or in columns of their own.
        names: the names, from ``kafka_replica.data.files.names_of``.
        keys: whether SERIES_KEY, OBS_KEY or both are given. They hold periods as they are recorded.
        time_format: ``normalized`` writes periods as calendar days, or as date-times if any row has one.
        collected: the moment of a period that is written then.
        separator: between cells.
        sub_separator: between values within a cell.
        byte_order_mark: whether the file begins with one, as some spreadsheets want.

    Raises:
        UsageError: SDMX-CSV has no place for this, or the file cannot be written.
    """
    forms = {name: _form(name, kind) for name, kind in frame.schema.items() if not name.startswith("_")}
    languages = {name: _languages(frame, name) for name, form in forms.items() if form == "languages"}
    plan = plan_of(
        rules, forms, version=version, action=action, labels=labels, names=names, keys=keys,
        sub_separator=sub_separator, languages=languages, time_format=time_format, collected=collected,
    )  # fmt: skip
    texts = {name: as_text(name, frame.schema[name]) for name in forms}
    if not plan.has_actions and ACTION in texts and not frame.select(texts[ACTION].is_in(list(NO_ACTION)).all()).item():
        raise UsageError(HAS_ACTION)
    days = normalizing(rules, forms, collected) if time_format == "normalized" else None
    shown = texts if days is None else with_days(frame, texts, days)
    written = frame.select(
        _column(one, plan, texts if one.what == "key" else shown).alias(one.header) for one in plan.columns
    )
    try:
        written.write_csv(path, separator=separator, include_bom=byte_order_mark)
    except OSError as error:
        raise UsageError(f"writing {path}: {reason_of(error)}") from error


def _form(name: str, kind: pl.DataType) -> Form:
    shape = shape_of(kind)
    if shape in FORMS:
        return FORMS[shape]
    if isinstance(kind, pl.List) and isinstance(kind.inner, pl.List) and shape_of(kind.inner) == "languages":
        return "values in languages"
    raise UsageError(f"writing SDMX-CSV: column {name} holds {kind}, which is no value of SDMX; leave it out")


def _languages(frame: pl.DataFrame, name: str) -> list[str]:
    found = frame[name].explode().struct.field("language").drop_nulls().unique().sort()
    return [str(one) for one in found]


def _column(one: PlannedColumn, plan: Plan, texts: dict[str, pl.Expr]) -> pl.Expr:
    if one.what == "constant":
        return pl.lit(one.of)
    if one.what == "action":
        return pl.col(ACTION).fill_null(plan.action) if ACTION in texts else pl.lit(plan.action)
    if one.what == "key":
        return _key([texts[part] for part in one.parts])
    if one.what == "label":
        return name_of(texts[one.of], one.form, plan.sub_separator, one.names or {})
    return cell_of(one.of, one.form, texts[one.of], plan.sub_separator, one.names)


def _key(texts: list[pl.Expr]) -> pl.Expr:
    """Values joined by dots."""
    return pl.concat_str([one.fill_null("") for one in texts], separator=".") if texts else pl.lit(None, pl.String)
