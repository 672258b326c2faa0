"""Cells of SDMX-CSV as polars expressions: convert them to values, and values back to text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import polars as pl

from kafka_replica.data.files.csv_layout import LABEL, LANGUAGE, UNDETERMINED, Field, Form

_QUOTED: Final = r'\A"(?:[^"]|"")*"\z'


def value_of(
    field: Field, cell: pl.Expr, sub_separator: str | None, decimal: str, *, is_bare: bool = False
) -> pl.Expr:  # fmt: skip
    """Return the value of a cell; NULL if the cell is empty. With ``is_bare`` an empty cell is NULL already."""
    text: pl.Expr = cell if is_bare else pl.when(cell != "").then(cell)
    if field.is_number and decimal not in {".", sub_separator}:
        text = text.str.replace_all(decimal, ".", literal=True)
    if field.form == "text":
        return text if field.label is None else id_of(text, field.label)
    assert sub_separator is not None  # noqa: S101 - guaranteed by the layout
    if field.form == "languages":
        return _languages(parts_of_cell(text, sub_separator))
    found = parts_of_cell(text, sub_separator)
    if field.form == "values in languages":
        return found.list.eval(_languages(parts_of_cell(pl.element(), sub_separator)))
    return found if field.label is None else found.list.eval(id_of(pl.element(), field.label))


def id_of(text: pl.Expr, label: str) -> pl.Expr:
    """Return the id in a text such as ``A: Annual``; ``label`` is the separator between the id and the name."""
    return text.str.splitn(label, 2).struct.field("field_0")


def parts_of_cell(text: pl.Expr, separator: str) -> pl.Expr:
    """Return the values in a cell as a list; values that contain the separator are in double quotes."""
    mark = re.escape(separator)
    # Each match begins with a separator, so that no match is empty.
    pattern = f'{mark}(?:"(?:[^"]|"")*"[^{mark}]*|[^{mark}]*)'
    found = (pl.lit(separator) + text).str.extract_all(pattern)
    return found.list.eval(_unquoted(pl.element().str.slice(1)))


def _unquoted(text: pl.Expr) -> pl.Expr:
    inner = text.str.strip_prefix('"').str.strip_suffix('"').str.replace_all('""', '"', literal=True)
    return pl.when(text.str.contains(_QUOTED)).then(inner).otherwise(text)


def _languages(texts: pl.Expr) -> pl.Expr:
    """Return a list of texts with their languages; only the first text in each language is kept."""
    one = pl.element()
    pair = pl.struct(
        one.str.extract(LANGUAGE, 1).fill_null(UNDETERMINED).alias("language"),
        one.str.replace(LANGUAGE, "").alias("text"),
    )
    is_first = one.struct.field("language").is_first_distinct()
    return texts.list.eval(pair).list.eval(one.filter(is_first))


def cell_of(name: str, form: Form, text: pl.Expr, sub_separator: str, names: Mapping[str, str] | None) -> pl.Expr:
    """Return the cell for a value.

    Args:
        name: the column.
        form: the form of the column's values.
        text: the text of the value; for several values, the list of their texts.
        sub_separator: the separator of values within a cell.
        names: the names of codes, which are written after the codes; None if no names are written.
    """
    if form == "text":
        return text if names is None else code_with_name(text, names)
    one = pl.element()
    if form == "languages":
        return _joined(pl.col(name).list.eval(_quoted(_in_language(one), sub_separator)), sub_separator)
    if form == "values in languages":
        inner = one.list.eval(_quoted(_in_language(one), sub_separator)).list.join(sub_separator)
        return _joined(pl.col(name).list.eval(_quoted(inner, sub_separator)), sub_separator)
    shown = one if names is None else code_with_name(one, names)
    return _joined(text.list.eval(_quoted(shown, sub_separator)), sub_separator)


def code_with_name(text: pl.Expr, names: Mapping[str, str]) -> pl.Expr:
    """Return a code followed by its name, such as ``A: Annual``; a code without a name stays unchanged."""
    labelled = {code: f"{code}{LABEL}{name}" for code, name in names.items() if name}
    return text.replace(labelled) if labelled else text


def name_of(text: pl.Expr, form: Form, sub_separator: str, names: Mapping[str, str]) -> pl.Expr:
    """Return the names of codes, without the codes; empty if a code has no name."""
    if not names:
        return pl.lit(None, pl.String)
    if form == "text":
        return text.replace_strict(dict(names), default=None, return_dtype=pl.String)
    found = pl.element().replace_strict(dict(names), default="", return_dtype=pl.String)
    return _joined(text.list.eval(_quoted(found, sub_separator)), sub_separator)


def _joined(texts: pl.Expr, separator: str) -> pl.Expr:
    return texts.list.join(separator)


def _in_language(expr: pl.Expr) -> pl.Expr:
    language, text = expr.struct.field("language"), expr.struct.field("text")
    is_bare = (language == UNDETERMINED) & ~text.str.contains(LANGUAGE)  # else its first word would be the language
    return pl.when(is_bare).then(text).otherwise(pl.concat_str([language, text], separator=":"))


def _quoted(text: pl.Expr, separator: str) -> pl.Expr:
    needs = text.str.contains(separator, literal=True) | text.str.starts_with('"')
    return (
        pl.when(needs).then(pl.lit('"') + text.str.replace_all('"', '""', literal=True) + pl.lit('"')).otherwise(text)
    )
