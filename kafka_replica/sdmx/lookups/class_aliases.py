"""Classes that one edition calls so and another otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kafka_replica.sdmx.urn import Urn

ALIASES: Final = {
    "ContentConstraint": ("DataConstraint",),
    "DataConstraint": ("ContentConstraint",),
    "Codelist": ("GeographicCodelist", "GeoGridCodelist"),
    "GeographicCodelist": ("Codelist",),
    "GeoGridCodelist": ("Codelist",),
}
"""A class, and what else it may be called; the standard's own samples mix the codelists."""


def classes_of(cls: str) -> tuple[str, ...]:
    """The class, and the names other editions give it."""
    return (cls, *ALIASES.get(cls, ()))


def spellings(urn: Urn) -> Iterator[Urn]:
    """The URN, and the same under the names other editions give its class."""
    yield urn
    for alias in ALIASES.get(urn.cls, ()):
        yield Urn(urn.package, alias, urn.agency, urn.id, urn.version)
