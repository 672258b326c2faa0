"""The choice between the formats of an answer. Source: RFC 9110, 12.5.1 (Accept)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_replica.errors import UsageError


class NotAcceptableError(Exception):
    """The request accepts none of the formats; the text names them."""


def chosen_format(accept: str, named: str | None, formats: Mapping[str, Sequence[str]]) -> str:
    """Return the name of the format that a request prefers; with equal preference, the first one.

    Args:
        accept: the header ``Accept``; empty for any format.
        named: the parameter ``format``, which takes precedence.
        formats: the media types of each format, by name.

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
    best = max(formats, key=lambda name: _quality(formats[name], ranges))  # the first one of several
    if not _quality(formats[best], ranges):
        raise NotAcceptableError(f"the answer can be {offered}; name one with format=, or accept its media type")
    return best


def _quality(media_types: Sequence[str], ranges: Mapping[str, float]) -> float:
    """Return the quality of the most specific range that matches, of the best of some media types."""
    return max(
        next((ranges[name] for name in (one, f"{one.partition('/')[0]}/*", "*/*") if name in ranges), 0.0)
        for one in media_types
    )


def _ranges(accept: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in accept.lower().split(","):
        essence, *parameters = (text.strip() for text in part.split(";"))
        found[essence] = max(found.get(essence, 0.0), _q(parameters))
    return found


def _q(parameters: Sequence[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return min(max(float(value), 0.0), 1.0)
            except ValueError:
                return 0.0
    return 1.0
