"""Rows with uniform columns, as frames need them."""

from __future__ import annotations

from typing import Any, TypeAlias

from kafka_replica.data.files.layout import UNDETERMINED

Row: TypeAlias = dict[str, Any]


def aligned(rows: list[Row]) -> list[Row]:
    """Return the rows with the same columns in each; a column with a list in any row has lists in all rows.

    Texts by language, which are dictionaries, become lists of ``language`` and ``text``.
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    kinds = {name: _kinds(rows, name) for name in names}
    return [{name: _as(row.get(name), *kinds[name]) for name in names} for row in rows]


def _kinds(rows: list[Row], name: str) -> tuple[bool, bool]:
    """Return whether a column has several values, and whether it has texts in languages."""
    values = [row.get(name) for row in rows]
    several = any(isinstance(value, list) for value in values)
    inner = [one for value in values for one in (value if isinstance(value, list) else [value])]
    return several, any(isinstance(one, dict) for one in inner)


def _as(value: Any, several: bool, languages: bool) -> Any:
    if value is None:
        return None
    if several:
        return [_one(one, languages) for one in (value if isinstance(value, list) else [value])]
    return _one(value, languages)


def _one(value: Any, languages: bool) -> Any:
    if not languages or value is None:
        return value
    texts = value if isinstance(value, dict) else {UNDETERMINED: value}
    return [{"language": language, "text": text} for language, text in texts.items()]
