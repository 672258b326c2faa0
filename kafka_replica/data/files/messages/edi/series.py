"""The observations of one ARR segment: the key of a series, a period or range, and values with their attributes.

Source: SDMX 2.1 Section 4, "SDMX-EDI: Syntax and Documentation": ARR++key:period:format:value:status:conf:pre-break.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from kafka_replica.data.files.messages.edi.periods import periods_of
from kafka_replica.data.files.messages.edi.structure import Components
from kafka_replica.sdmx.formats.edi.reading.syntax import Segment, fail

_MOST: Final = 1 << 20  # the maximum number of characters in a segment
MISSING: Final = "-"
"""The value of a missing observation, unless GIS+1 declares another one; GESMES/TS always uses this one."""
_ATTRIBUTES: Final = ("OBS_STATUS", "OBS_CONF", "OBS_PRE_BREAK")


class Series(NamedTuple):
    """The content of an ARR segment.

    Attributes:
        key: the values of the dimensions; empty texts in deletions mean all values.
        format_code: the code of the format of the periods; empty if there are no periods.
        periods: the periods.
        columns: the values of the measure and the attributes at the observation, by their ids, one per period; empty if
            the segment has no values.
    """

    key: tuple[str, ...]
    format_code: str
    periods: tuple[str, ...]
    columns: dict[str, Sequence[str | None]]


def series_of(segment: Segment, components: Components, missing: str, decimal: str) -> Series:
    """Return the observations of an ARR segment.

    Args:
        segment: the segment.
        components: the components of its structure.
        missing: the value of a missing observation in the message.
        decimal: the decimal mark of the interchange.

    Raises:
        MessageError: the segment does not fit the structure, or has more or fewer values than periods.
    """
    elements = segment.elements(_MOST)
    first = elements[1] if len(elements) > 1 else []
    size = len(components.series)
    if len(first) not in {size, *range(size + 2, size + 7)}:
        expected = ":".join((*components.series, components.time, "format", "value"))
        fail(segment.number, f"{':'.join(first)[:80]!r} has {len(first)} parts; the structure needs {expected}")
    key = tuple(one.strip() for one in first[:size])
    if len(first) == size:
        if len(elements) > 2:
            fail(segment.number, "a series has values but no period")
        return Series(key, "", (), {})
    code = first[size + 1].strip()
    try:
        periods = periods_of(first[size].strip(), code)
    except ValueError as error:
        fail(segment.number, str(error))
    values = [first[size + 2 :], *elements[2:]] if len(first) > size + 2 or len(elements) > 2 else []
    if values and len(values) != len(periods):
        fail(segment.number, f"{len(values):,} values for {len(periods):,} periods, {periods[0]} to {periods[-1]}")
    return Series(key, code, periods, _columns(segment, values, components, missing, decimal))


def _columns(
    segment: Segment, values: list[list[str]], components: Components, missing: str, decimal: str
) -> dict[str, Sequence[str | None]]:
    names = (components.measure, *_ATTRIBUTES)
    most = max(map(len, values), default=0)
    if most > len(names):
        fail(segment.number, f"a value has {most} parts; it can have {len(names)}: {', '.join(names)}")
    columns: dict[str, Sequence[str | None]] = {}
    for at, name in enumerate(names[:most]):
        texts = [(value[at].strip() or None) if at < len(value) else None for value in values]
        if at in {0, 3}:
            texts = [components.missing if text == missing else text for text in texts]
            if decimal != ".":
                texts = [text and text.replace(decimal, ".") for text in texts]
        if at == 0 or any(texts):
            columns[name] = texts
    return columns
