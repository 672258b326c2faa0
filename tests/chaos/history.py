"""The writers' histories, written line by line, and their interpretation.

A line goes to the operating system before the next step, so that kill -9 loses none. If a transaction has no
``commit`` line, its commit was never requested, and no reader may ever see it.
"""

from __future__ import annotations

import json
import os
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from chaos.plan import name


class Outcome(StrEnum):
    """The outcome of a transaction, as far as its writer knows."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "unknown"
    """The commit was requested, and no response came."""


class Journal:
    """A file of JSON lines; each line is with the operating system when ``write`` returns.

    ``at_s`` in each line is seconds of the machine's monotonic clock, the same in all processes.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        if os.fstat(self._file).st_size:
            os.write(self._file, b"\n")  # the previous writer may have been killed in the middle of a line

    def write(self, event: str, **facts: Any) -> None:
        """Add a line."""
        line = {"event": event, "at_s": round(time.monotonic(), 4), **facts}
        os.write(self._file, json.dumps(line, separators=(",", ":")).encode() + b"\n")

    def close(self) -> None:
        """Close the file; later lines are lost. Idempotent."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a journal, without a line that a kill left unfinished."""
    with path.open(encoding="utf-8") as file:
        for text in file:
            try:
                line = json.loads(text)
            except ValueError:
                continue
            yield line


@dataclass(slots=True)
class Transaction:
    """A transaction; the ``offsets`` of its records are known from the moment a commit was requested."""

    writer: int
    number: int
    puts: list[str] = field(default_factory=list)
    deletes: list[str] = field(default_factory=list)
    offsets: dict[str, int | None] = field(default_factory=dict)
    outcome: Outcome = Outcome.ABORTED

    @property
    def name(self) -> str:
        """The name, as in the transaction's values."""
        return name(self.writer, self.number)


class WriterHistory:
    """The history of one writer."""

    def __init__(self, writer: int) -> None:
        self.writer = writer
        self.transactions: dict[int, Transaction] = {}
        self.hung = 0
        self.troubles = 0
        self._committed: list[int] = []
        self._visible_counts: list[
            tuple[float, int]
        ] = []  # at that time, this many of _committed were certainly visible

    def take(self, line: dict[str, Any]) -> None:
        """Apply the next line."""
        event, number = line["event"], line.get("number", 0)
        if event == "begin":
            self.transactions[number] = Transaction(self.writer, number, line["puts"], line["deletes"])
        elif event == "commit":
            transaction = self.transactions[number]
            transaction.offsets, transaction.outcome = line["offsets"], Outcome.UNKNOWN
        elif event == "committed":
            self.transactions[number].outcome = Outcome.COMMITTED
            self._committed.append(number)
        elif event == "hang":
            self.hung += 1
        elif event == "trouble":
            self.troubles += 1
        if event in {"open", "commit", "abort"}:
            # Kafka lets a writer begin, or continue, only when its last transaction has all its markers.
            self._visible_counts.append((line["at_s"], len(self._committed)))

    def doubt(self, number: int) -> None:
        """Mark the outcome of a transaction as unreliable."""
        self.transactions[number].outcome = Outcome.UNKNOWN
        if number in self._committed:
            at = self._committed.index(number)
            del self._committed[at]
            self._visible_counts = [(at_s, count - (count > at)) for at_s, count in self._visible_counts]

    @property
    def last_committed(self) -> int:
        """The number of the last transaction known as committed; 0 if there is none."""
        return self._committed[-1] if self._committed else 0

    def visible_at(self, at_s: float) -> int:
        """Return the number of the last transaction that every reader could see at that time; 0 if there is none."""
        found = bisect_left(self._visible_counts, (at_s, 0)) - 1
        count = self._visible_counts[found][1] if found >= 0 else 0
        return self._committed[count - 1] if count else 0


class History:
    """The histories of all writers, from their files."""

    def __init__(self, writers: list[WriterHistory]) -> None:
        self.writers = writers
        self._by_name = {
            transaction.name: transaction for writer in writers for transaction in writer.transactions.values()
        }

    @classmethod
    def read(cls, files: list[Path]) -> History:
        """Read one file per writer, in the order of the writers' numbers."""
        writers = []
        for number, path in enumerate(files):
            writer = WriterHistory(number)
            for line in lines(path):
                writer.take(line)
            writers.append(writer)
        return cls(writers)

    def doubt(self, names: Iterable[str]) -> None:
        """Mark the outcome of transactions as unreliable: parts of them may be there, or not."""
        for transaction in map(self.find, names):
            if transaction is not None:
                self.writers[transaction.writer].doubt(transaction.number)

    def find(self, name: str | None) -> Transaction | None:
        """Return the transaction that wrote a value of that name."""
        return None if name is None else self._by_name.get(name)

    def counts(self) -> Counter[Outcome]:
        """Return the number of transactions by outcome."""
        return Counter(transaction.outcome for transaction in self._by_name.values())
