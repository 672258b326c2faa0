"""``kafka-replica validate``: checks data against the rules of a structure, and separates good and rejected rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import get_args

import click

from kafka_replica.cli.data_command import RunJob, process_data
from kafka_replica.cli.data_options import DataOptions, data_options, reference_option
from kafka_replica.cli.structure_source import StructureSource
from kafka_replica.data.files import usages_of
from kafka_replica.data.jobs import ValidationJob
from kafka_replica.data.validation import compile_rules
from kafka_replica.data.validation.actions import Action
from kafka_replica.sdmx import IncompleteStructureError, Structures


@click.command()
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
@reference_option("--flow", "flow", "The dataflow, data structure or provision agreement.")
@click.option("--action", type=click.Choice(get_args(Action)), default="information", show_default=True,
              help="Action of rows that name none.")  # fmt: skip
@click.option(
    "--as-of", type=click.DateTime(["%Y-%m-%d"]), help="Date at which constraints must be valid; today by default."
)
@click.option(
    "--allow-missing",
    is_flag=True,
    help="If lists of values are missing, check everything else; the report lists unchecked rules.",
)
@data_options
def validate(
    data: tuple[str, ...],
    flow: str,
    action: Action,
    as_of: datetime | None,
    allow_missing: bool,
    source: StructureSource,
    chosen: DataOptions,
) -> int:
    """Validate DATA against a structure.

    DATA are files of SDMX-CSV, plain CSV with component ids as column names, Parquet, Arrow IPC, SDMX-ML, SDMX-JSON,
    SDMX-EDI or workbooks (.xlsx), each also compressed (gzip, zip, zstd), folders and zip archives of them, or - for
    standard input. Good rows, rejected rows and report.json are written to the folder. Exits 0 if nothing was wrong, 3
    if rows were rejected (see --fail-on), 1 if it failed.
    """

    def compiled(structures: Structures) -> RunJob:
        when = None if as_of is None else as_of.date()
        with _advice():
            rules = compile_rules(
                structures, flow, rules=chosen.rules, action=action, as_of=when, allow_missing=allow_missing
            )
        usages = usages_of(structures, rules)
        return lambda runs, common, step: runs.validate(ValidationJob(rules=rules, usages=usages, **common), step)

    return process_data(data, source, chosen, compiled)


@contextmanager
def _advice() -> Iterator[None]:
    """Add advice about --allow-missing to the error about missing artefacts."""
    try:
        yield
    except IncompleteStructureError as error:
        text = f"{error}; or check everything else with --allow-missing"
        raise IncompleteStructureError(text) from error
