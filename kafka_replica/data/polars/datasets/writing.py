"""Write a polars frame as SDMX-CSV."""

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
    """Write a frame as an SDMX-CSV file, in UTF-8; an existing file is replaced.

    The structure's components come first, in its order, then other columns; those whose names begin with ``_`` are left
    out. Values are written as validation reads them: 5.0 is ``5``.

    Args:
        frame: one row per observation, one column per component.
        path: the file.
        rules: the rules of the rows' artefact.
        version: 2.0 (which readers of 2.1 accept as well) or 1.0.
        action: the action of rows without one in ``ACTION``.
        labels: whether names are written, after ids or in separate columns.
        names: the names, from ``kafka_replica.data.files.names_of``.
        keys: whether SERIES_KEY, OBS_KEY or both are written. They contain periods as recorded.
        time_format: ``normalized`` writes periods as calendar days, or as date-times if any row has one.
        collected: the moment that represents a period when it is normalized.
        separator: the separator of cells.
        sub_separator: the separator of values within a cell.
        byte_order_mark: whether the file begins with one, as some spreadsheets require.

    Raises:
        UsageError: SDMX-CSV cannot represent this, or the file cannot be written.
    """
    kinds = frame.schema  # polars makes a new one each time
    forms = {name: _form(name, kind) for name, kind in kinds.items() if not name.startswith("_")}
    languages = {name: _languages(frame, name) for name, form in forms.items() if form == "languages"}
    plan = plan_of(
        rules, forms, version=version, action=action, labels=labels, names=names, keys=keys,
        sub_separator=sub_separator, languages=languages, time_format=time_format, collected=collected,
    )  # fmt: skip
    texts = {name: as_text(name, kinds[name]) for name in forms}
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
    """Join values with dots."""
    return pl.concat_str([one.fill_null("") for one in texts], separator=".") if texts else pl.lit(None, pl.String)
