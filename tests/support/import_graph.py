"""The imports of the two packages, read from their source."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from support.paths import ROOT

PACKAGES = {
    "kafka_replica": ROOT / "kafka_replica",
    "kafka_replica_spark": ROOT / "spark" / "kafka_replica_spark",
}


class Time(StrEnum):
    """The time of an import."""

    MODULE = "when the module is imported"
    CALL = "when a function is called"
    TYPES = "for type checkers only"


@dataclass(frozen=True, order=True)
class Import:
    """An import of a module: its absolute name, the name that is imported from it if there is one, line and time."""

    module: str
    name: str | None
    line: int
    time: Time

    @property
    def root(self) -> str:
        """The top-level package of the imported module."""
        return self.module.partition(".")[0]


@dataclass(frozen=True)
class ImportGraph:
    """The imports of each module."""

    imports: dict[str, list[Import]] = field(default_factory=dict)

    def edges(self, *times: Time) -> dict[str, set[str]]:
        """Return for each module the modules of this graph that it imports at one of these times."""
        return {
            module: {
                target for one in found if one.time in times and (target := self._target(one)) not in (None, module)
            }
            for module, found in self.imports.items()
        }

    def _target(self, imported: Import) -> str | None:
        """Return the imported module: the submodule if the imported name is one."""
        if imported.name is not None and f"{imported.module}.{imported.name}" in self.imports:
            return f"{imported.module}.{imported.name}"
        return imported.module if imported.module in self.imports else None


@cache
def import_graph() -> ImportGraph:
    """Return the imports of the two packages."""
    return read_graph(PACKAGES)


def read_graph(packages: dict[str, Path]) -> ImportGraph:
    """Return the imports of packages, given by their names and folders."""
    graph = ImportGraph()
    for package, folder in packages.items():
        for path in sorted(folder.rglob("*.py")):
            parts = [package, *path.relative_to(folder).with_suffix("").parts]
            module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            graph.imports[module] = list(_imports(ast.parse(path.read_text()), Time.MODULE))
    return graph


def packages_only(edges: dict[str, set[str]], root: str) -> dict[str, set[str]]:
    """Return the edges between the packages and modules directly below a root package, which itself is left out."""
    packages: dict[str, set[str]] = {}
    for module, targets in edges.items():
        names = [
            name.removeprefix(f"{root}.").partition(".")[0]
            for name in (module, *targets)
            if name.startswith(f"{root}.")
        ]
        if module.startswith(f"{root}."):
            packages.setdefault(names[0], set()).update(set(names[1:]) - {names[0]})
    return packages


def find_cycle(edges: dict[str, set[str]]) -> list[str]:
    """Return the modules of a circle of imports, the first again at the end, or nothing if no circle exists."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def _imports(node: ast.AST, time: Time) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(alias.name, None, child.lineno, time) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.module is not None, "relative imports are banned"
            yield from (Import(child.module, alias.name, child.lineno, time) for alias in child.names)
        elif isinstance(child, ast.If) and _is_type_checking(child.test):
            for statement in child.body:
                yield from _imports(ast.Module([statement], []), Time.TYPES)
            for statement in child.orelse:
                yield from _imports(ast.Module([statement], []), time)
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _imports(child, Time.CALL if time is Time.MODULE else time)
        else:
            yield from _imports(child, time)


def _is_type_checking(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"
