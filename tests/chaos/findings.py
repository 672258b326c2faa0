"""The violations that were found, and counts of what was checked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from chaos.found import Violations


class Kind(StrEnum):
    """The kinds of violations."""

    TORN = "torn"
    """A version shows a part of a transaction, or a transaction that was never committed."""
    LOST = "lost"
    """A committed transaction is missing, or newer content was replaced by older content."""
    GHOST = "ghosts"
    """A deleted key is present."""
    MISREPORTED = "misreported"
    """Versions or positions are out of order, a change does not report what changed, or two readers disagree."""
    FAILED = "failed"
    """A replica ended with an error, or never reached the end."""


@dataclass(slots=True)
class Findings(Violations[Kind]):
    """Counts and the first sentences of each kind of violation; and counts of what was checked."""

    versions: int = 0
    reads: int = 0
    ends: int = 0
    excused: int = 0
    """Keys that show a transaction as torn as the log has it: no reader can show it whole."""

    def add_version(self, where: str, wrong: Iterable[tuple[Kind, str]]) -> None:
        """Report a violation in a version: it counts once per kind, however many keys show it."""
        by_kind: dict[Kind, list[str]] = {}
        for kind, text in wrong:
            by_kind.setdefault(kind, []).append(text)
        for kind, texts in by_kind.items():
            more = f" (and {len(texts) - 3} more)" if len(texts) > 3 else ""
            self.add(kind, f"{where}: {'; '.join(texts[:3])}{more}")
