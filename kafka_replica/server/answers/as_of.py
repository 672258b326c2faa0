"""The parameter ``asOf``: an instant, or the number of a version.

Source: SDMX REST 2.2, doc/structures.md ("asOf"): a date, or a date and time as in ISO 8601.
"""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import unquote

from kafka_replica.errors import UsageError


def may_have_as_of(query: str) -> bool:
    """Return whether a query string may have the parameter: yes if its name occurs anywhere, percent-encoded or not."""
    return "asof" in unquote(query).lower()


def instant_of(text: str) -> datetime:
    """Return the instant that a date, or a date and time, denotes; without a time zone, the text is in UTC.

    Raises:
        UsageError: the text is not a valid date, or date and time.
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"{text} is not a date and time: {error}; an example is 2026-01-31T12:00:00Z") from error
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found
