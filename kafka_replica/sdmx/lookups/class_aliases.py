"""Classes whose names differ between editions of the standard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kafka_replica.sdmx.urns.urn import Urn

ALIASES: Final = {
    "ContentConstraint": ("DataConstraint",),
    "DataConstraint": ("ContentConstraint",),
    "Codelist": ("GeographicCodelist", "GeoGridCodelist"),
    "GeographicCodelist": ("Codelist",),
    "GeoGridCodelist": ("Codelist",),
}
"""Aliases by class; the standard's own samples mix the codelist classes."""


def classes_of(cls: str) -> tuple[str, ...]:
    """Return the class and the names that other editions give it."""
    return (cls, *ALIASES.get(cls, ()))


def urn_aliases(urn: Urn) -> Iterator[Urn]:
    """Yield the URN, and its variants with the class names of other editions."""
    yield urn
    for alias in ALIASES.get(urn.cls, ()):
        yield Urn(urn.package, alias, urn.agency, urn.id, urn.version)
