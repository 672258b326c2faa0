"""Give all values of a column the same form, which frames require."""

from __future__ import annotations

from typing import Any

from kafka_replica.data.files.csv_layout import UNDETERMINED


def uniform_values(values: list[Any]) -> list[Any]:
    """Return the values of a column in one form.

    All become lists if any is a list. If any is a dictionary of texts by language, all become lists of dictionaries
    with the keys ``language`` and ``text``.
    """
    several = any(isinstance(value, list) for value in values)
    inner = [one for value in values for one in (value if isinstance(value, list) else [value])]
    languages = any(isinstance(one, dict) for one in inner)
    return [_as(value, several, languages) for value in values]


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
