"""Which version a reference with wildcards means: ``1.0+``, ``2+.0.0``, ``*``.

Source: SDMX 3.0 Section 6, "Versioning": ``+`` stands on one part and means the newest stable version that is
at least the one written, with the parts before it fixed; ``*`` means any version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable


def is_wildcard(version: str) -> bool:
    """Whether it names more than one version."""
    return version == "*" or "+" in version


def sort_key(version: str) -> tuple[tuple[int, ...], int, tuple[tuple[int, int | str], ...]]:
    """A key that orders versions as Semantic Versioning does; ``1.0`` equals ``1.0.0``, drafts come before."""
    numbers, dash, extension = version.partition("-")
    parts = [_number(part) for part in numbers.rstrip("+").split(".")]
    while parts and parts[-1] == 0:
        parts.pop()
    identifiers: list[tuple[int, int | str]] = [
        (0, _number(part)) if part.isdecimal() else (1, part) for part in extension.split(".") if dash
    ]
    return tuple(parts), 0 if dash else 1, tuple(identifiers)


def _number(part: str) -> int:
    digits = part.strip("+")
    # Longer than any version, and int() refuses thousands of digits.
    return int(digits[:18]) if digits.isdecimal() else -1


def newest(pattern: str, versions: Iterable[str]) -> str | None:
    """The newest of the versions that the pattern means, or None. For ``*`` a draft will do if all are drafts."""
    known = [version for version in versions if not is_wildcard(version)]
    stable = [version for version in known if "-" not in version]
    if pattern == "*":
        return max(stable or known, key=sort_key, default=None)
    parts = pattern.split(".")
    free = next((index for index, part in enumerate(parts) if part.endswith("+")), None)
    if free is None:
        return pattern if pattern in known else None
    least = sort_key(re.sub(r"\+", "", pattern))
    fixed = [_number(part) for part in parts[:free]]
    fitting = [
        version
        for version in stable
        if [_number(part) for part in version.split(".")][:free] == fixed and sort_key(version) >= least
    ]
    return max(fitting, key=sort_key, default=None)
