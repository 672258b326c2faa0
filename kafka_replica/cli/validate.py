"""``kafka-replica validate``: data against the rules of a structure, good rows and rejected ones kept apart."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any, get_args

import click

from kafka_replica.cli.output import json_line
from kafka_replica.cli.results import REJECTED_ROWS, fresh_folder, outcome_json, show, steps, write_report
from kafka_replica.cli.structure_source import StructureSource, structure_options
from kafka_replica.errors import UsageError
from kafka_replica.jobs import ValidationJob, engine, sources_of
from kafka_replica.rules import Rules, compile_rules
from kafka_replica.rules.actions import Action
from kafka_replica.sdmx import Structures


def data_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of commands that read data and write data."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="The report as a line of JSON on stdout."),
        click.option("--report-picture", is_flag=True, help="Also draw the findings: report.svg."),
        click.option("--overwrite", is_flag=True, help="Replace what an earlier run left in the folder."),
        click.option("--encoding", help="Of text files without a byte order mark; UTF-8 if not given."),
        click.option("--decimal", default=".", show_default=True, help="What stands before decimals in SDMX-CSV."),
        click.option(
            "--format", "out_format", type=click.Choice(["csv", "parquet"]), default="csv", show_default=True,
            help="Of what is written; csv is SDMX-CSV 2.0.",
        ),
        click.option(
            "--engine", "engine_name", default="local", show_default=True, metavar="local|spark",
            help="local: polars, in this process. spark: folders of files, for data of any size.",
        ),
        click.option(
            "--rules", "severities", multiple=True, metavar="RULE=SEVERITY",
            help="Make a rule an error, a warning, information, or switch it off. Repeatable.",
        ),
        click.option(
            "--out", required=True, type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
            help="The folder for what is written.",
        ),
    ):  # fmt: skip
        command = option(command)
    return structure_options(command)


@click.command()
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
@click.option("--flow", required=True, metavar="URN", help="The dataflow, data structure or provision agreement.")
@click.option("--action", type=click.Choice(get_args(Action)), default="information", show_default=True,
              help="Of rows that name none.")  # fmt: skip
@click.option("--as-of", type=click.DateTime(["%Y-%m-%d"]), help="When constraints must be valid; today if not given.")
@data_options
def validate(
    data: tuple[str, ...],
    flow: str,
    action: Action,
    as_of: datetime | None,
    source: StructureSource,
    out: Path,
    severities: tuple[str, ...],
    engine_name: str,
    out_format: Any,
    decimal: str,
    encoding: str | None,
    overwrite: bool,
    report_picture: bool,
    as_json: bool,
) -> int:
    """Validate DATA against a structure.

    DATA are files of SDMX-CSV, plain CSV with component ids for column names, Parquet, SDMX-ML or SDMX-JSON, or folders
    of them. Good rows, rejected rows and report.json go to the folder. Exits 0 if nothing was wrong, 3 if rows were
    rejected, 1 if it could not be done.
    """
    sources = sources_of(data)
    runs = engine(engine_name)
    with steps() as step:
        step("reading structures")
        rules = _rules(source, flow, severities, action, None if as_of is None else as_of.date())
        fresh_folder(out, overwrite=overwrite)
        outcome = runs.validate(ValidationJob(sources, rules, out, out_format, decimal, encoding), step)
        write_report(out, outcome, picture=report_picture)
    if as_json:
        json_line(outcome_json(outcome))
    else:
        show(outcome, out, out_format)
    return REJECTED_ROWS if outcome.rejected_rows or not outcome.report.is_valid else 0


def _rules(
    source: StructureSource, flow: str, severities: tuple[str, ...], action: Action, as_of: date | None
) -> Rules:
    with source.snapshot() as snapshot:
        return compile_rules(Structures(snapshot), flow, rules=severities_of(severities), action=action, as_of=as_of)


def severities_of(texts: tuple[str, ...]) -> dict[str, str] | None:
    """``RULE=SEVERITY`` as a dictionary.

    Raises:
        UsageError: one is not like that.
    """
    found: dict[str, str] = {}
    for text in texts:
        rule, equals, severity = text.partition("=")
        if not equals:
            raise UsageError(f"--rules {text!r}: say RULE=off, RULE=warning, RULE=error or RULE=information")
        found[rule.strip()] = severity.strip()
    return found or None
