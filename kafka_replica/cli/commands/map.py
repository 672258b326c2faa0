"""``kafka-replica map``: maps data to another structure, and writes rows that cannot be mapped to a separate file."""

from __future__ import annotations

import click

from kafka_replica.cli.data_options import DataOptions, data_options, reference_option
from kafka_replica.cli.log_output import say
from kafka_replica.cli.progress import shown_progress
from kafka_replica.cli.results import (
    exit_status,
    print_outcome,
    result_files,
    results_folder,
    write_report,
)
from kafka_replica.cli.structure_source import StructureSource
from kafka_replica.data.errors import data_errors
from kafka_replica.data.files import usages_of
from kafka_replica.data.jobs import MappingJob, Progress, engine, separators_in_words, sources_of
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
    standard input. Mapped rows,
    unchanged rejected rows, and report.json are written to the folder. Exits 0 if nothing was wrong, 3 if rows were
    rejected (see --fail-on), 1 if it failed.
    """
    sources = sources_of(data)
    for sentence in separators_in_words(sources):
        say(f"kafka-replica: {sentence}")
    runs = engine(chosen.engine_name)
    with shown_progress(quiet=chosen.quiet) as step:
        step(Progress("reading structures"))
        with source.snapshot() as snapshot:
            structures = Structures(snapshot)
            plan = compile_map(structures, reference, rules=chosen.rules)
            plan = inverse(plan) if reverse else plan
            rules, target = (compile_rules(structures, side.urn) for side in (plan.source, plan.target))
            usages = usages_of(structures, rules)
        with (
            result_files(chosen) as files,
            results_folder(chosen.out, overwrite=chosen.overwrite, via_temporary=runs.writes_here) as out,
        ):
            job = MappingJob(
                sources=sources,
                rules=rules,
                usages=usages,
                plan=plan,
                target=target,
                out=out,
                **files.of_jobs,
                **chosen.of_jobs,
            )
            with data_errors():
                outcome = runs.map(job, step)
            files.write_reports(outcome)
            write_report(out, outcome, picture=chosen.report_picture)
    print_outcome(outcome, chosen)
    return exit_status(outcome, chosen)
