"""Hand-written runs of `make chaos`: histories, observed versions, last states."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chaos.checker import check
from chaos.findings import Findings, Kind
from chaos.history import History
from chaos.plan import core, head, value

State = dict[str, tuple[str, int]]


@dataclass
class World:
    """The folder of a run, written by hand: two writers, one replica with one listener."""

    folder: Path
    now_s: float = 0.0
    offset: int = 0
    version: int = 0
    shown: State = field(default_factory=dict)
    present: State = field(default_factory=dict)
    position: int = 0

    def __post_init__(self) -> None:
        for number in range(2):
            self.line(f"writer-{number}.jsonl", event="open")
        self.line("r.every.jsonl", event="started")

    def line(self, file: str, **facts: Any) -> None:
        """Add a line to a file."""
        self.now_s += 1
        with (self.folder / file).open("a") as out:
            out.write(json.dumps({"at_s": self.now_s, **facts}) + "\n")

    def write(
        self,
        name: str,
        outcome: str = "committed",
        *,
        puts: tuple[str, ...] = (),
        deletes: tuple[str, ...] = (),
        offsets: dict[str, int | None] | None = None,
    ) -> State:
        """Write a transaction with its writer's head and core (unless deleted) and more; return the state after it."""
        writer, number = map(int, name.split("."))
        file = f"writer-{writer}.jsonl"
        written = [head(writer), *(key for key in core(writer) if key not in deletes), *puts]
        placed: dict[str, int | None] = {}
        for key in (*written, *deletes):
            placed[key], self.offset = self.offset, self.offset + 1
        placed |= offsets or {}
        self.line(file, event="begin", number=number, puts=written, deletes=list(deletes))
        if outcome == "aborted":
            self.line(file, event="abort", number=number)
            return dict(self.present)
        self.line(file, event="commit", number=number, offsets=placed)
        if outcome == "committed":
            self.line(file, event="committed", number=number)
        after = {key: entry for key, entry in self.present.items() if key not in deletes}
        after |= {key: (name, 7 if (at := placed[key]) is None else at) for key in written}
        self.present = after
        return dict(after)

    def show(self, state: State, **other: Any) -> None:
        """Let the replica show a version; `other` replaces parts of the correct line."""
        gone = [key for key in self.shown if key not in state]
        changed = {key: entry for key, entry in state.items() if self.shown.get(key) != entry}
        self.version += 1
        self.position += 1000
        self.line("r.every.jsonl", **{
            "event": "look", "version": self.version, "position": {"chaos-0": self.position}, "open": [], "gone": gone,
            "set": entries(changed),
            "agree": True, "reads": len(state), "stands_for": 1, "initial": self.version == 1,
            "changed": list(changed), "deleted": gone, **other,
        })  # fmt: skip
        self.shown = dict(state)

    def end(self, name: str, state: State) -> None:
        """Write a last state."""
        entries = {key.encode().hex(): [value(by).hex(), 0, offset] for key, (by, offset) in state.items()}
        (self.folder / f"{name}.end.json").write_text(json.dumps({"state": entries}))

    @property
    def history(self) -> History:
        """Return the writers' histories."""
        return History.read([self.folder / f"writer-{number}.jsonl" for number in range(2)])

    def check(self, state: State | None = None, mine: State | None = None) -> Findings:
        """Check; `state` is the independent reader's, `mine` the replica's."""
        self.end("independent", self.present if state is None else state)
        self.end("r", (self.present if state is None else state) if mine is None else mine)
        return check(self.folder, self.history)


def entries(state: State) -> dict[str, list[Any]]:
    """Return a state in the form of a stream."""
    return {key: [by, offset, "chaos-0"] for key, (by, offset) in state.items()}


def without(state: State, *keys: str) -> State:
    """Return a state without some keys."""
    return {key: entry for key, entry in state.items() if key not in keys}


def found(findings: Findings) -> set[Kind]:
    """Return the kinds of violations; the sentences are printed to explain a failure."""
    print(findings.texts)
    return set(findings.found)
