"""The comparison of the replicas' versions with the writers' histories."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from chaos.expected import NOTHING, Expected, Write, torn_tombstones
from chaos.findings import Findings, Kind
from chaos.history import History, Outcome, WriterHistory, lines
from chaos.plan import head, named
from chaos.stream_checker import StreamChecker
from kafka_replica import State

INDEPENDENT = "independent"
STREAMS = ("every", "slow", "reads")


def check(folder: Path, history: History, torn: frozenset[str] = frozenset()) -> Findings:
    """Check all streams and final states in the folder of a run.

    Args:
        folder: of the run.
        history: what the writers did.
        torn: transactions that Kafka itself tore, by name: no reader can show them whole, or has to show them.
    """
    findings = Findings()
    history.doubt(torn)
    streams = sorted(path for what in STREAMS for path in folder.glob(f"*.{what}.jsonl"))
    independent = _end(folder / f"{INDEPENDENT}.end.json")
    seen = frozenset(_seen(streams)) | {named(bytes.fromhex(value)) for value, _, _ in independent["state"].values()}
    seen -= torn
    alike: dict[object, int] = {}
    for path in streams:
        checker = StreamChecker(path.name.removesuffix(".jsonl"), history, seen, findings, alike, torn)
        for line in lines(path):
            checker.take(line)
    _check_states(sorted(folder.glob("*.states.jsonl")), findings)
    check_end(independent["state"], history, seen, findings, torn)
    for path in sorted(folder.glob("*.end.json")):
        if path.name != f"{INDEPENDENT}.end.json":
            check_alike(path.name.removesuffix(".end.json"), _end(path), independent, findings)
    return findings


def check_end(
    state: dict[str, list[Any]], history: History, seen: frozenset[str], findings: Findings, torn: frozenset[str]
) -> None:
    """Check the last state, as an independent reader found it, against the histories."""
    found = {bytes.fromhex(key).decode(): _write(entry) for key, entry in state.items()}
    expected = Expected(history, seen)
    heads: dict[int, int] = {}
    wrong = []
    for writer in history.writers:
        shown = history.find(found.get(head(writer.writer), NOTHING).by)
        heads[writer.writer] = 0 if shown is None else shown.number
        last = max([writer.last_committed, *_numbers(writer, seen)])
        if heads[writer.writer] < last:
            shown_name = "nothing" if shown is None else shown.name
            wrong.append((Kind.LOST, f"{writer.writer}.{last} was committed, and the head shows {shown_name}"))
    expected.advance(heads)
    for key in sorted(expected.keys() | found.keys()):
        shown_write, due = found.get(key, NOTHING), expected.get(key)
        is_gone = shown_write.by is None
        if not expected.accepts(key, shown_write) and not (is_gone and any(torn_tombstones(key, due, history, torn))):
            kind = Kind.GHOST if due.by is None else Kind.LOST
            wrong.append((kind, f"{key} shows {shown_write}, and should show {due}"))
    findings.ends += 1
    findings.add_version("the log at the end", wrong)


def check_alike(label: str, end: dict[str, Any], independent: dict[str, Any], findings: Findings) -> None:
    """Compare a replica's last state with the independent reader's: key by key, byte by byte, offset by offset."""
    if "error" in end:
        findings.add(Kind.FAILED, f"{label} at the end: {end['error']}")
        return
    mine, other = end["state"], independent["state"]
    wrong = []
    for key in sorted(mine.keys() | other.keys()):
        name = bytes.fromhex(key).decode(errors="replace")
        if key not in other:
            wrong.append((Kind.GHOST, f"{name} is there, and an independent reader has no such key"))
        elif mine.get(key) != other[key]:
            shown = "nothing" if key not in mine else _write(mine[key])
            wrong.append((Kind.LOST, f"{name} shows {shown}, and an independent reader {_write(other[key])}"))
    findings.ends += 1
    findings.add_version(f"{label} at the end", wrong)


def _numbers(writer: WriterHistory, seen: frozenset[str]) -> Iterable[int]:
    """Return the writer's transactions that some reader saw, and rightly."""
    return (
        transaction.number
        for transaction in writer.transactions.values()
        if transaction.name in seen and transaction.outcome is not Outcome.ABORTED
    )


def _check_states(files: Iterable[Path], findings: Findings) -> None:
    for path in files:
        for line in lines(path):
            if line["event"] == "state" and line["state"] == State.FAILED:
                findings.add(Kind.FAILED, f"{path.name.removesuffix('.states.jsonl')}: {line['error']}")


def _seen(streams: Iterable[Path]) -> Iterable[str]:
    for path in streams:
        for line in lines(path):
            if line["event"] == "look":
                yield from (by for by, _, _ in line["set"].values())


def _write(entry: list[Any]) -> Write:
    value, _, offset = entry
    return Write(named(bytes.fromhex(value)), offset)


def _end(path: Path) -> dict[str, Any]:
    end: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return end
