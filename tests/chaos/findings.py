"""What was found to be wrong, and how much was looked at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from chaos.found import Found


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
class Findings(Found[Kind]):
    """Counts, and the first sentences of each kind; and how much was looked at."""

    versions: int = 0
    reads: int = 0
    ends: int = 0
    excused: int = 0
    """Keys that show a transaction as torn as the log has it: nobody can show it whole."""

    def add_version(self, where: str, wrong: Iterable[tuple[Kind, str]]) -> None:
        """What is wrong with one version: it counts once a kind, however many keys show it."""
        by_kind: dict[Kind, list[str]] = {}
        for kind, text in wrong:
            by_kind.setdefault(kind, []).append(text)
        for kind, texts in by_kind.items():
            more = f" (and {len(texts) - 3} more)" if len(texts) > 3 else ""
            self.add(kind, f"{where}: {'; '.join(texts[:3])}{more}")
