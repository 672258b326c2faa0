"""The forms of columns of messages as types of polars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from kafka_replica.data.files.messages.column_forms import ColumnForm, in_form

_TEXT_TYPE: Final = pl.Struct({"language": pl.String(), "text": pl.String()})


def common_forms(schemas: Sequence[pl.DataFrame]) -> tuple[pl.DataFrame, Mapping[str, ColumnForm]]:
    """Return a frame without rows that has the columns of all batches, and the forms of columns that are not texts."""
    types: dict[str, pl.DataType] = {}
    forms: dict[str, ColumnForm] = {}
    for schema in schemas:
        for name, kind in schema.schema.items():
            forms[name] = forms.get(name, ColumnForm()).common(_form_of(kind))
            if types.get(name) in {None, pl.Null()}:
                types[name] = kind
    others = {name: form for name, form in forms.items() if form != ColumnForm()}
    return pl.DataFrame(schema=types | {name: type_of(form) for name, form in others.items()}), others


def _form_of(kind: pl.DataType) -> ColumnForm:
    if not isinstance(kind, pl.List):
        return ColumnForm()
    if isinstance(kind.inner, pl.Struct):
        return ColumnForm(several=False, languages=True)
    return ColumnForm(several=True, languages=isinstance(kind.inner, pl.List))


def type_of(form: ColumnForm) -> pl.DataType:
    """Return the type of a column of a form."""
    one: pl.DataType = pl.List(_TEXT_TYPE) if form.languages else pl.String()
    return pl.List(one) if form.several else one


def in_forms(frame: pl.DataFrame, forms: Mapping[str, ColumnForm]) -> pl.DataFrame:
    """Return a batch with its columns converted to these forms."""
    changed = []
    schema = frame.schema  # stored, because polars builds a new schema on each access
    for name, form in forms.items():
        if name in schema and schema[name] != type_of(form):
            old = _form_of(schema[name])
            values = [in_form(one, old, form) for one in frame[name]]
            changed.append(pl.Series(name, values, dtype=type_of(form)))
    return frame.with_columns(changed)
