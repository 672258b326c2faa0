"""The comparison of a replica's versions, Kafka's log and the database's marks with the recorded transactions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from chaos.found import Violations
from chaos.outbox.expected import Expected
from chaos.outbox.watch import Logged, Version, number_of
from kafka_replica.producer.outbox import Status

_TOGETHER = 1000  # transactions that one version may contain, for a lagging replica


class Flaw(StrEnum):
    """The kinds of violations."""

    MISSING = "missing"
    """A recorded transaction is not in the log, or not in any version."""
    TWICE = "twice"
    """A record is in the log a second time."""
    DISORDERED = "out of order"
    """A transaction precedes another one that was recorded earlier."""
    TORN = "torn"
    """A part of a transaction, or different content than was recorded."""
    CONTRADICTED = "contradicted"
    """The database has marked transactions that Kafka does not have, or vice versa."""
    FAILED = "failed"
    """The run did not reach its end."""


@dataclass(slots=True)
class Flaws(Violations[Flaw]):
    """Counts and the first sentences of each kind of violation; and counts of what was checked."""

    transactions: int = 0
    records: int = 0
    versions: int = 0
    together: int = 0
    """Versions of more than one transaction."""


def check_marks(expected: Sequence[Expected], marks: Mapping[int, int], flaws: Flaws) -> None:
    """Check that the producer's table has the recorded transactions and no others, all marked as sent."""
    numbers = [each.tx_id for each in expected]
    if numbers != list(range(1, len(numbers) + 1)) or sorted(marks) != numbers:
        flaws.add(Flaw.MISSING, f"recorded: {_runs(numbers)}; in the producer's table: {_runs(sorted(marks))}")
    flaws.transactions += len(numbers)
    for tx_id, status in marks.items():
        if status != Status.SENT:
            flaws.add(Flaw.FAILED, f"transaction {tx_id} has status {status}")


def check_log(expected: Sequence[Expected], log: Sequence[Logged], flaws: Flaws) -> None:
    """Check that each transaction is in the log exactly once, whole, and in order."""
    by_number: dict[int, list[Logged]] = defaultdict(list)
    last: dict[object, int] = {}
    for each in log:
        if each.transaction_headers is None:
            continue  # of another origin, from before the run
        number = number_of(each.transaction_headers)
        by_number[number].append(each)
        if number < last.get(each.place, 0):
            flaws.add(Flaw.DISORDERED, f"{number} follows {last[each.place]} in {each.place} at {each.offset}")
        last[each.place] = max(number, last.get(each.place, 0))
    flaws.records += sum(map(len, by_number.values()))
    for due in expected:
        _check_transaction(due, by_number.pop(due.tx_id, []), flaws)
    for number in by_number:
        flaws.add(Flaw.CONTRADICTED, f"transaction {number} is in the log, and was never recorded")


def _check_transaction(due: Expected, found: list[Logged], flaws: Flaws) -> None:
    if due.content and not found:
        flaws.add(Flaw.MISSING, f"transaction {due.tx_id} ({due.kind}) is not in the log")
        return
    twice = [key for key, times in Counter(each.key for each in found).items() if times > 1]
    if twice:
        offsets = [each.offset for each in found if each.key == twice[0]]
        flaws.add(Flaw.TWICE, f"transaction {due.tx_id} ({due.kind}): {twice[0]} is at {offsets}")
    elif {each.key: each.value for each in found} != dict(due.content):
        flaws.add(Flaw.TORN, f"transaction {due.tx_id} ({due.kind}): {len(found)} of {len(due.content)} records")
    elif {
        (each.transaction_headers.number, each.transaction_headers.records)
        for each in found
        if each.transaction_headers
    } != {(number, len(found)) for number in range(1, len(found) + 1)}:
        flaws.add(Flaw.TORN, f"transaction {due.tx_id} ({due.kind}): its headers do not count its records")


def check_versions(
    expected: Sequence[Expected], versions: Sequence[Version], ghosts: Mapping[str, str], flaws: Flaws
) -> None:
    """Check that each version is the previous one plus the next transactions: normally one, several if it lagged."""
    due, shown = dict(ghosts), dict[str, str]()
    touched: set[str] = set()
    done = 0
    for number, version in enumerate(versions, 1):
        flaws.versions += 1
        _apply(shown, version.changes)
        touched |= version.changes.keys()
        goal = max(version.transactions, default=0)
        if version.transactions and min(version.transactions) <= done:
            flaws.add(Flaw.TWICE, f"version {number} brings {sorted(version.transactions)} after {done}")
            return
        held = 0
        while done < goal or not _same(due, shown, touched):
            if done == len(expected) or held > _TOGETHER:
                wrong = next((key for key in sorted(touched) if due.get(key) != shown.get(key)), "")
                what = f"{wrong} is {shown.get(wrong)}, and should be {due.get(wrong)}"
                flaws.add(Flaw.TORN, f"version {number} is not a state after {done - held}: with {held} more {what}")
                return
            _apply(due, expected[done].content)
            touched |= expected[done].content.keys()
            held += bool(expected[done].content)
            done += 1
        touched.clear()
        flaws.together += held > 1
    rest = [each.tx_id for each in expected[done:] if each.content]
    if rest:
        flaws.add(Flaw.MISSING, f"no version showed {_runs(rest)}")


def check_end(expected: Sequence[Expected], ghosts: Mapping[str, str], end: Mapping[str, str], flaws: Flaws) -> None:
    """Check that the replica's last state is the result of all transactions, key by key."""
    due = dict(ghosts)
    for each in expected:
        _apply(due, each.content)
    wrong = [key for key in due.keys() | end.keys() if due.get(key) != end.get(key)]
    if wrong:
        key = min(wrong)
        text = f"{len(wrong)} keys differ at the end: {key} is {end.get(key)}, and should be {due.get(key)}"
        flaws.add(Flaw.MISSING, text)


def _same(due: Mapping[str, str], shown: Mapping[str, str], keys: set[str]) -> bool:
    return all(due.get(key) == shown.get(key) for key in keys)


def _apply(state: dict[str, str], changes: Mapping[str, str | None]) -> None:
    for key, value in changes.items():
        if value is None:
            state.pop(key, None)
        else:
            state[key] = value


def _runs(numbers: Sequence[int]) -> str:
    """Return numbers in the form ``1-5, 7``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number])
    return ", ".join("-".join(map(str, run)) for run in runs) or "none"
