"""Write a data frame as SDMX-CSV."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Literal

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, DataType

from kafka_replica.data.files import Collected, Keys, Labels, Names, TimeFormat
from kafka_replica.data.files.csv_layout import FORMS, Form
from kafka_replica.data.files.csv_output_layout import (
    HAS_ACTION,
    NO_ACTION,
    OutputColumn,
    OutputLayout,
    output_layout_of,
)
from kafka_replica.data.files.period_normalization import NormalizationSettings, normalization_for
from kafka_replica.data.validation.actions import Action
from kafka_replica.data.validation.model import ACTION, Rules
from kafka_replica.errors import UsageError
from kafka_replica_spark.datasets.cells import cell_of, name_of
from kafka_replica_spark.datasets.normalizing import with_days
from kafka_replica_spark.rows import named_column
from kafka_replica_spark.texts import as_text, shape_of


def write_sdmx_csv(
    df: DataFrame,
    path: str,
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
    languages: Mapping[str, Sequence[str]] | None = None,
    mode: Literal["error", "overwrite", "append"] = "error",
    encoding: str = "UTF-8",
    compression: str = "none",
) -> None:
    """Write a frame as a folder of SDMX-CSV files, each with the header.

    The structure's components come first, in the structure's order, then other columns; columns whose names begin with
    ``_`` are left out. Values are written in the form that validation compares: 5.0 is ``5``.

    Args:
        df: one row per observation, one column per component.
        path: the folder, wherever Spark can write.
        rules: the rules of the rows' artefact.
        version: 2.0 (which readers of 2.1 accept as well) or 1.0.
        action: the action of rows without one in ``ACTION``.
        labels: whether names are written, after ids or in separate columns.
        names: the names, from ``kafka_replica.data.files.names_of``.
        keys: whether SERIES_KEY, OBS_KEY or both are written. They contain periods as recorded.
        time_format: ``normalized`` writes periods as calendar days, or as date-times if any row has one. This needs an
            additional pass over the rows, which runs immediately.
        collected: the point that represents a period when it is normalized.
        separator: the separator of cells.
        sub_separator: the separator of values within a cell.
        languages: the languages that the header names, by component; by default ``en``. They are not determined from
            the data.
        mode: the behaviour if the folder exists.
        encoding: Java's name of the encoding.
        compression: Spark's name of the compression, for example ``gzip``.

    Raises:
        UsageError: SDMX-CSV cannot represent the columns. In 1.0, rows with actions other than information, which it
            cannot represent, fail the job.
    """
    types = {field.name: field.dataType for field in df.schema.fields if not field.name.startswith("_")}
    forms: dict[str, Form] = {name: _form(name, kind) for name, kind in types.items()}
    layout = output_layout_of(
        rules, forms, version=version, action=action, labels=labels, names=names, keys=keys,
        sub_separator=sub_separator, languages=languages, time_format=time_format, collected=collected,
    )  # fmt: skip
    normalization = normalization_for(rules, forms, collected) if time_format == "normalized" else None
    _as_cells(df, types, layout, normalization).write.csv(
        path, mode=mode, sep=separator, quote='"', escape='"', header=True, encoding=encoding, compression=compression,
        ignoreLeadingWhiteSpace=False, ignoreTrailingWhiteSpace=False, nullValue="", emptyValue="",
    )  # fmt: skip


def _as_cells(
    df: DataFrame,
    types: Mapping[str, DataType],
    layout: OutputLayout,
    normalization: NormalizationSettings | None,
) -> DataFrame:
    """Return the columns of the files as text.

    Args:
        df: the frame.
        types: the types of the columns to write, by name.
        layout: the columns of the files.
        normalization: the periods to convert to calendar days; None leaves all periods as recorded.
    """
    texts = {name: as_text(named_column(name), kind) for name, kind in types.items()}
    if not layout.has_actions and ACTION in texts:
        df = df.filter(_without_action(texts[ACTION]))
    df, shown = (df, texts) if normalization is None else with_days(df, texts, normalization)
    return df.select(
        *(
            _cell(column, layout, texts if column.content == "key" else shown).alias(column.header)
            for column in layout.columns
        )
    )


def _form(name: str, kind: DataType) -> Form:
    """Return the form in which SDMX-CSV represents the values of a column.

    Raises:
        UsageError: it cannot represent them.
    """
    shape = shape_of(kind)
    if shape in FORMS:
        return FORMS[shape]
    if isinstance(kind, ArrayType) and shape_of(kind.elementType) == "languages":
        return "values in languages"
    raise UsageError(
        f"writing SDMX-CSV: column {name} holds {kind.simpleString()}, which SDMX cannot represent; remove it"
    )


def _cell(column: OutputColumn, layout: OutputLayout, texts: Mapping[str, Column]) -> Column:
    if column.content == "constant":
        return F.lit(column.source)
    if column.content == "action":
        return F.coalesce(texts[ACTION], F.lit(layout.action)) if ACTION in texts else F.lit(layout.action)
    if column.content == "key":
        return F.concat_ws(".", *(F.coalesce(texts[part], F.lit("")) for part in column.parts))
    names = _name_map(column.names)
    if column.content == "label":
        return (
            F.lit(None).cast("string")
            if names is None
            else name_of(texts[column.source], column.form, layout.sub_separator, names)
        )
    return cell_of(named_column(column.source), texts[column.source], column.form, layout.sub_separator, names)


def _without_action(action: Column) -> Column:
    """Return a condition that is always true, but fails the job at a row with an action that 1.0 cannot represent."""
    refused = F.raise_error(F.lit(HAS_ACTION)).cast("boolean")
    return F.when(action.isNull() | action.isin(*NO_ACTION), F.lit(True)).otherwise(refused)


def _name_map(names: Mapping[str, str] | None) -> Column | None:
    """Return a map literal built from JSON, because a node of the plan for each code would make planning slow."""
    if not names:
        return None
    return F.from_json(F.lit(json.dumps(dict(names), ensure_ascii=False)), "map<string,string>")
