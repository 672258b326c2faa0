"""Texts with wildcards, and version rules applied to sets of URNs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from kafka_replica.sdmx.urns.urn import Urn
from kafka_replica.sdmx.urns.versions import newest


def pattern(text: str) -> str | Callable[[str], re.Match[str] | None]:
    """Return the text itself or, if it contains ``*`` (any text), a function that matches other texts against it."""
    if "*" not in text:
        return text
    return re.compile(".*".join(re.escape(part) for part in re.split(r"\*+", text))).fullmatch


def fitting(wanted: str | Callable[[str], object], text: str) -> bool:
    """Return whether a text matches a pattern."""
    return wanted == text if isinstance(wanted, str) else bool(wanted(text))


def meant(rule: str, urns: Iterable[Urn]) -> list[Urn]:
    """Return the version of each artefact that the rule selects, sorted."""
    by_artefact: dict[tuple[str, str, str], dict[str, Urn]] = {}
    for urn in urns:
        by_artefact.setdefault((urn.cls, urn.agency, urn.id), {})[urn.version] = urn
    found = ((versions, newest(rule, versions)) for versions in by_artefact.values())
    return sorted(versions[version] for versions, version in found if version is not None)
