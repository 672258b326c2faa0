"""Times of validity in the form of each format: instants with or without a zone, days, milliseconds.

A day means its first instant, and an instant without a zone is in UTC if the format requires a zone; registries do the
same. An invalid time, from an invalid message, stays as it is.

Source: xs:dateTime and xs:date; RFC 3339 for the date-time of JSON schemas; TimePeriodType of SDMX-ML 2.0.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.values.text_types import DATE_TIME, TIME_TYPES

_DAY: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_ZONE: Final = r"(?:Z|[+-][0-9]{2}:[0-9]{2})"
_is_day = re.compile(f"({_DAY})({_ZONE}?)", re.ASCII).fullmatch
_is_instant = re.compile(rf"({_DAY})T([0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(?:\.[0-9]+)?)({_ZONE}?)", re.ASCII).fullmatch
_is_period = re.compile(rf"[0-9]{{4}}(?:-?[A-Z][0-9]+|-[0-9]{{2}})?{_ZONE}?", re.ASCII).fullmatch
_is_date_time = re.compile(DATE_TIME).fullmatch
_is_observational = re.compile(TIME_TYPES["ObservationalTimePeriod"]).fullmatch
_is_finer = re.compile(r"\.[0-9]{3}[0-9]*[1-9]").search
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MS: Final = timedelta(milliseconds=1)


def as_instant(value: str | None) -> str | None:
    """Return an xs:dateTime. Raises UnwritableError for a period, such as a year."""
    day = _is_day(value or "")
    if day:
        return f"{day[1]}T00:00:00{day[2]}"
    if value is not None and _is_period(value):
        raise UnwritableError(f"the format needs instants, but {value!r} is a period")
    return value


def as_instant_with_zone(value: str | None) -> str | None:
    """Return a date-time of RFC 3339. Raises UnwritableError for a period."""
    return with_zone(as_instant(value))


def with_zone(value: str | None) -> str | None:
    """Return an instant with a zone, or a period unchanged.

    Raises:
        UnwritableError: it is a day with a zone, or an instant of XML that RFC 3339 does not have: the end of a day as
            24:00:00, or a year with a sign or more than four digits.
    """
    day, found = _is_day(value or ""), _is_instant(value or "")
    if day and day[2]:
        raise UnwritableError(f"the format needs days without a time zone, but {value!r} has one")
    if (found and found[2].startswith("24")) or (value is not None and not found and _is_date_time(value)):
        raise UnwritableError(f"the format needs instants of RFC 3339, but {value!r} is not one")
    return f"{value}Z" if found and not found[3] else value


def instants(period: tuple[str, str] | None) -> tuple[str, str] | None:
    """Return a period of instants. Raises UnwritableError for others: a day as the end means its last instant."""
    for value in period or ():
        if not _is_date_time(value):
            raise UnwritableError(f"the format needs instants, but {value!r} is not an instant")
    return period


def observational(value: str | None) -> str | None:
    """Return a period of time or range of time. Raises UnwritableError for others, which SDMX-JSON may allow."""
    if value is not None and not _is_observational(value):
        raise UnwritableError(f"the format needs a period of time, but {value[:40]!r} is not one")
    return value


def as_day(value: str | None) -> str | None:
    """Return an xs:date with the zone of the value. Raises UnwritableError for an instant within a day, or a period."""
    found = _is_instant(as_instant(value) or "")
    if found is None:
        return value
    if found[2].strip("0:."):
        raise UnwritableError(f"the format needs days, but {value!r} is an instant within a day")
    return found[1] + found[3]


def milliseconds(value: str | None) -> int | None:
    """Return the milliseconds since 1970, or None unless the value is an instant that they represent exactly."""
    if value is None or _is_finer(value) or not (_is_instant(value) or _is_day(value)):
        return None
    try:
        found = datetime.fromisoformat(as_instant(value) or "")
    except ValueError:
        return None
    return ((found if found.tzinfo else found.replace(tzinfo=UTC)) - _EPOCH) // _MS


def as_milliseconds(value: str | None) -> str | None:
    """Return the instant as read from milliseconds: in UTC, without a zone. Raises UnwritableError for others."""
    found = milliseconds(value)
    if value is not None and found is None:
        raise UnwritableError(f"the format needs instants in milliseconds, but {value!r} is not one")
    return None if found is None else (_EPOCH + found * _MS).replace(tzinfo=None).isoformat()
