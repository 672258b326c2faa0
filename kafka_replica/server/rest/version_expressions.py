"""Version expressions of queries: ``1.0``, ``+``, ``2.1+.0``, ``~.0.0``, ``1.*``, ``latest``.

Source: SDMX REST 2.2.2, doc/querying_versions.md; SDMX REST 1.5.0, docs/4_3_structural_queries.md (keywords).
Expressions with ``+`` select the latest stable semantic version, ``x.y.z`` with ``x`` > 0. If an artefact has none,
versions with one or two parts count as stable, as in references (``kafka_replica.sdmx.urns.versions``), because
otherwise ``+`` would find nothing in registries of 2.1. ``2.3+``, which the specification does not have, follows the
rules of references.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from kafka_replica.sdmx.urns.versions import LATEST, LATEST_STABLE, is_stable, is_version, newest, sort_key

ALL: Final = "*"
CURRENT: Final = "latest"
"""The keyword of 1.x for the version "used in production": the newest stable version, or else the newest."""

_part = re.compile(r"([0-9]{0,1000})([+~*]?)").fullmatch


class VersionExpression(NamedTuple):
    """A version expression, and a function that selects among the versions of one artefact."""

    text: str
    select: Callable[[Iterable[str]], list[str]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VersionExpression) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def exact(self) -> str | None:
        """The version that the expression names; None if the expression is a rule."""
        return self.text if is_version(self.text) else None


class InvalidVersionError(ValueError):
    """The error of a text that is not a version expression."""


def parse_version(text: str) -> VersionExpression:
    """Parse a version expression.

    Raises:
        InvalidVersionError: the text is not a version expression; the error suggests an alternative.
    """
    if is_version(text):
        return VersionExpression(text, lambda versions: [version for version in versions if version == text])
    if text in {ALL, "all"}:
        return VersionExpression(ALL, list)
    if text == LATEST_STABLE:
        return VersionExpression(text, lambda versions: _newest_stable(text, versions))
    if text in {CURRENT, LATEST}:
        rule = ALL if text == CURRENT else text
        return VersionExpression(text, lambda versions: _newest(rule, versions))
    return VersionExpression(text, _rule(text))


def _rule(text: str) -> Callable[[Iterable[str]], list[str]]:
    parts = [_part(part) for part in text.split(".")]
    if not 1 <= len(parts) <= 3:
        raise InvalidVersionError("a version has at most three parts")
    found = [(part[1], part[2]) for part in parts if part is not None and part[0]]
    if len(found) != len(parts):
        raise InvalidVersionError("the parts of a version are numbers, of which one may have a +, ~ or * after it")
    marks = [index for index, (_, mark) in enumerate(found) if mark]
    if len(marks) != 1:
        raise InvalidVersionError("only one part may have a +, ~ or *")
    free, mark = marks[0], found[marks[0]][1]
    if not found[free][0]:
        _check_open(found, free, mark)
    numbers = tuple(int(digits or "0") for digits, _ in found)
    if mark == LATEST_STABLE:
        rule = ".".join(f"{number}{'+' if index == free else ''}" for index, number in enumerate(numbers))
        select = _newest if len(numbers) == 2 else _newest_stable
        return lambda versions: select(rule, versions)
    if len(numbers) == 1:
        raise InvalidVersionError(f"use {mark} alone, or a version of two or three parts")
    if mark == LATEST:
        return lambda versions: sorted(_select(numbers, free, versions), key=sort_key)[-1:]
    return lambda versions: _select(numbers, free, versions)


def _check_open(found: list[tuple[str, str]], free: int, mark: str) -> None:
    """Check that no numbers follow a part that is only a wildcard, and that ``+`` is in a version of three parts.

    Raises:
        InvalidVersionError: this is not the case; the error suggests an alternative.
    """
    fixed = [digits for digits, _ in found[:free]]
    if any(digits != "0" for digits, _ in found[free + 1 :]):
        advice = ".".join([*fixed, mark, *["0"] * (len(found) - free - 1)])
        raise InvalidVersionError(f"use {advice}: numbers after a wildcard have no meaning")
    if mark == LATEST_STABLE and len(found) == 2:
        advice = ".".join([*fixed, mark, *["0"] * (2 - len(fixed))])
        raise InvalidVersionError(f"use {advice}: stable versions have three parts")


def _newest(rule: str, versions: Iterable[str]) -> list[str]:
    found = newest(rule, versions)
    return [] if found is None else [found]


def _newest_stable(rule: str, versions: Iterable[str]) -> list[str]:
    """Return the newest semantic version that fits; of an artefact without one, the newest legacy version."""
    known = [version for version in versions if is_stable(version)]
    semantic = [version for version in known if version.count(".") == 2 and not version.startswith("0.")]
    return _newest(rule, semantic or [version for version in known if version.count(".") < 2])


def _select(numbers: tuple[int, ...], first_free: int, versions: Iterable[str]) -> list[str]:
    """Return the versions of the same length that equal ``numbers`` before ``first_free``, and are not lower after."""
    found = []
    for version in versions:
        written, _, extension = version.partition("-")
        parts = tuple(int(part[:1000]) for part in written.split("."))
        is_form = len(parts) == len(numbers) and (len(parts) == 3 or not extension)
        if is_form and parts[:first_free] == numbers[:first_free] and parts[first_free:] >= numbers[first_free:]:
            found.append(version)
    return found
