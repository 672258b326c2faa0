"""Headers that list what a client accepts, with weights. Source: RFC 9110, sections 12.4.2 (quality values), 12.5.1."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

_NUMBER: Final = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+").fullmatch
_LEAST: Final = 0.001


class WeightedElement(NamedTuple):
    """An element of such a header.

    Attributes:
        name: a range of media types, or a coding, in lower case.
        parameters: the parameters, except the weight, by name in lower case.
        quality: the weight, from 0 (not acceptable) to 1.
    """

    name: str
    parameters: Mapping[str, str]
    quality: float


def accepted_in(header: str) -> list[WeightedElement]:
    """Return the elements of a header such as ``Accept``.

    Weights may be written in ways that the standard does not allow, such as ``.2``, which Java's HTTP client sends. A
    weight that cannot be read counts as the least one: the client has named the element, so that it is acceptable.
    """
    found: list[WeightedElement] = []
    for element in header.split(","):
        name, *written = element.split(";")
        pairs = (parameter.partition("=") for parameter in written)
        parameters = {key.strip().lower(): value.strip().strip('"') for key, _, value in pairs}
        quality = parameters.pop("q", "") or "1"
        weight = min(float(quality), 1.0) if _NUMBER(quality) else _LEAST
        found.append(WeightedElement(name.strip().lower(), parameters, weight))
    return found


def media_ranges_in(header: str) -> list[WeightedElement]:
    """Return the elements of a header ``Accept``; a single ``*``, which Java's HTTP client sends, means ``*/*``."""
    return [one._replace(name="*/*") if one.name == "*" else one for one in accepted_in(header)]
