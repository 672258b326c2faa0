"""The final report of a run, and its exit status."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from chaos.found import show_end, show_found
from chaos.outbox.checker import Flaw, Flaws
from chaos.outbox.options import OutboxOptions


@dataclass(frozen=True)
class OutboxReport:
    """The result of a run.

    Attributes:
        options: the options of the run.
        database: the kind of the database.
        flaws: counts of what was checked, and the violations.
        survived: faults by kind.
        notices: notices of the instances, by kind.
        resumed: how often the producer had suspended itself, and was resumed.
        kinds: recorded transactions by kind.
        remark: an important remark about the run.
        folder: where the files are, if they were kept.
    """

    options: OutboxOptions
    database: str
    flaws: Flaws
    survived: Counter[str]
    notices: Counter[str]
    resumed: int
    kinds: Counter[str]
    remark: str = ""
    folder: Path | None = None

    @property
    def checked_something(self) -> bool:
        """True if the run had anything to check."""
        return min(self.flaws.transactions, self.flaws.records, self.flaws.versions - 1) > 0

    @property
    def exit_status(self) -> int:
        """The exit status: 0 if all is right."""
        return 0 if self.checked_something and not self.flaws.wrong else 1

    def rows(self) -> list[tuple[str, str | int]]:
        """Return the table."""
        options, flaws = self.options, self.flaws
        faults = ", ".join(f"{count} {kind}" for kind, count in sorted(self.survived.items())) or "none"
        return [
            ("minutes", f"{options.seconds / 60:.1f}"),
            ("seed", options.seed),
            ("brokers, partitions", f"{options.brokers}, {options.partitions}"),
            ("instances", f"{options.instances}{f', broken: {options.wrong}' if options.wrong else ''}"),
            ("database", self.database),
            ("faults survived", f"{self.survived.total()}: {faults}"),
            ("transactions recorded", ", ".join(f"{count} {kind}" for kind, count in sorted(self.kinds.items()))),
            ("takeovers, retries", f"{self.notices['Takeover']}, {self.notices['Retry']}"),
            ("suspended itself, and was resumed", self.resumed),
            ("records checked in the log", flaws.records),
            ("versions checked", flaws.versions),
            ("versions of more than one transaction", flaws.together),
            *((str(flaw), flaws.found[flaw]) for flaw in Flaw),
        ]

    def show(self, console: Console) -> None:
        """Print the table, the violations, and where the files are."""
        if self.remark:
            console.print(self.remark, style="bold red", soft_wrap=True)
        show_found(console, self.rows(), set(Flaw), self.flaws)
        left = None if self.folder is None else f"journals and logs: {self.folder}"
        show_end(console, checked_something=self.checked_something, left=left)
