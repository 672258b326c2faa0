"""What writers write down of their work, line by line, and what it means afterwards.

A line goes to the operating system before the next step is taken, so that kill -9 loses none. Whoever finds no
``commit`` line of a transaction knows that nobody asked Kafka to commit it, and that no reader may ever see it.
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
    """What became of a transaction, as far as its writer knows."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "unknown"
    """A commit was asked for, and no answer came."""


class Journal:
    """A file of JSON lines; each line is with the operating system when ``write`` returns.

    ``at_s`` in each line is seconds of the machine's monotonic clock, the same in all processes.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        if os.fstat(self._file).st_size:
            os.write(self._file, b"\n")  # whoever wrote before may have been killed in the middle of a line

    def write(self, event: str, **facts: Any) -> None:
        """Adds a line."""
        line = {"event": event, "at_s": round(time.monotonic(), 4), **facts}
        os.write(self._file, json.dumps(line, separators=(",", ":")).encode() + b"\n")

    def close(self) -> None:
        """Ends it; what is written later is lost. Idempotent."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a journal; what a kill left unfinished is passed over."""
    with path.open(encoding="utf-8") as file:
        for text in file:
            try:
                line = json.loads(text)
            except ValueError:
                continue
            yield line


@dataclass(slots=True)
class Transaction:
    """One transaction; ``offsets`` of its records are known from the moment a commit was asked for."""

    writer: int
    number: int
    puts: list[str] = field(default_factory=list)
    deletes: list[str] = field(default_factory=list)
    offsets: dict[str, int | None] = field(default_factory=dict)
    outcome: Outcome = Outcome.ABORTED

    @property
    def name(self) -> str:
        """As its values say it."""
        return name(self.writer, self.number)


class WriterHistory:
    """All that one writer did."""

    def __init__(self, writer: int) -> None:
        self.writer = writer
        self.transactions: dict[int, Transaction] = {}
        self.hung = 0
        self.troubles = 0
        self._committed: list[int] = []
        self._settled: list[tuple[float, int]] = []  # at that time, so many of _committed were visible for certain

    def take(self, line: dict[str, Any]) -> None:
        """Takes in the next line."""
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
            # Kafka lets a writer begin, or write on, only when its last transaction has all its markers.
            self._settled.append((line["at_s"], len(self._committed)))

    def doubt(self, number: int) -> None:
        """Nobody can rely on how this transaction ended."""
        self.transactions[number].outcome = Outcome.UNKNOWN
        if number in self._committed:
            at = self._committed.index(number)
            del self._committed[at]
            self._settled = [(at_s, count - (count > at)) for at_s, count in self._settled]

    @property
    def last_committed(self) -> int:
        """The number of its last transaction known as committed; 0 if there is none."""
        return self._committed[-1] if self._committed else 0

    def visible_at(self, at_s: float) -> int:
        """The number of its last transaction that every reader could see at that time; 0 if there is none."""
        found = bisect_left(self._settled, (at_s, 0)) - 1
        count = self._settled[found][1] if found >= 0 else 0
        return self._committed[count - 1] if count else 0


class History:
    """What all writers did, from their files."""

    def __init__(self, writers: list[WriterHistory]) -> None:
        self.writers = writers
        self._by_name = {
            transaction.name: transaction for writer in writers for transaction in writer.transactions.values()
        }

    @classmethod
    def read(cls, files: list[Path]) -> History:
        """Reads one file a writer, in the order of the writers' numbers."""
        writers = []
        for number, path in enumerate(files):
            writer = WriterHistory(number)
            for line in lines(path):
                writer.take(line)
            writers.append(writer)
        return cls(writers)

    def doubt(self, names: Iterable[str]) -> None:
        """Nobody can rely on how these transactions ended: parts of them may be there, or not."""
        for transaction in map(self.find, names):
            if transaction is not None:
                self.writers[transaction.writer].doubt(transaction.number)

    def find(self, name: str | None) -> Transaction | None:
        """The transaction that wrote a value of that name."""
        return None if name is None else self._by_name.get(name)

    def counts(self) -> Counter[Outcome]:
        """How many transactions ended in which way."""
        return Counter(transaction.outcome for transaction in self._by_name.values())
