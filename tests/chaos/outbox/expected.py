"""The required content of the topic, from the recorders' own table: the content of each transaction, in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from chaos.outbox.store import Row


@dataclass(frozen=True, slots=True)
class Expected:
    """A transaction as it has to be in the topic."""

    tx_id: int
    kind: str
    content: Mapping[str, str | None]


def expected_of(rows: Iterable[Row], ghosts: Iterable[str]) -> list[Expected]:
    """Return the transactions in order, including those without a record (a sweep that finds nothing).

    Args:
        rows: as recorded.
        ghosts: keys of another origin that were in the topic before.
    """
    present: dict[str, str] = {}
    left = set(ghosts)
    found: list[Expected] = []
    for row in rows:
        content: Mapping[str, str | None] = row.content
        if row.kind == "flush":
            content = dict(present)
        elif row.kind == "sweep":
            content = dict.fromkeys(left)
            left = set()
        for key, value in content.items():
            if value is None:
                present.pop(key, None)
            else:
                present[key] = value
        found.append(Expected(row.tx_id, row.kind, content))
    return found
