"""``kafka-replica doctor``: tests the connection, the topic and its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from kafka_replica.cli.console import OutputConsole
from kafka_replica.cli.numbers import WholeNumber
from kafka_replica.cli.options import kafka_options
from kafka_replica.cli.output import print_json_line
from kafka_replica.cli.properties import properties
from kafka_replica.cli.topic_suggestions import suggested_topics
from kafka_replica.common.wording import counted
from kafka_replica.doctor import Finding, Severity, examine
from kafka_replica.doctor.examination import LARGE_BYTES

_MARKS = {
    Severity.OK: "[green]ok[/]     ",
    Severity.ADVICE: "[yellow]advice[/] ",
    Severity.FAULT: "[red bold]FAULT[/]  ",
    Severity.SKIPPED: "[dim]skipped[/]",
}


@click.command()
@click.option(
    "--large-bytes", type=WholeNumber(1), default=LARGE_BYTES, show_default=True,
    help="Size of the largest expected record, before compression.",
)  # fmt: skip
@click.option("--progress-topic", help="Progress topic of the producer, if it is not TOPIC.progress.")
@click.option(
    "--transactional-id", default="tx-doctor", show_default=True, help="Transactional id of the trial transactions."
)
@click.option(
    "--reader", is_flag=True, help="Test only what a replica needs: no permission to write, and nothing is sent."
)
@kafka_options
def doctor(
    large_bytes: int,
    progress_topic: str | None,
    transactional_id: str,
    reader: bool,
    bootstrap_server: str | None,
    topic: str,
    configs: tuple[str, ...],
    timeout_s: float,
    as_json: bool,
) -> int:
    """Test the connection, the topic and its settings for a replica and a producer.

    Tests each server, the topic, its settings and the permissions on it, a transaction, a record and a large record.
    Everything is sent in transactions that are aborted. Waits for --timeout-s, but at most 30 s, for an answer. Exits 0
    unless there is a fault.
    """
    console = OutputConsole()
    findings: list[Finding] = []
    config = properties(bootstrap_server, configs)
    for found in examine(
        config,
        topic,
        large_bytes=large_bytes,
        progress_topic=progress_topic,
        transactional_id=transactional_id,
        timeout_s=min(timeout_s, 30.0),
        reader_only=reader,
    ):
        finding = _with_suggestion(found, config, topic)
        findings.append(finding)
        if as_json:
            print_json_line(asdict(finding))
        else:
            _show(console, finding)
    faults = sum(finding.severity is Severity.FAULT for finding in findings)
    if not as_json:
        advice = sum(finding.severity is Severity.ADVICE for finding in findings)
        pieces = counted(advice, "piece of advice", "pieces of advice")
        console.print(f"{counted(len(findings), 'check')}: {counted(faults, 'fault')}, {pieces}")
    return 1 if faults else 0


def _with_suggestion(finding: Finding, config: Mapping[str, Any], topic: str) -> Finding:
    """Return the finding, with similar names of topics added if it is about a missing topic."""
    if finding.check != f"topic {topic}" or finding.severity is not Severity.FAULT:
        return finding
    return replace(finding, advice=f"{finding.advice or ''}{suggested_topics(config, topic)}".removeprefix("; "))


def _show(console: Console, finding: Finding) -> None:
    console.print(
        f"{_MARKS[finding.severity]}  [bold]{escape(finding.check)}[/]: {escape(finding.message)}", highlight=False
    )
    if finding.advice is not None:
        console.print(f"           -> {escape(finding.advice)}", highlight=False)
