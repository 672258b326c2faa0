"""The final report of a run, and its exit status."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from chaos.findings import Findings, Kind
from chaos.found import plain, show_end, show_found
from chaos.history import History, Outcome
from chaos.options import Options


@dataclass(frozen=True)
class Report:
    """The result of a run.

    Attributes:
        options: the options of the run.
        history: the writers' histories.
        findings: counts of what was checked, and the violations.
        survived: faults by kind.
        states: how often replicas reported each state.
        lives: the number of replicas, one after another and side by side.
        written: the sum of the end offsets of the topic.
        records: the number of records in the topic at the end.
        aborted_shown: aborted records that Kafka showed to a plain consumer, of which there should be none.
        cut_by_kafka: transactions that Kafka itself tore, by name, with the proof.
        folder: where the files are, if they were kept.
    """

    options: Options
    history: History
    findings: Findings
    survived: Counter[str]
    states: Counter[str]
    lives: int
    written: int
    records: int
    aborted_shown: Sequence[str] = ()
    cut_by_kafka: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None

    @property
    def checked_something(self) -> bool:
        """True if the run had anything to check: commits, versions, reads and last states."""
        committed = self.history.counts()[Outcome.COMMITTED]
        return min(committed, self.findings.versions, self.findings.reads, self.findings.ends - 1) > 0

    @property
    def exit_status(self) -> int:
        """The exit status: 0 if all is right."""
        return 0 if self.checked_something and not self.findings.wrong else 1

    def rows(self) -> list[tuple[str, Any]]:
        """Return the table."""
        options, findings, counts = self.options, self.findings, self.history.counts()
        faults = ", ".join(f"{count} {kind}" for kind, count in sorted(self.survived.items())) or "none"
        hung = sum(writer.hung for writer in self.history.writers)
        return [
            ("minutes", f"{options.seconds / 60:.1f}"),
            ("seed", options.seed),
            ("brokers, partitions", f"{options.brokers}, {options.partitions}"),
            ("boundaries", options.boundaries or "default"),
            ("store", options.store),
            ("faults survived", f"{self.survived.total()}: {faults}"),
            ("transactions committed", counts[Outcome.COMMITTED]),
            ("transactions aborted", counts[Outcome.ABORTED]),
            ("transactions unknown", counts[Outcome.UNKNOWN]),
            ("transactions hung", hung),
            ("records left by compaction", f"{self.records} of {self.written} offsets"),
            ("aborted records a plain consumer saw", len(self.aborted_shown)),
            ("transactions that Kafka itself tore", len(self.cut_by_kafka)),
            ("replicas", self.lives),
            ("their states", ", ".join(f"{count} {state}" for state, count in sorted(self.states.items())) or "none"),
            ("versions checked", findings.versions),
            ("reads checked", findings.reads),
            ("last states compared", findings.ends),
            *((str(kind), findings.found[kind]) for kind in Kind),
            ("keys that show such a one", findings.excused),
        ]

    def show(self, console: Console) -> None:
        """Print the table, the violations, and where the files are."""
        show_found(console, self.rows(), set(Kind), self.findings)
        for text in self.aborted_shown[:20]:
            plain(console, f"a plain consumer saw: {text}")
        for name, why in list(self.cut_by_kafka.items())[:20]:
            plain(console, f"torn by Kafka: {name}, {why}")
        left = None if self.folder is None else f"histories and records: {self.folder}"
        show_end(console, checked_something=self.checked_something, left=left)
