"""Process data with a command, from the sources to the results and the exit status."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from kafka_replica.cli.data_options import DataOptions
from kafka_replica.cli.log_output import say
from kafka_replica.cli.progress import shown_progress
from kafka_replica.cli.results import exit_status, print_outcome, result_files, results_folder, write_report
from kafka_replica.cli.structure_source import StructureSource
from kafka_replica.data.errors import data_errors
from kafka_replica.data.jobs import Engine, Outcome, Progress, ProgressCallback, engine, separators_in_words, sources_of
from kafka_replica.sdmx import Structures

Run: TypeAlias = Callable[[Engine, dict[str, Any], ProgressCallback], Outcome]
"""Runs the job with an engine and the arguments that all jobs have."""


def process(
    data: Sequence[str], source: StructureSource, chosen: DataOptions, compiled: Callable[[Structures], Run]
) -> int:
    """Process data, write and print the results, and return the exit status.

    Args:
        data: the files.
        source: the source of the structures.
        chosen: the options.
        compiled: compiles the rules of a job, and returns the function that runs it.

    Raises:
        KafkaReplicaError: the job failed.
    """
    sources = sources_of(data, lambda sentence: say(f"kafka-replica: {sentence}", logging.WARNING))
    for sentence in separators_in_words(sources):
        say(f"kafka-replica: {sentence}")
    runs = engine(chosen.engine_name)
    with shown_progress(quiet=chosen.quiet) as step:
        step(Progress("reading structures"))
        with source.snapshot() as snapshot:
            run = compiled(Structures(snapshot))
        with (
            result_files(chosen) as files,
            results_folder(chosen.out, overwrite=chosen.overwrite, via_temporary=runs.writes_here) as out,
        ):
            with data_errors():
                outcome = run(runs, {"sources": sources, "out": out, **files.of_jobs, **chosen.of_jobs}, step)
            files.write_reports(outcome)
            write_report(out, outcome, picture=chosen.report_picture)
    print_outcome(outcome, chosen)
    return exit_status(outcome, chosen)
