"""What was found to be wrong, and how much was looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

_TEXTS_KEPT = 20


class Kind(StrEnum):
    """What can be wrong."""

    TORN = "torn"
    """A version shows a part of a transaction, or one that was never committed."""
    LOST = "lost"
    """What was committed is not there, or was there and is older again."""
    GHOST = "ghosts"
    """A deleted key is there."""
    MISREPORTED = "misreported"
    """Versions or cuts out of order, a change that does not say what changed, two readers that disagree."""
    FAILED = "failed"
    """A replica ended by an error, or never came to the end."""


@dataclass(slots=True)
class Findings:
    """Counts, and the first sentences of each kind."""

    versions: int = 0
    reads: int = 0
    ends: int = 0
    found: Counter[Kind] = field(default_factory=Counter)
    texts: dict[Kind, list[str]] = field(default_factory=dict)
    excused: int = 0
    """Keys that show a transaction as torn as the log has it: nobody can show it whole."""

    def add(self, kind: Kind, text: str) -> None:
        """One more."""
        self.found[kind] += 1
        texts = self.texts.setdefault(kind, [])
        if len(texts) < _TEXTS_KEPT:
            texts.append(text)

    def add_version(self, where: str, wrong: Iterable[tuple[Kind, str]]) -> None:
        """What is wrong with one version: it counts once a kind, however many keys show it."""
        by_kind: dict[Kind, list[str]] = {}
        for kind, text in wrong:
            by_kind.setdefault(kind, []).append(text)
        for kind, texts in by_kind.items():
            more = f" (and {len(texts) - 3} more)" if len(texts) > 3 else ""
            self.add(kind, f"{where}: {'; '.join(texts[:3])}{more}")

    @property
    def wrong(self) -> int:
        """How much is wrong in all."""
        return self.found.total()
