"""Headers that list what a client accepts, with weights. Source: RFC 9110, sections 12.4.2 (quality values), 12.5.1."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

_QUALITY: Final = re.compile(r"0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?").fullmatch


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
    """Return the elements of a header such as ``Accept``; those with an invalid weight are left out."""
    found: list[WeightedElement] = []
    for element in header.split(","):
        name, *written = element.split(";")
        pairs = (parameter.partition("=") for parameter in written)
        parameters = {key.strip().lower(): value.strip().strip('"') for key, _, value in pairs}
        quality = parameters.pop("q", "") or "1"
        if _QUALITY(quality):
            found.append(WeightedElement(name.strip().lower(), parameters, float(quality)))
    return found
