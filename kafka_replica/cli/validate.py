"""``kafka-replica validate``: data against the rules of a structure, good rows and rejected ones kept apart."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any, get_args

import click

from kafka_replica.cli.data_options import data_options, severities_of
from kafka_replica.cli.output import json_line
from kafka_replica.cli.results import REJECTED_ROWS, fresh_folder, outcome_json, show, steps, write_report
from kafka_replica.cli.structure_source import StructureSource
from kafka_replica.jobs import ValidationJob, engine, sources_of
from kafka_replica.rules import Rules, compile_rules
from kafka_replica.rules.actions import Action
from kafka_replica.sdmx import Structures


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
        job = ValidationJob(
            sources=sources, rules=rules, out=out, out_format=out_format, decimal=decimal, encoding=encoding
        )
        outcome = runs.validate(job, step)
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
