"""Combine frames whose columns may have different types, with the same result as on Spark."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import polars as pl

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages.column_forms import FORM_OF_SHAPE, ColumnForm, common_form
from kafka_replica.data.polars.message_forms import in_forms, type_of
from kafka_replica.data.polars.sdmx_texts import as_text, shape_of, without_exponent

_INTEGERS: Final = frozenset({pl.Int8(), pl.Int16(), pl.Int32(), pl.Int64(), pl.UInt8(), pl.UInt16(), pl.UInt32()})
"""Types that have a common integer type; UInt64 and Int64 have none."""
_LANGUAGE_FIELDS: Final = ["language", "text"]


class CommonColumns:
    """Columns that can represent the rows of all frames.

    A column of integers of different sizes has integers. A column of other types that differ has texts, because polars
    would write numbers and times in other forms, or with fewer digits. If it has several values or texts by language in
    one frame, it has these in all.

    Attributes:
        empty_frame: a frame without rows that has all columns.
    """

    def __init__(self, frames: Iterable[pl.DataFrame], files: str) -> None:
        """Determine the columns.

        Args:
            frames: the frames, which may have no rows.
            files: the files of the frames, for errors.

        Raises:
            DatasetError: the values of a column have types that cannot be combined.
        """
        kinds: dict[str, list[pl.DataType]] = defaultdict(list)
        for frame in frames:
            for name, kind in frame.schema.items():
                if kind not in kinds[name]:
                    kinds[name].append(kind)
        self._files = files
        self.empty_frame: Final = pl.DataFrame(
            schema={name: self._common(name, found) for name, found in kinds.items()}
        )
        self._forms = {
            name: form
            for name, kind in self.empty_frame.schema.items()
            if (form := _form_of(kind)) is not None and type_of(form) == kind
        }

    def rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of one of the frames with all columns; a column that it lacks is NULL.

        Raises:
            DatasetError: the frame has a column that cannot be converted.
        """
        return self._concatenated([self.empty_frame, _in_forms(frame, self._forms)])

    def _common(self, name: str, kinds: Sequence[pl.DataType]) -> pl.DataType:
        """Return the type that can represent the values of a column.

        Raises:
            DatasetError: there is none.
        """
        if len(kinds) == 1:
            return kinds[0]
        form = _common_form(name, [kind for kind in kinds if kind != pl.Null()], self._files)
        if form is not None:
            return type_of(form)
        return self._concatenated([pl.DataFrame(schema={name: kind}) for kind in kinds]).schema[name]

    def _concatenated(self, frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
        try:
            return pl.concat(frames, how="diagonal_relaxed")
        except pl.exceptions.PolarsError as error:
            raise DatasetError(
                f"reading {self._files}: the rows cannot be combined: {error}; read these files separately"
            ) from error


def union_of(frames: Sequence[pl.DataFrame], files: str) -> pl.DataFrame:
    """Return the rows of all frames; a column that a frame lacks is NULL in its rows. See :class:`CommonColumns`.

    Args:
        frames: the frames.
        files: the files of the frames, for errors.

    Raises:
        DatasetError: the values of a column have types that cannot be combined.
    """
    common = CommonColumns(frames, files)
    return pl.concat([common.empty_frame, *map(common.rows, frames)])


def _common_form(name: str, kinds: Sequence[pl.DataType], files: str) -> ColumnForm | None:
    """Return the form to which the values of a column are converted; None if they are not converted.

    Raises:
        DatasetError: the values have types that cannot be combined.
    """
    if len({*map(_family, kinds)}) <= 1:
        return None
    return common_form(name, {str(kind): _form_of(kind) for kind in kinds}, files)


def _family(kind: pl.DataType) -> str:
    """Return the same name for types whose values polars combines without changing what they mean."""
    if shape_of(kind) == "languages":
        return str(kind)  # the names of the fields may differ
    if isinstance(kind, pl.List) and isinstance(kind.inner, pl.DataType):
        return f"list of {_family(kind.inner)}"
    if kind in _INTEGERS:
        return "integer"
    return str(kind) if shape_of(kind) == "text" else type(kind).__name__


def _form_of(kind: pl.DataType) -> ColumnForm | None:
    """Return the form of a column of this type; None if its values are neither texts nor several texts."""
    if isinstance(kind, pl.List) and isinstance(kind.inner, pl.DataType) and shape_of(kind.inner) == "languages":
        return ColumnForm(several=True, languages=True)
    return FORM_OF_SHAPE.get(shape_of(kind))


def _in_forms(frame: pl.DataFrame, forms: Mapping[str, ColumnForm]) -> pl.DataFrame:
    schema = frame.schema  # stored, because polars builds a new schema on each access
    texts = [
        _in_texts(name, schema[name]).alias(name)
        for name, form in forms.items()
        if name in schema and schema[name] not in {pl.Null(), type_of(form)}
    ]
    return in_forms(frame.with_columns(texts), forms) if texts else frame


def _in_texts(name: str, kind: pl.DataType) -> pl.Expr:
    """Return a column in its form, with values as texts."""
    form = _form_of(kind)
    if form is None:
        return pl.col(name)
    if form.languages:
        named = pl.element().struct.rename_fields(_LANGUAGE_FIELDS)
        return pl.col(name).list.eval(pl.element().list.eval(named) if form.several else named)
    text = as_text(name, kind)
    inner = kind.inner if isinstance(kind, pl.List) else kind
    if not isinstance(inner, pl.DataType) or not inner.is_float():
        return text
    # Among texts, a number with an exponent would not be a decimal number.
    return text.list.eval(without_exponent(pl.element())) if form.several else without_exponent(text)
