"""The imports of the two packages, read from their source."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
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
            module: {self._target(one) for one in found if one.time in times} - {None, module}
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


def cycles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that import each other, directly or not (Tarjan's strong components)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        order[module] = lowest[module] = len(order)
        stack.append(module)
        for target in sorted(edges[module]):
            if target not in order:
                visit(target)
                lowest[module] = min(lowest[module], lowest[target])
            elif target in stack:
                lowest[module] = min(lowest[module], order[target])
        if lowest[module] == order[module]:
            start = stack.index(module)
            component = stack[start:]
            del stack[start:]
            if len(component) > 1:
                found.append(sorted(component))

    for module in edges:
        if module not in order:
            visit(module)
    return found


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
