"""Tables of pyarrow with the rows of a data message, a batch of rows in each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import pyarrow as pa

from kafka_replica.data.files.messages.batches import MessageBatch, batches_of
from kafka_replica.data.files.messages.blocks import Block
from kafka_replica.data.files.messages.column_forms import ColumnForm, in_form
from kafka_replica_spark.locations import AT, LINE, PATH

BATCH_ROWS: Final = 50_000
_KNOWN: Final = {AT: pa.int64(), LINE: pa.int64(), PATH: pa.string()}
_LANGUAGES: Final = pa.list_(pa.struct([("language", pa.string()), ("text", pa.string())]))


def tables_of(located: Iterable[tuple[int | None, Block]]) -> Iterator[pa.Table]:
    """Yield the rows of blocks with their numbers, lines and paths (``AT``, ``LINE`` and ``PATH``); at least one table.

    Args:
        located: the blocks, each with the line of its first row.
    """
    before, is_empty = 0, True
    for batch in batches_of(located, BATCH_ROWS):
        is_empty = False
        table = _table(batch, before)
        # A block, and so a batch, may have many rows.
        for first in range(0, max(table.num_rows, 1), BATCH_ROWS):
            yield table.slice(first, BATCH_ROWS)
        before += table.num_rows
    if is_empty:
        yield _table(MessageBatch({}, (), ()), 0)


def _table(batch: MessageBatch, before: int) -> pa.Table:
    numbers = range(before + 1, before + len(batch.lines) + 1)
    known = {AT: numbers, LINE: batch.lines, PATH: batch.paths}
    return pa.table(batch.columns | {name: pa.array(values, _KNOWN[name]) for name, values in known.items()})


def common_forms(schemas: Iterable[pa.Schema]) -> dict[str, ColumnForm]:
    """Return the columns of all tables, each in a form in which the values of all can be represented."""
    forms: dict[str, ColumnForm] = {}
    for schema in schemas:
        for field in schema:
            if field.name not in _KNOWN:
                forms[field.name] = forms.get(field.name, ColumnForm()).common(_form_of(field.type))
    return forms


def schema_of(forms: Mapping[str, ColumnForm]) -> pa.Schema:
    """Return the schema of tables with columns of these forms, and the columns of locations."""
    return pa.schema({**{name: _type_of(form) for name, form in forms.items()}, **_KNOWN})


def in_forms(table: pa.Table, forms: Mapping[str, ColumnForm]) -> pa.Table:
    """Return a table with all columns, in these forms."""
    schema = schema_of(forms)
    return pa.Table.from_arrays([_column(table, field, forms.get(field.name)) for field in schema], schema=schema)


def _column(table: pa.Table, field: Any, form: ColumnForm | None) -> Any:
    if field.name not in table.column_names:
        return pa.nulls(table.num_rows, field.type)
    column = table.column(field.name)
    if form is None or column.type == field.type or pa.types.is_null(column.type):
        return column.cast(field.type)
    old = _form_of(column.type)
    return pa.array([in_form(value, old, form) for value in column.to_pylist()], field.type)


def _form_of(kind: Any) -> ColumnForm:
    if not pa.types.is_list(kind):
        return ColumnForm()
    if pa.types.is_struct(kind.value_type):
        return ColumnForm(several=False, languages=True)
    return ColumnForm(several=True, languages=pa.types.is_list(kind.value_type))


def _type_of(form: ColumnForm) -> Any:
    one: Any = _LANGUAGES if form.languages else pa.string()
    return pa.list_(one) if form.several else one
