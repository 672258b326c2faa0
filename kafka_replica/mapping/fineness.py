"""Whether a date that was written can be read again, and gives what was read before."""

from __future__ import annotations

from kafka_replica.mapping.dates import UNITS, Counted, Dated, Reading, Writing, Written, read_by, write_by

_YEAR, _PART, _MONTH, _DAY, _SECOND, _WEEK = range(6)
_OF_UNIT = {
    "year": _YEAR, "semester": _PART, "trimester": _PART, "quarter": _PART, "month": _MONTH, "week": _WEEK, "day": _DAY,
}  # fmt: skip


def tells(writing: Writing, reading: Reading) -> bool:
    """Whether all that was read is told by what is written."""
    if isinstance(reading, Counted):
        if reading.per_s != 1 or isinstance(writing, Counted):
            return reading == writing
        needed = _DAY if reading.unit_s > 1 else _SECOND
    else:
        needed = _SECOND if reading.clock_s is not None else _OF_UNIT[reading.unit]
    told = _told(writing)
    if needed == _WEEK:
        return told in {_WEEK, _DAY, _SECOND}
    if needed == _PART:
        return told in {_MONTH, _DAY, _SECOND} or (isinstance(reading, Dated) and reading.unit in _parts(writing))
    return told != _WEEK and told >= needed


def _told(writing: Writing) -> int:
    """The finest part of a date that is written."""
    if isinstance(writing, Counted):
        return _DAY if writing.unit_s > 1 else _SECOND
    names = {token.field for token in writing.tokens}
    letters = {token.text for token in writing.tokens if token.field == "number"}
    for is_told, part in (
        ("second" in names, _SECOND),
        (bool(names & {"day", "day_of_year"}) or "D" in letters, _DAY),
        ("week" in names or "W" in letters, _WEEK),
        ("month" in names or "M" in letters, _MONTH),
        (bool(letters - {"A"}), _PART),
    ):
        if is_told:
            return part
    return _YEAR


def _parts(writing: Writing) -> set[str]:
    if isinstance(writing, Counted):
        return set()
    return {UNITS[token.text] for token in writing.tokens if token.field == "number"}


def read_again(writing: Writing, short_year_from: int) -> Reading:
    """How to read what is written so."""
    return read_by(writing.pattern, writing.locale, short_year_from) if isinstance(writing, Written) else writing


def write_again(reading: Reading) -> Writing:
    """How to write what is read so."""
    return write_by(reading.pattern, reading.locale) if isinstance(reading, Dated) else reading
