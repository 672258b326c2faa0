"""Values of reported attributes in JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from kafka_replica.sdmx.containers import NO_TEXT, InternationalString


def read_reported_value(value: Any) -> tuple[tuple[str, ...], InternationalString]:
    """Return the values, and the text by language, in a JSON value of a reported attribute, as in SDMX-ML."""
    if isinstance(value, dict) and all(isinstance(each, str) for each in value.values()):
        return (), InternationalString(value)
    if isinstance(value, list):
        return tuple(_as_text(one) for one in value), NO_TEXT
    return () if value is None else (_as_text(value),), NO_TEXT


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
