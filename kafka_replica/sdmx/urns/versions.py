"""The order of versions, and the versions that a rule selects.

Sources: SDMX 3.0 Section 6, annex "Semantic Versioning" (``X+.Y.Z``, ``X.Y+.Z``, ``X.Y.Z+``); SDMX REST 2.x, "Versions"
(``+`` the latest stable version, ``~`` the latest); SDMXCommon.xsd, ``VersionType``: parts of a version are numbers.

A version is semantic (``1.2.3``, ``1.2.3-draft``) or legacy (``1``, ``1.2``). ``+`` on a part means the newest stable
version that is not lower than the version written, with the parts before it fixed: ``2+.3.1`` any later version,
``2.3+.1`` up to 3.0.0, ``2.3.1+`` up to 2.4.0. For legacy versions the meaning is the same (``2.3+``). An extension
(``-draft``) means that the version is not stable. Legacy versions have no extension: they count as stable here, though
the standard promises stability only for semantic versions, because otherwise nothing would be stable in registries of
2.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, TypeAlias

__all__ = ["fits", "is_rule", "is_stable", "is_version", "newest"]

LATEST: Final = "~"
"""The newest version, stable or not."""

LATEST_STABLE: Final = "+"
"""The newest stable version."""

SortKey: TypeAlias = tuple[tuple[int, ...], int, tuple[tuple[int, int | str], ...], int]

_rule = re.compile(r"[0-9]+\+?(?:\.[0-9]+\+?)*").fullmatch
_semantic = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+(?:-.*)?").fullmatch
_version = re.compile(r"[0-9]+(?:\.[0-9]+)*(?:-[0-9A-Za-z.-]+)?").fullmatch


def is_version(text: str) -> bool:
    """Return whether a text is a version."""
    return _version(text) is not None


def is_rule(text: str) -> bool:
    """Return whether a text is a rule that selects among versions, or a version."""
    return text in {"*", LATEST, LATEST_STABLE} or _rule(text) is not None


def is_wildcard(version: str) -> bool:
    """Return whether a version names more than one version, as ``1.0+`` and ``*`` do."""
    return version in {"*", LATEST} or "+" in version


def rule_in(rule: str, version: str) -> str:
    """Return a rule as interpreted in an artefact of some version, which may be a draft.

    In a draft, a rule with a plus selects among drafts as well (Section 6, "Dependency Management": "Wildcarded
    references in a version-extended artefact"). Such a rule ends with ``~`` here, a form that is used only internally.
    """
    return f"{rule}{LATEST}" if "+" in rule and not is_stable(version) and not rule.endswith(LATEST) else rule


def is_stable(version: str) -> bool:
    """Return whether a version has no extension; drafts have one."""
    return "-" not in version


def sort_key(version: str) -> SortKey:
    """Return a key that orders versions as Semantic Versioning does, including legacy versions.

    Parts are numbers (1.10 comes after 1.9, and 1.03 is 1.3), drafts come before their version, and 1.0 just before
    1.0.0.
    """
    numbers, dash, extension = version.partition("-")
    written = numbers.split(".")
    parts = [_number(part) for part in written]
    while parts and parts[-1] == 0:
        parts.pop()
    identifiers: list[tuple[int, int | str]] = [
        (0, _number(part)) if part.isdecimal() else (1, part) for part in extension.split(".") if dash
    ]
    return tuple(parts), 0 if dash else 1, tuple(identifiers), len(written)


def _number(part: str) -> int:
    digits = part.strip("+")
    # Longer than any version, and int() refuses thousands of digits.
    return int(digits[:18]) if digits.isdecimal() else -1


def fits(rule: str, version: str) -> bool:
    """Return whether a version is among those that the rule selects from; the newest of them is the result.

    A rule without a wildcard matches only itself, even a draft. ``+`` and rules with a plus match stable versions.
    """
    if rule in {"*", LATEST}:
        return True
    if "+" not in rule:
        return rule == version
    has_drafts, rule = rule.endswith(LATEST), rule.removesuffix(LATEST)
    if not (has_drafts or is_stable(version)) or (rule != LATEST_STABLE and not _rule(rule)):
        return False
    if rule == LATEST_STABLE:
        return True
    parts = rule.split(".")
    free = next(index for index, part in enumerate(parts) if part.endswith("+"))
    numbers = [_number(part) for part in version.partition("-")[0].split(".")]
    numbers += [0] * (free - len(numbers))
    is_fixed = numbers[:free] == [_number(part) for part in parts[:free]]
    return is_fixed and _is_least(rule, version)


def _is_least(rule: str, version: str) -> bool:
    # 1.0 counts as 1.0.0 here; a draft comes before its version.
    return sort_key(version)[:2] >= (sort_key(rule.replace("+", ""))[0], 1)


def newest(rule: str, versions: Iterable[str]) -> str | None:
    """Return the version that the rule selects, or None. ``*`` selects a draft only if all versions are drafts."""
    known = [version for version in versions if not is_wildcard(version) and fits(rule, version)]
    if rule == "*":
        known = [version for version in known if is_stable(version)] or known
    return max(known, key=sort_key, default=None)


def superseding(version: str, versions: Iterable[str]) -> str | None:
    """Return the newest of the later stable versions, or None. Only semantic versions supersede each other."""
    if _semantic(version) is None:
        return None
    later = [one for one in versions if _semantic(one) and is_stable(one) and sort_key(one) > sort_key(version)]
    return max(later, key=sort_key, default=None)
