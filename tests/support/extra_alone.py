"""Run a program as if only the distributions of one extra were installed: python extra_alone.py EXTRA PROGRAM."""

from __future__ import annotations

import runpy
import sys
from importlib.abc import MetaPathFinder
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_OWN = "kafka-replica"


def installed_with(extra: str) -> set[str]:
    """Return the names of the distributions that an installation of this project with the extra consists of."""
    found: set[tuple[str, str]] = set()
    waiting = {(_OWN, ""), (_OWN, extra)}
    while waiting:
        found |= waiting
        waiting = {needed for name, chosen in waiting for needed in _needed(name, chosen)} - found
    return {name for name, _ in found}


def _needed(name: str, extra: str) -> set[tuple[str, str]]:
    try:
        requirements = [Requirement(text) for text in requires(name) or ()]
    except PackageNotFoundError:  # one of another platform or Python
        return set()
    return {
        (canonicalize_name(each.name), chosen)
        for each in requirements
        if each.marker is None or each.marker.evaluate({"extra": extra})
        for chosen in ("", *each.extras)
    }


class Absent(MetaPathFinder):
    """Finds nothing; modules of distributions that are not allowed are reported as missing."""

    def __init__(self, allowed: set[str]) -> None:
        self._missing = {
            module
            for module, owners in packages_distributions().items()
            if not allowed & {canonicalize_name(owner) for owner in owners}
        }

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> Any:
        """Return None.

        Raises:
            ModuleNotFoundError: the module belongs to a distribution that is not allowed.
        """
        if fullname.partition(".")[0] in self._missing:
            raise ModuleNotFoundError(f"No module named {fullname!r} (not part of the extra)", name=fullname)


if __name__ == "__main__":
    sys.meta_path.insert(0, Absent(installed_with(sys.argv[1])))
    runpy.run_path(sys.argv[2], run_name="__main__")
