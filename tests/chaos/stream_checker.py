"""Checks of one observer's record of a replica, from its first version to its last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from chaos.expected import NOTHING, Expected, Write, torn_that_delete, torn_tombstones
from chaos.findings import Findings, Kind
from chaos.history import History, Outcome, Transaction
from chaos.plan import core, head

Wrong: TypeAlias = Iterator[tuple[Kind, str]]


class StreamChecker:
    """A checker of the lines of one stream, in order.

    Args:
        label: the stream and its replica.
        history: the writers' histories.
        seen: transactions that some reader saw.
        findings: the destination of violations.
        alike: the content at each position of the log, shared by all observers that must agree; this checker fills it.
        torn: transactions that Kafka itself tore.
    """

    def __init__(
        self,
        label: str,
        history: History,
        seen: frozenset[str],
        findings: Findings,
        alike: dict[object, int],
        torn: frozenset[str] = frozenset(),
    ) -> None:
        self._label, self._history, self._findings, self._alike = label, history, findings, alike
        self._torn_anyway = torn
        self._expected = Expected(history, seen)
        self._state: dict[str, Write] = {}
        self._offsets: dict[str, int] = {}
        self._places: dict[str, str] = {}
        self._started_s = 0.0
        self._version = 0
        self._position: dict[str, int] = {}

    def take(self, line: dict[str, Any]) -> None:
        """Check the next line."""
        event = line["event"]
        if event == "started":
            # A replica that continues from its store shows its earlier state before newer versions.
            self._started_s = 0.0 if line.get("resumes") else line["at_s"]
        elif event == "again":
            self._findings.reads += line["reads"]
            if not line["same"]:
                where = f"{self._label} version {line['version']}"
                self._findings.add(Kind.MISREPORTED, f"{where}: read again, the snapshot shows something else")
        elif event == "look":
            self._look(line)

    def _look(self, line: dict[str, Any]) -> None:
        self._findings.versions += line["version"] != self._version
        self._findings.reads += line["reads"]
        wrong = [*self._misreported(line), *self._order(line)]
        first, same = not self._version, self._version == line["version"]
        self._version, self._position = line["version"], line["position"]
        for key, (by, offset, _) in line["set"].items():
            self._state[key] = Write(by, offset)
        for key in line["gone"]:
            self._state.pop(key, None)
        wrong += self._went_back(line)
        wrong += self._contents({*line["set"], *line["gone"]}, first=first)
        if not same:
            wrong += self._unlike(line)
        self._findings.add_version(f"{self._label} version {self._version}", wrong)

    # --- what the replica says of itself ---

    def _misreported(self, line: dict[str, Any]) -> Wrong:
        if not line["agree"]:
            yield Kind.MISREPORTED, "two ways to read one snapshot disagree"
        if "stands_for" not in line:
            return
        if line["initial"] is not (self._version == 0):
            yield Kind.MISREPORTED, f"initial is {line['initial']}, and the listener knew version {self._version}"
        elif not line["initial"] and line["version"] != self._version + line["stands_for"]:
            yield Kind.MISREPORTED, f"says to stand for {line['stands_for']} versions after {self._version}"
        for what, reported, found in (
            ("changed", line["changed"], line["set"]),
            ("deleted", line["deleted"], line["gone"]),
        ):
            if len(reported) != len(found) or set(reported) != set(found):
                yield Kind.MISREPORTED, f"says {what} {sorted(reported)}, and it is {sorted(found)}"

    def _order(self, line: dict[str, Any]) -> Wrong:
        version, position = line["version"], line["position"]
        if version < self._version or (version == self._version and (line["set"] or line["gone"])):
            yield Kind.MISREPORTED, f"comes after version {self._version}"
        if any(position.get(partition, -1) < offset for partition, offset in self._position.items()):
            yield Kind.MISREPORTED, f"its position {position} is behind {self._position}"

    def _went_back(self, line: dict[str, Any]) -> Wrong:
        for key, (by, offset, partition) in line["set"].items():
            newest = self._offsets.get(key, -1)
            self._places[key] = partition
            if offset >= self._position.get(partition, 0) and not self._was_decided_elsewhere(by, partition):
                yield Kind.MISREPORTED, f"{key} shows {by}@{offset}, which lies beyond its position {self._position}"
            if offset < newest:
                yield Kind.LOST, f"{key} shows {by}@{offset}, after {newest} was shown"
            self._offsets[key] = max(offset, newest)

    def _was_decided_elsewhere(self, by: str, partition: str) -> bool:
        """Return True if a transaction has a record below the position in another partition, and maybe its marker.

        With several partitions the position is a lower bound of a version: the rest of such a transaction is beyond.
        """
        transaction = self._history.find(by)
        if transaction is None:
            return False
        for key, offset in transaction.offsets.items():
            place = self._places.get(key, partition)
            if place != partition and (offset is None or offset < self._position.get(place, 0)):
                return True
        return False

    def _unlike(self, line: dict[str, Any]) -> Wrong:
        """Check that the same version, or the same position of the log, looks the same to all observers."""
        replica = self._label.rpartition(".")[0]
        contents = hash(frozenset(self._state.items()))
        open_there = frozenset(tuple(sorted(open_.items())) for open_ in line["open"])
        for place in ((replica, self._version), (tuple(sorted(self._position.items())), open_there)):
            if self._alike.setdefault(place, contents) != contents:
                yield Kind.MISREPORTED, f"somebody else saw something else at {place}"

    # --- what is in it ---

    def _contents(self, touched: set[str], *, first: bool) -> Wrong:
        known = list(self._expected.heads)
        moved: dict[int, int] = {}
        for writer in range(len(known)):
            if head(writer) in touched or first:
                yield from self._head(writer, moved, first=first)
            if touched.intersection(core(writer)):
                yield from self._core(writer)
        touched |= self._expected.advance(moved)
        for key in touched:
            found = self._state.get(key, NOTHING)
            due = self._expected.get(key)
            if self._expected.accepts(key, found) or self._is_cut(found.by, due.by):
                continue
            tombstones = torn_tombstones(key, due, self._history, self._torn_anyway) if found.by is None else ()
            if not self._is_cut(*tombstones):
                yield self._classified(key, due, found, known)

    def _head(self, writer: int, moved: dict[int, int], *, first: bool) -> Wrong:
        shown = self._state.get(head(writer), NOTHING).by
        known = self._expected.heads[writer]
        transaction = self._history.find(shown)
        number = 0 if transaction is None else transaction.number
        if shown is not None and (transaction is None or transaction.outcome is Outcome.ABORTED):
            if self._is_cut(shown):
                return
            yield Kind.TORN, f"{head(writer)} shows {shown}, which nobody asked to commit"
        elif number < known:
            yield Kind.LOST, f"{head(writer)} shows {shown}, after {writer}.{known}"
        else:
            moved[writer] = number
        needed = self._history.writers[writer].visible_at(self._started_s) if first else 0
        if number < needed:
            yield Kind.LOST, f"ready without {writer}.{needed}, which was there when the replica started: {shown}"

    def _core(self, writer: int) -> Wrong:
        shown = {self._state.get(key, NOTHING).by for key in core(writer)}
        if len(shown) > 1 and not self._is_cut(*shown, *self._cut_deletions(writer, shown)):
            yield Kind.TORN, f"the core of writer {writer} shows {sorted(map(str, shown))}"

    def _classified(self, key: str, expected: Write, found: Write, known: list[int]) -> tuple[Kind, str]:
        text = f"{key} shows {_described(found)}, and should show {_described(expected)}"
        wrote, due = self._history.find(found.by), self._history.find(expected.by)
        if found.by is not None and (wrote is None or not self._is_in(wrote)):
            return Kind.TORN, f"{text}: what wrote it is not in this version, or was never committed"
        if due is not None and known[due.writer] < due.number == self._expected.heads[due.writer]:
            return Kind.TORN, f"{text}: {due.name} is in this version in part"
        if expected.by is None:
            return Kind.GHOST, text
        return Kind.LOST, text

    def _cut_deletions(self, writer: int, shown: set[str | None]) -> list[str]:
        """Return transactions torn in the log that may have deleted some of the writer's core, and not all of it."""
        written = [found.number for by in shown if (found := self._history.find(by)) is not None]
        return [
            transaction.name
            for transaction in torn_that_delete(core(writer)[0], self._history, self._torn_anyway)
            if None in shown and transaction.number > min(written)
        ]

    def _is_cut(self, *names: str | None) -> bool:
        """Return True if one of them is torn in the log already, and count it."""
        is_cut = not self._torn_anyway.isdisjoint(names)
        self._findings.excused += is_cut
        return is_cut

    def _is_in(self, transaction: Transaction) -> bool:
        committed = transaction.outcome is not Outcome.ABORTED
        return committed and transaction.number <= self._expected.heads[transaction.writer]


def _described(write: Write) -> str:
    place = "" if write.offset is None else f"@{write.offset}"
    return f"{'nothing' if write.by is None else write.by}{place}"
