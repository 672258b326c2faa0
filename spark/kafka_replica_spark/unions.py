"""Combine frames whose columns may have different types."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DoubleType,
    FloatType,
    IntegralType,
    NullType,
)

from kafka_replica.data.files.csv_layout import UNDETERMINED
from kafka_replica.data.files.messages.column_forms import FORM_OF_SHAPE, ColumnForm, common_form
from kafka_replica_spark.rows import named_column
from kafka_replica_spark.texts import as_text, shape_of, written_out


def union_of(frames: Sequence[DataFrame], files: str) -> DataFrame:
    """Return the rows of all frames; a column that a frame lacks is NULL in its rows.

    A column of integers of different sizes has integers. A column of other types that differ becomes texts, because
    Spark would cast texts to numbers, write numbers and times in other forms, or round them. If it has several values
    or texts by language in one frame, it has these in all. Spark combines structs.

    Args:
        frames: the frames.
        files: the files of the frames, for errors.

    Raises:
        DatasetError: the values of a column have types that cannot be combined.
    """
    kinds: dict[str, dict[str, DataType]] = defaultdict(dict)
    for frame in frames:
        for field in frame.schema.fields:
            # Spark distinguishes neither the letter case of names nor, here, which types allow NULL.
            if not isinstance(field.dataType, NullType):
                kinds[field.name.lower()][field.dataType.simpleString()] = field.dataType
    forms = {
        name: common_form(name, {each: _form_of(kind) for each, kind in found.items()}, files)
        for name, found in kinds.items()
        if len({*map(_family, found.values())}) > 1
    }
    converted = (_in_forms(frame, forms) for frame in frames)
    return reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), converted)


def _family(kind: DataType) -> str:
    """Return the same name for types whose values Spark combines without changing what they mean."""
    if isinstance(kind, ArrayType):
        return f"array of {_family(kind.elementType)}"
    if isinstance(kind, IntegralType):
        return "integer"
    return kind.simpleString() if shape_of(kind) == "text" else type(kind).__name__


def _form_of(kind: DataType) -> ColumnForm | None:
    """Return the form of a column of this type; None if its values are neither texts nor several texts."""
    if isinstance(kind, ArrayType) and shape_of(kind.elementType) == "languages":
        return ColumnForm(several=True, languages=True)
    return FORM_OF_SHAPE.get(shape_of(kind))


def _in_forms(frame: DataFrame, forms: Mapping[str, ColumnForm]) -> DataFrame:
    changed = {
        field.name: _in_form(named_column(field.name), field.dataType, forms[field.name.lower()])
        for field in frame.schema.fields
        if field.name.lower() in forms and not isinstance(field.dataType, NullType)
    }
    return frame.withColumns(changed) if changed else frame


def _in_form(column: Column, kind: DataType, form: ColumnForm) -> Column:
    """Return a column in another form, in which its values can be represented."""
    if isinstance(kind, ArrayType):
        inner = kind.elementType
        return F.transform(column, lambda one: _one_in_form(one, inner, form))
    one = _one_in_form(column, kind, form)
    return F.when(column.isNotNull(), F.array(one)) if form.several else one


def _one_in_form(value: Column, kind: DataType, form: ColumnForm) -> Column:
    if shape_of(kind) == "languages":
        return value
    text = as_text(value, kind)
    if isinstance(kind, FloatType | DoubleType):
        # Among texts, a number with an exponent would not be a decimal number.
        text = written_out(text)
    return F.when(value.isNotNull(), F.create_map(F.lit(UNDETERMINED), text)) if form.languages else text
