"""The violations of a run and their output, for replicas and for producers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, TypeVar

from rich.console import Console
from rich.table import Table

K = TypeVar("K", bound=StrEnum)

_TEXTS_KEPT = 20


@dataclass(slots=True)
class Violations(Generic[K]):
    """Counts and the first sentences of each kind of violation."""

    found: Counter[K] = field(default_factory=Counter)
    texts: dict[K, list[str]] = field(default_factory=dict)

    def add(self, kind: K, text: str) -> None:
        """Add a violation."""
        self.found[kind] += 1
        texts = self.texts.setdefault(kind, [])
        if len(texts) < _TEXTS_KEPT:
            texts.append(text)

    @property
    def wrong(self) -> int:
        """The number of all violations."""
        return self.found.total()


def show_found(
    console: Console, rows: Iterable[tuple[str, Any]], kinds: Collection[str], found: Violations[Any]
) -> None:
    """Print the table of a report, with violations in red, and the sentences."""
    table = Table(show_header=False)
    for what, count in rows:
        wrong = what in kinds and count
        table.add_row(what, f"[bold red]{count}[/]" if wrong else str(count))
    console.print(table)
    for kind, texts in found.texts.items():
        for text in texts:
            plain(console, f"{kind}: {text}")


def show_end(console: Console, *, checked_something: bool, left: str | None) -> None:
    """Print a warning if nothing was checked, and where the files are."""
    if not checked_something:
        console.print("nothing was checked: too short, or nothing worked", style="bold red")
    if left is not None:
        plain(console, left)


def plain(console: Console, text: str) -> None:
    """Print a sentence unchanged."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)
