"""Remarks on parts of messages with the action delete that delete nothing."""

from __future__ import annotations

_Note = tuple[str, int]


class DeletionNotes:
    """Remarks by kind: the first remark of each kind, and the number of further ones."""

    def __init__(self) -> None:
        self._found: dict[str, _Note] = {}

    @property
    def texts(self) -> tuple[str, ...]:
        """Return a remark for each kind."""
        return tuple(
            text if not more else f"{text} (the same applies to {more:,} more)" for text, more in self._found.values()
        )

    def add(self, kind: str, text: str, count: int = 1) -> None:
        """Add a remark on ``count`` parts of a message; only the first ``text`` of each kind is kept."""
        first, more = self._found.get(kind, (text, -1))
        self._found[kind] = first, more + count
