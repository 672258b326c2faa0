"""The table of packages in docs/architecture.md follows from the packages' docstrings."""

from __future__ import annotations

import pytest

from support.docs.architecture_page import PAGE, described, layers, with_table
from support.import_graph import PACKAGES

NAMES = [name for layer in layers() for name in layer]


def test_the_table_is_up_to_date() -> None:
    """The page has the generated table: ``PYTHONPATH=tests python -m support.docs.architecture_page``."""
    page = PAGE.read_text(encoding="utf-8")
    assert "<!-- packages -->\n| layer |" in page
    assert with_table(page) == page


def test_each_package_is_in_the_table() -> None:
    """The table has every package and module below kafka_replica, each once."""
    children = {path.stem for path in PACKAGES["kafka_replica"].iterdir() if path.suffix == ".py" or path.is_dir()}
    assert sorted(NAMES) == sorted({*children, "kafka_replica_spark"} - {"__init__", "__pycache__"})


@pytest.mark.parametrize("name", NAMES)
def test_each_package_names_the_module_to_read_first(name: str) -> None:
    """The docstring of a package names an existing module that a newcomer should read first; helpers have none."""
    found = described(name)
    assert len(found.contains) > 30
    if found.path.name == "__init__.py" and name != "common":
        assert found.read_first is not None, f"{found.path}: add a sentence: Read ``MODULE`` first."
        module = found.path.parent.joinpath(*found.read_first.split("."))
        assert module.is_dir() or module.with_suffix(".py").exists()
