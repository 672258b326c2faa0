"""The bounds of the numbers of a sequence or range."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from kafka_replica.sdmx import TextFormat

RANGE_TYPES: Final = frozenset({"InclusiveValueRange", "ExclusiveValueRange"})
"""The text types whose ``startValue`` and ``endValue`` are bounds without a sequence, too."""


def sequence_bounds(text_type: str, format_: TextFormat) -> tuple[Decimal | None, Decimal | None]:
    """Return the lowest and the highest number that ``startValue`` and ``endValue`` allow.

    If the interval is negative, the sequence descends, so that it starts with the highest number.
    """
    is_sequence = format_.is_sequence is not False
    if not is_sequence and text_type not in RANGE_TYPES:
        return None, None
    descends = is_sequence and format_.interval is not None and format_.interval < 0
    start, end = format_.start_value, format_.end_value
    return (end, start) if descends else (start, end)
