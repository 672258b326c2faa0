"""Selection of the structures that a replica keeps, by their keys: the subscription that registries do not offer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

from kafka_replica.filters import KeyFilter
from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.urns.urn import Urn

Patterns = str | Iterable[str]
"""A pattern, or several patterns, at least one of which has to match; ``*`` matches any text."""


def only(
    cls: Patterns = "*",
    agency: Patterns = "*",
    id: Patterns = "*",  # noqa: A002 - SDMX's name
    version: Patterns = "*",
) -> KeyFilter:
    """Return a filter for structures by URN, for ``Replica(..., key_filter=only(cls=["Codelist", "DataStructure"]))``.

    The key decides: other artefacts in the same message under a matching key are kept, too, and keys that are not URNs
    are not kept. ``only(...) | only(...)`` combines several filters.

    Args:
        cls: SDMX classes, such as ``Codelist``.
        agency: agencies, such as ``SDMX`` or ``ESTAT.*``.
        id: ids.
        version: versions as written, such as ``1.0`` or ``2.*``.
    """
    parts = {"cls": cls, "agency": agency, "id": id, "version": version}
    wanted = {name: tuple(sorted(_several(patterns))) for name, patterns in parts.items()}
    fits = [(name, _fits(patterns)) for name, patterns in wanted.items() if "*" not in patterns]

    def keeps(key: bytes) -> bool:
        try:
            urn = Urn.parse(key)
        except UrnError:
            return False
        return all(fit(getattr(urn, name)) for name, fit in fits)

    shown = ", ".join(f"{name}={'|'.join(patterns)}" for name, patterns in wanted.items() if "*" not in patterns)
    return KeyFilter(keeps, f"structures {shown or 'of any kind'}")


def _several(patterns: Patterns) -> Iterable[str]:
    return [patterns] if isinstance(patterns, str) else patterns


def _fits(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    exact = {pattern for pattern in patterns if not set(pattern) & set("*?[")}
    others = [pattern for pattern in patterns if pattern not in exact]
    return lambda text: text in exact or any(fnmatchcase(text, pattern) for pattern in others)
