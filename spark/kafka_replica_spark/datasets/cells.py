"""Cells of SDMX-CSV as Spark expressions: convert them to values and back, with the same results as polars."""

from __future__ import annotations

import re
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica.data.files.csv_layout import LABEL, LANGUAGE, UNDETERMINED, Field, Form

_QUOTED: Final = r'\A"(?:[^"]|"")*"\z'


def value_of(field: Field, cell: Column, sub_separator: str | None, decimal: str) -> Column:
    """Return the value of a cell; NULL if the cell is empty."""
    text = F.nullif(cell, F.lit(""))
    if field.is_number and decimal not in {".", sub_separator}:
        text = F.translate(text, decimal, ".")
    if field.form == "text":
        return text if field.label is None else id_of(text, field.label)
    assert sub_separator is not None  # noqa: S101 - guaranteed by the layout
    separator = sub_separator
    if field.form == "languages":
        return _languages(split_cell(text, separator))
    found = split_cell(text, separator)
    if field.form == "values in languages":
        return F.transform(found, lambda one: _languages(split_cell(one, separator)))
    label = field.label
    return found if label is None else F.transform(found, lambda one: id_of(one, label))


def id_of(text: Column, label: str) -> Column:
    """Return the id in a text such as ``A: Annual``; ``label`` is the separator between the id and the name."""
    return F.substring_index(text, label, 1)


def split_cell(text: Column, separator: str) -> Column:
    """Return the values in a cell as an array; values that contain the separator are in double quotes."""
    mark = re.escape(separator)
    pattern = f'{mark}("(?:[^"]|"")*"[^{mark}]*|[^{mark}]*)'
    found = F.regexp_extract_all(F.concat(F.lit(separator), text), F.lit(pattern), F.lit(1))
    return F.transform(found, _unquoted)


def _unquoted(text: Column) -> Column:
    inner = F.regexp_replace(F.regexp_replace(text, r'\A"|"\z', ""), '""', '"')
    return F.when(text.rlike(_QUOTED), inner).otherwise(text)


def _languages(texts: Column) -> Column:
    """Return a map from languages to texts, with the first text in each language."""
    languages = F.transform(texts, _language)
    pairs = F.transform(texts, lambda one: F.struct(_language(one), F.regexp_replace(one, LANGUAGE, "")))
    # Only the first text in each language is kept, because a map with a duplicate key would fail the whole job.
    firsts = F.filter(pairs, lambda one, place: F.array_position(languages, one["col1"]) == place + 1)
    return F.map_from_entries(firsts)


def _language(text: Column) -> Column:
    return F.coalesce(F.nullif(F.regexp_extract(text, LANGUAGE, 1), F.lit("")), F.lit(UNDETERMINED))


def cell_of(value: Column, text: Column, form: Form, sub_separator: str, names: Column | None) -> Column:
    """Return the cell for a value.

    Args:
        value: the column.
        text: the text of the value; for several values, the array of their texts.
        form: the form of the column's values.
        sub_separator: the separator of values within a cell.
        names: a map from codes to names, which are written after the codes; None if no names are written.
    """
    if form == "text":
        return text if names is None else code_with_name(text, names)
    if form == "languages":
        return F.array_join(_in_languages(value, sub_separator), sub_separator)
    if form == "values in languages":
        each = F.transform(value, lambda one: F.array_join(_in_languages(one, sub_separator), sub_separator))
        return F.array_join(F.transform(each, lambda one: _quoted(one, sub_separator)), sub_separator)
    shown = text if names is None else F.transform(text, lambda one: code_with_name(one, names))
    return F.array_join(F.transform(shown, lambda one: _quoted(one, sub_separator)), sub_separator)


def code_with_name(text: Column, names: Column) -> Column:
    """Return a code followed by its name, such as ``A: Annual``; a code without a name stays unchanged."""
    return F.coalesce(F.concat(text, F.lit(LABEL), F.nullif(F.try_element_at(names, text), F.lit(""))), text)


def name_of(text: Column, form: Form, sub_separator: str, names: Column) -> Column:
    """Return the names of codes, without the codes; NULL or empty if a code has no name."""
    if form == "text":
        return F.try_element_at(names, text)
    found = F.transform(text, lambda one: F.coalesce(F.try_element_at(names, one), F.lit("")))
    return F.array_join(F.transform(found, lambda one: _quoted(one, sub_separator)), sub_separator)


def _in_languages(languages: Column, separator: str) -> Column:
    return F.transform(F.map_entries(languages), lambda one: _quoted(_with_language(one), separator))


def _with_language(column: Column) -> Column:
    spelled = F.concat_ws(":", column["key"], column["value"])
    looks_spelled = F.coalesce(F.rlike(column["value"], F.lit(LANGUAGE)), F.lit(False))
    is_bare = (column["key"] == UNDETERMINED) & ~looks_spelled  # else its first word would be the language
    return F.when(is_bare, column["value"]).otherwise(spelled)


def _quoted(text: Column, separator: str) -> Column:
    needs = F.contains(text, F.lit(separator)) | F.startswith(text, F.lit('"'))
    return F.when(needs, F.concat(F.lit('"'), F.replace(text, F.lit('"'), F.lit('""')), F.lit('"'))).otherwise(text)
