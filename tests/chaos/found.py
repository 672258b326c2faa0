"""What a run found to be wrong, and how that is told: the same for replicas and for producers."""

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
class Found(Generic[K]):
    """Counts, and the first sentences of each kind."""

    found: Counter[K] = field(default_factory=Counter)
    texts: dict[K, list[str]] = field(default_factory=dict)

    def add(self, kind: K, text: str) -> None:
        """One more."""
        self.found[kind] += 1
        texts = self.texts.setdefault(kind, [])
        if len(texts) < _TEXTS_KEPT:
            texts.append(text)

    @property
    def wrong(self) -> int:
        """How much is wrong in all."""
        return self.found.total()


def show_found(console: Console, rows: Iterable[tuple[str, Any]], kinds: Collection[str], found: Found[Any]) -> None:
    """Prints the table of a report, counts of what is wrong in red, and the sentences."""
    table = Table(show_header=False)
    for what, count in rows:
        wrong = what in kinds and count
        table.add_row(what, f"[bold red]{count}[/]" if wrong else str(count))
    console.print(table)
    for kind, texts in found.texts.items():
        for text in texts:
            plain(console, f"{kind}: {text}")


def show_end(console: Console, *, checked_something: bool, left: str | None) -> None:
    """Prints whether anything was checked at all, and where the files are."""
    if not checked_something:
        console.print("nothing was checked: too short, or nothing worked", style="bold red")
    if left is not None:
        plain(console, left)


def plain(console: Console, text: str) -> None:
    """Prints a sentence as it is."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)
