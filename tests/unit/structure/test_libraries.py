"""Each third-party library is imported by the packages that pyproject.toml names for it, and by no other."""

import sys
import tomllib
from pathlib import Path

import pytest

from support.import_graph import PACKAGES, ImportGraph, import_graph, read_graph
from support.paths import ROOT

pytestmark = pytest.mark.thorough

LIBRARIES: dict[str, list[str]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["kafka_replica"][
    "libraries"
]


def violations(graph: ImportGraph) -> list[str]:
    """Return each import of a library in a package that does not own it."""
    return [
        f"{module}, line {found.line}: imports {found.root}, which belongs to {LIBRARIES.get(found.root, 'no package')}"
        for module, imports in graph.imports.items()
        for found in imports
        if found.root not in sys.stdlib_module_names
        and found.root not in PACKAGES
        and not any(owns(owner, module) for owner in LIBRARIES.get(found.root, ()))
    ]


def owns(owner: str, module: str) -> bool:
    """Return whether a module is an owner or belongs to it; an owner that ends in ".*" is not a module itself."""
    return module == owner or module.startswith(owner.removesuffix("*").removesuffix(".") + ".")


def test_each_library_is_imported_by_its_owners_alone() -> None:
    """No module imports a library that another package owns, not even inside a function or for type checkers."""
    assert not violations(import_graph())


def test_the_table_has_no_entry_that_nobody_needs() -> None:
    """Each owner in the table imports its library."""
    used = {(found.root, module) for module, imports in import_graph().imports.items() for found in imports}
    unneeded = [
        (library, owner)
        for library, owners in LIBRARIES.items()
        for owner in owners
        if not any(library == root and owns(owner, module) for root, module in used)
    ]
    assert not unneeded


def test_an_import_planted_in_another_package_is_found_for_every_library(tmp_path: Path) -> None:
    """Every library of the table is refused in a package that owns none, and in the package above an owner."""
    (tmp_path / "__init__.py").write_text("")
    for library, owners in LIBRARIES.items():
        (tmp_path / "planted.py").write_text(f"def f():\n    from {library}.part import name\n")
        for package in (
            "kafka_replica.transactions",
            *(owner.removesuffix(".*").rpartition(".")[0] for owner in owners),
        ):
            if package not in {"", *owners}:
                found = violations(read_graph({package: tmp_path}))
                assert len(found) == 1, (library, package)
                assert f"planted, line 2: imports {library}" in found[0]


def test_a_library_that_is_not_in_the_table_is_refused(tmp_path: Path) -> None:
    """A new dependency needs an entry, and thereby an owner."""
    (tmp_path / "__init__.py").write_text("import unheard_of\n")
    assert violations(read_graph({"kafka_replica.cli": tmp_path})) == [
        "kafka_replica.cli, line 1: imports unheard_of, which belongs to no package"
    ]
