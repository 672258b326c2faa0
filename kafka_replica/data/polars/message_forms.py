"""The forms of columns of a message that is read in batches: a column must have the same form in all batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import polars as pl

from kafka_replica.data.files.layout import UNDETERMINED

_TEXT_TYPE: Final = pl.Struct({"language": pl.String(), "text": pl.String()})


class ColumnForm(NamedTuple):
    """The form of a column: whether a row may have several values, and whether values are texts by language."""

    several: bool
    languages: bool

    @property
    def type(self) -> pl.DataType:
        """Return the polars type of a column of this form."""
        one: pl.DataType = pl.List(_TEXT_TYPE) if self.languages else pl.String()
        return pl.List(one) if self.several else one


def common_forms(schemas: Sequence[pl.DataFrame]) -> tuple[pl.DataFrame, Mapping[str, ColumnForm]]:
    """Return a frame without rows that has the columns of all batches, and the forms of columns that are not texts."""
    types: dict[str, pl.DataType] = {}
    forms: dict[str, ColumnForm] = {}
    for schema in schemas:
        for name, kind in schema.schema.items():
            old, new = forms.get(name, ColumnForm(several=False, languages=False)), _form_of(kind)
            forms[name] = ColumnForm(old.several or new.several, old.languages or new.languages)
            if types.get(name) in {None, pl.Null()}:
                types[name] = kind
    others = {name: form for name, form in forms.items() if form.several or form.languages}
    return pl.DataFrame(schema=types | {name: form.type for name, form in others.items()}), others


def _form_of(kind: pl.DataType) -> ColumnForm:
    if not isinstance(kind, pl.List):
        return ColumnForm(several=False, languages=False)
    if isinstance(kind.inner, pl.Struct):
        return ColumnForm(several=False, languages=True)
    return ColumnForm(several=True, languages=isinstance(kind.inner, pl.List))


def in_forms(frame: pl.DataFrame, forms: Mapping[str, ColumnForm]) -> pl.DataFrame:
    """Return a batch with its columns converted to these forms."""
    changed = []
    schema = frame.schema  # stored, because polars builds a new schema on each access
    for name, form in forms.items():
        if name in schema and schema[name] != form.type:
            old = _form_of(schema[name])
            values = [_in_form(one, old, form) for one in frame[name]]
            changed.append(pl.Series(name, values, dtype=form.type))
    return frame.with_columns(changed)


def _in_form(value: Any, old: ColumnForm, new: ColumnForm) -> Any:
    if value is None:
        return None
    values = [value] if not old.several else value
    if new.languages and not old.languages:
        values = [None if one is None else [{"language": UNDETERMINED, "text": one}] for one in values]
    return list(values) if new.several else values[0]
