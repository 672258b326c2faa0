"""Convert facets to a map from their names in SDMX to their values as text."""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx.model.representation import TextFormat

_NAMES: Final = {
    "is_sequence": "isSequence",
    "is_multi_lingual": "isMultiLingual",
    "min_length": "minLength",
    "max_length": "maxLength",
    "min_value": "minValue",
    "max_value": "maxValue",
    "start_value": "startValue",
    "end_value": "endValue",
    "interval": "interval",
    "start_time": "startTime",
    "end_time": "endTime",
    "time_interval": "timeInterval",
    "decimals": "decimals",
    "pattern": "pattern",
}


def facets(format_: TextFormat | None) -> list[tuple[str, str]]:
    """Return the stated facets as pairs of name and value, without sentinel values and the text type."""
    if format_ is None:
        return []
    found = ((name, getattr(format_, field)) for field, name in _NAMES.items())
    return [(name, _written(value)) for name, value in found if value is not None]


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
