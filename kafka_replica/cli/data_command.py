"""Process data for a command, from the sources to the results and the exit status."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from kafka_replica.cli.data_options import DataOptions
from kafka_replica.cli.log_output import log_message
from kafka_replica.cli.progress import shown_progress
from kafka_replica.cli.results import exit_status, print_outcome, result_files, results_folder, write_report
from kafka_replica.cli.structure_source import StructureSource
from kafka_replica.data.errors import data_errors
from kafka_replica.data.jobs import Engine, Outcome, Progress, ProgressCallback, engine, separators_in_words, sources_of
from kafka_replica.sdmx import Structures

RunJob: TypeAlias = Callable[[Engine, dict[str, Any], ProgressCallback], Outcome]
"""A function that runs a job with an engine, and with the arguments that all jobs have."""


def process_data(
    data: Sequence[str], source: StructureSource, chosen: DataOptions, compile_job: Callable[[Structures], RunJob]
) -> int:
    """Process data, write and print the results, and return the exit status.

    Args:
        data: the files.
        source: the source of the structures.
        chosen: the options.
        compile_job: compiles the rules or the map of a job, and returns the function that runs the job.

    Raises:
        KafkaReplicaError: the job failed.
    """
    sources = sources_of(data, lambda sentence: log_message(f"kafka-replica: {sentence}", logging.WARNING))
    for sentence in separators_in_words(sources):
        log_message(f"kafka-replica: {sentence}")
    chosen_engine = engine(chosen.engine_name)
    with shown_progress(quiet=chosen.quiet) as step:
        step(Progress("reading structures"))
        with source.snapshot() as snapshot:
            run_job = compile_job(Structures(snapshot))
        with (
            result_files(chosen) as files,
            results_folder(chosen.out, overwrite=chosen.overwrite, via_temporary=chosen_engine.writes_here) as out,
        ):
            with data_errors():
                outcome = run_job(
                    chosen_engine, {"sources": sources, "out": out, **files.job_arguments, **chosen.job_arguments}, step
                )
            files.write_reports(outcome)
            write_report(out, outcome, picture=chosen.report_picture)
    print_outcome(outcome, chosen)
    return exit_status(outcome, chosen)
