"""The table of packages in docs/architecture.md, made from their docstrings and the first import contract.

``PYTHONPATH=tests python -m support.docs.architecture_page`` writes it.
"""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from support.import_graph import PACKAGES
from support.paths import ROOT

PAGE: Final = ROOT / "docs" / "architecture.md"
_SPARK: Final = "kafka_replica_spark"


class Described(NamedTuple):
    """A package or module directly below kafka_replica: its source, and the text about it."""

    path: Path
    contains: str
    read_first: str | None


def layers() -> list[list[str]]:
    """Return the names in each layer of the first import contract, the lowest first; Spark's package is the last."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    found = [re.split(r" [|:] ", layer) for layer in contracts[0]["layers"]]
    return [*reversed(found), [_SPARK]]


def described(name: str) -> Described:
    """Return the text about a package or module: the first sentence of its docstring, and what to read first."""
    folder = PACKAGES[_SPARK] if name == _SPARK else PACKAGES["kafka_replica"] / name
    path = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    contains = inspect.cleandoc(docstring).partition("\n\n")[0].replace("\n", " ").rstrip(".")
    found = re.search(r"Read\s+``([\w.]+)``\s+first", docstring)
    return Described(path, contains.replace("``", "`"), found[1] if found else None)


def with_table(page: str) -> str:
    """Return the page with its table of packages as the docstrings and the contract declare it."""
    table = "".join(f"| {' | '.join(cells)} |\n" for cells in _rows())
    return re.sub(r"(<!-- packages -->\n).*?(<!-- /packages -->\n)", rf"\g<1>{table}\g<2>", page, flags=re.DOTALL)


def _rows() -> Iterator[tuple[str, str, str, str]]:
    yield "layer", "package", "contains", "read first"
    yield "---", "---", "---", "---"
    for number, names in enumerate(layers(), 1):
        for name in names:
            found = described(name)
            yield str(number), f"`{name}`", found.contains, f"`{found.read_first}`" if found.read_first else ""


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
