"""The choice of the format of an answer. Source: RFC 9110, section 12.5.1 (Accept)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_replica.common.quality_values import media_ranges_in
from kafka_replica.errors import UsageError


class NotAcceptableError(Exception):
    """The request accepts none of the possible formats, which the text names."""


def choose_format(accept: str, named: str | None, formats: Mapping[str, Sequence[str]]) -> str:
    """Return the name of the format that a request prefers; of equally preferred formats, the first.

    Args:
        accept: the header ``Accept``; empty if any format is accepted.
        named: the parameter ``format``, which takes precedence; None if it is missing.
        formats: the media types of each format, by name of the format.

    Raises:
        UsageError: no format has that name.
        NotAcceptableError: the header accepts none of the formats.
    """
    offered = ", ".join(formats)
    if named is not None:
        if named not in formats:
            raise UsageError(f"format={named!r} is not possible; it is one of {offered}")
        return named
    ranges = _ranges(accept) if accept.strip() else {"*/*": 1.0}
    best = max(formats, key=lambda name: _quality(formats[name], ranges))  # the first of several equal ones
    if not _quality(formats[best], ranges):
        raise NotAcceptableError(f"the answer can be {offered}; name one with format=, or accept its media type")
    return best


def _quality(media_types: Sequence[str], ranges: Mapping[str, float]) -> float:
    """Return the best quality of some media types; the most specific matching range determines each quality."""
    return max(
        next((ranges[name] for name in (type_, f"{type_.partition('/')[0]}/*", "*/*") if name in ranges), 0.0)
        for type_ in media_types
    )


def _ranges(accept: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for one in media_ranges_in(accept):
        found[one.name] = max(found.get(one.name, 0.0), one.quality)
    return found
