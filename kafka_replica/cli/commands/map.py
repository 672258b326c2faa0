"""``kafka-replica map``: maps data to another structure, and writes rows that cannot be mapped to a separate file."""

from __future__ import annotations

import click

from kafka_replica.cli.data_command import RunJob, process_data
from kafka_replica.cli.data_options import DataOptions, data_options, reference_option
from kafka_replica.cli.structure_source import StructureSource
from kafka_replica.data.files import usages_of
from kafka_replica.data.jobs import MappingJob
from kafka_replica.data.mapping import compile_map, inverse
from kafka_replica.data.validation import compile_rules
from kafka_replica.sdmx import Structures


@click.command("map")
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
@reference_option("--map", "reference", "The structure map.")
@click.option("--reverse", is_flag=True, help="Map in the opposite direction, if the map loses no information.")
@data_options
def map_data(
    data: tuple[str, ...],
    reference: str,
    reverse: bool,
    source: StructureSource,
    chosen: DataOptions,
) -> int:
    """Map DATA to another structure.

    DATA are files of SDMX-CSV, plain CSV with component ids as column names, Parquet, Arrow IPC, SDMX-ML, SDMX-JSON,
    SDMX-EDI or workbooks (.xlsx), each also compressed (gzip, zip, zstd), folders and zip archives of them, or - for
    standard input. Mapped rows, unchanged rejected rows, and report.json are written to the folder. Exits 0 if nothing
    was wrong, 3 if rows were rejected (see --fail-on), 1 if it failed.
    """

    def compiled(structures: Structures) -> RunJob:
        plan = compile_map(structures, reference, rules=chosen.rules)
        plan = inverse(plan) if reverse else plan
        rules, target = (compile_rules(structures, side.urn) for side in (plan.source, plan.target))
        usages = usages_of(structures, rules)
        return lambda runs, common, step: runs.map(
            MappingJob(rules=rules, usages=usages, plan=plan, target=target, **common), step
        )

    return process_data(data, source, chosen, compiled)
