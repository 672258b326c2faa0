"""The names that each public package exports, for tests, ``.ci/check_api.py`` and the API reference."""

from __future__ import annotations

from support.paths import TESTS


def public_names() -> dict[str, list[str]]:
    """Return the names of each package: a line for the package, then one for each name, indented."""
    found: dict[str, list[str]] = {}
    for line in (TESTS / "unit" / "core" / "public_names.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            found[list(found)[-1]].append(line.strip())
        else:
            found[line] = []
    return found
