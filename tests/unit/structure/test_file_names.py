"""Every file of tests has a name of its own: pytest imports them without their folders."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from support.paths import ROOT


def test_no_two_files_of_tests_have_the_same_name() -> None:
    """Two files with one name make the second fail, but only where one process collects both of them."""
    folders: dict[str, list[Path]] = defaultdict(list)
    for path in (ROOT / "tests").rglob("test_*.py"):
        folders[path.name].append(path.parent.relative_to(ROOT))
    assert len(folders) > 100
    assert {name: where for name, where in folders.items() if len(where) > 1} == {}
