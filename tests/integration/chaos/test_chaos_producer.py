"""A short run of `make chaos` for the producer, on a real broker: nothing missing, twice or out of order."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from chaos.__main__ import options_of
from chaos.outbox.checker import Flaw
from chaos.outbox.options import OutboxOptions
from chaos.outbox.report import OutboxReport
from chaos.outbox.run import run

pytestmark = pytest.mark.broker

_LAST_LINES = 40


@pytest.mark.long
def test_kills_of_every_part_lose_no_transaction_of_the_database(tmp_path: Path) -> None:
    """Kills of instances, recorders, broker and PostgreSQL (or SQLite, with a remark) lose nothing."""
    seconds = 60
    report = run(OutboxOptions(seconds=seconds, least_recorded=60, least_faults=3, seed=1, folder=tmp_path), print)
    if report.flaws.wrong:
        _print_evidence(report)
    assert report.flaws.wrong == 0, report.flaws.found
    assert report.checked_something
    assert report.flaws.transactions >= 60
    assert report.exit_status == 0
    own = psutil.Process().children(recursive=True)
    assert not [child for child in own if "chaos." in " ".join(child.cmdline())]


def _print_evidence(report: OutboxReport) -> None:
    """Print all sentences about violations, and the last lines of the instances' logs."""
    for flaw, texts in report.flaws.texts.items():
        print(f"{flaw}:", *texts, sep="\n  ")
    assert report.folder is not None
    for log in sorted(report.folder.glob("*.log")):
        print(f"{log.name}:", *log.read_text(errors="replace").splitlines()[-_LAST_LINES:], sep="\n  ")


@pytest.mark.long
def test_a_producer_that_marks_too_early_is_found_out(tmp_path: Path) -> None:
    """A producer that marks too early is detected: a transaction marked before a crash and not sent is missing."""
    options = OutboxOptions(
        seconds=300, seed=2, wrong="marks early", instances=1, database="sqlite", settle_s=5.0, folder=tmp_path
    )
    report = run(options, print)
    assert report.flaws.found[Flaw.CONTRADICTED] > 0, report.flaws.texts
    assert report.exit_status == 1


def test_options_of_the_producer() -> None:
    """The command line determines the options of the run."""
    chosen = options_of(["--producer", "--minutes", "3", "--seed", "7", "--brokers", "3", "--instances", "3"])
    assert chosen == OutboxOptions(seconds=180, seed=7, brokers=3, instances=3)
