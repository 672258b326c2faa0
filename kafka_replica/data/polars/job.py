"""The engine ``local``, which processes data from files to files with polars, in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from kafka_replica.common.wording import reason_of
from kafka_replica.data.jobs.job import GOOD, REJECTED, Job, MappingJob, Outcome, ValidationJob
from kafka_replica.data.jobs.progress import Progress, Step
from kafka_replica.data.polars.datasets import write_sdmx_csv
from kafka_replica.data.polars.ess_report import write_ess_report
from kafka_replica.data.polars.finding_files import write_findings
from kafka_replica.data.polars.inputs import AT, Input, read_input
from kafka_replica.data.polars.mapping import transform
from kafka_replica.data.polars.rejected import have_one_layout, with_errors_in_words, write_rejected
from kafka_replica.data.polars.reports import MapFindings, ValidationFindings, with_dataset_findings
from kafka_replica.data.polars.validation import checked_rows, split
from kafka_replica.data.validation import ERRORS, Report, Rules
from kafka_replica.errors import UsageError


class LocalEngine:
    """The engine that uses polars."""

    writes_here = True

    def validate(self, job: ValidationJob, step: Step) -> Outcome:
        """Validate data, and write good and rejected rows to a file each.

        Raises:
            KafkaReplicaError: a file cannot be read, or no row belongs to the structure.
        """
        data = read_input(job, step)
        checked = checked_rows(data.frame.drop(AT), job.rules, _progress_of_checks(step, data.frame.height))
        good, bad = split(checked.with_columns(data.frame[AT]))
        step(Progress("writing", rows=data.frame.height))
        _write(good.drop(AT), job, GOOD, job.rules)
        _write_rejected(bad, data, job)
        step(Progress("reporting", rows=data.frame.height))
        found = ValidationFindings(checked, job.rules, data.locations_of(data.frame[AT]))
        report = found.report()
        listed = _list(with_dataset_findings(found.rows.table(), found.dataset), report, job, job.rules)
        return Outcome(report, good.height, bad.height, data.others, listed, job.switched_off)

    def map(self, job: MappingJob, step: Step) -> Outcome:
        """Map data, and write mapped rows, and rejected rows unchanged, to a file each.

        Raises:
            KafkaReplicaError: a file cannot be read, or no row belongs to the source.
        """
        data = read_input(job, step)
        step(Progress("mapping", rows=data.frame.height))
        mapped = transform(data.frame, job.plan)
        good, bad = split(mapped)
        step(Progress("writing", rows=data.frame.height))
        _write(good.drop(AT), job, GOOD, job.target)
        _write_rejected(bad, data, job)
        step(Progress("reporting", rows=data.frame.height))
        found = MapFindings(mapped, mapped[AT], data.frame, job.rules, data.locations_of(mapped[AT]))
        report = found.report(job.plan)
        listed = _list(found.rows.table(), report, job, None)
        return Outcome(report, good.height, bad.height, data.others, listed, job.switched_off)


def _progress_of_checks(step: Step, rows: int) -> Callable[[int, int], None]:
    return lambda done, total: step(Progress("validating", done, total, "checks", rows))


def _list(table: pl.DataFrame, report: Report, job: Job, rules: Rules | None) -> int | None:
    """Write the files with all findings that are wanted; return the number of findings in their table, if it is."""
    for path in job.ess_reports:
        write_ess_report(
            path, table.head(table.height if job.max_findings is None else job.max_findings), report, rules
        )
    return None if job.findings is None else write_findings(table, job.findings, most=job.max_findings)


def _write_rejected(bad: pl.DataFrame, data: Input, job: Job) -> None:
    """Write each rejected row once, with all of its errors."""
    if bad[AT].is_duplicated().any():  # a row may be mapped to several
        first = bad.drop(ERRORS).unique(AT, keep="first", maintain_order=True)
        errors = bad.group_by(AT, maintain_order=True).agg(pl.col(ERRORS).explode())
        bad = first.join(errors, on=AT, maintain_order="left")
    if job.out_format == "csv" and job.keeps_layout and have_one_layout(data.originals):
        told = with_errors_in_words(bad.select(AT, ERRORS))
        write_rejected(job.file(REJECTED), data.originals, told)
    else:
        _write(bad.drop(AT), job, REJECTED, job.rules)


def _write(frame: pl.DataFrame, job: Job, what: str, rules: Rules) -> None:
    path = job.file(what)
    if job.out_format == "csv":
        write_sdmx_csv(with_errors_in_words(frame), path, rules, time_format=job.time_format_of(what))
        return
    try:
        frame.write_parquet(Path(path))
    except OSError as error:
        raise UsageError(f"writing {path}: {reason_of(error)}") from error
