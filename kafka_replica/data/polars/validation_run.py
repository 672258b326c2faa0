"""Run a job that validates data batch by batch, in one pass unless rows of different batches must be compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl

from kafka_replica.data.jobs.job import Outcome, ValidationJob
from kafka_replica.data.jobs.progress import Progress, ProgressCallback
from kafka_replica.data.polars.batch_comparison import BatchComparison, Flagged, hits_among
from kafka_replica.data.polars.cross_row import Hit, attribute_extents, flagged_rows, merged_extents
from kafka_replica.data.polars.finding_tables import FindingCounts, RowFindings
from kafka_replica.data.polars.job_input import AT, Batch, JobInput, peek_single
from kafka_replica.data.polars.job_outputs import JobOutputs
from kafka_replica.data.polars.prepared_frame import PreparedFrame, prepare_frame
from kafka_replica.data.polars.reports import series_and_times
from kafka_replica.data.polars.validation import errors_of, refuse_errors, split
from kafka_replica.data.polars.wrong_rows import with_wrong_rows, wrong_rows_of
from kafka_replica.data.validation import ERRORS
from kafka_replica.data.validation.report_building import Extent, dataset_findings, report_of

_SERIES = 20


class ValidationRun:
    """The run of a validation job."""

    def __init__(self, job: ValidationJob, data: JobInput, step: ProgressCallback, folder: Path) -> None:
        """Prepare the run.

        Args:
            job: the job.
            data: the data of the job.
            step: is called with the progress.
            folder: an existing folder for temporary files.

        Raises:
            UsageError: the data has a column ``_errors``.
        """
        self._job, self._data, self._step, self._folder = job, data, step, folder
        refuse_errors(data.empty_frame)
        self._empty_result = prepare_frame(data.empty_frame.drop(AT), job.rules)

    def outcome(self) -> Outcome:
        """Run the job, and return its outcome."""
        every, is_whole = peek_single(self._data.batches("validating"))
        if is_whole:
            return self._pass(every, None, is_whole=True)
        comparing = BatchComparison(self._empty_result.bound)
        done = self._pass(every, comparing)
        if not comparing.has_candidates():
            return done
        flagged = self._compared(comparing)
        return self._pass(self._data.batches("validating again"), None, flagged) if flagged else done

    def _compared(self, comparing: BatchComparison) -> Flagged:
        at = 0
        for batch in self._data.batches("comparing rows"):
            comparing.keep(prepare_frame(batch.frame.drop(AT), self._job.rules), at)
            at += batch.frame.height
        return comparing.flagged(self._empty_result)

    def _pass(
        self, batches: Iterable[Batch], comparing: BatchComparison | None, flagged: Flagged | None = None, *,
        is_whole: bool = False,
    ) -> Outcome:  # fmt: skip
        """Validate and write all rows, and make the report.

        Args:
            batches: the rows.
            comparing: the comparison to which the rows are added; None if it is not needed.
            flagged: the rows that violate checks which compare rows, if they are known.
            is_whole: whether there is only one batch.
        """
        job = self._job
        counts = FindingCounts()
        known: list[Extent] | None = None
        at = 0
        with JobOutputs(job, self._data, self._data.empty_frame.drop(AT), job.rules, self._folder) as outputs:
            for batch in batches:
                frame = batch.frame.drop(AT)
                rows = prepare_frame(frame, job.rules)
                if comparing is not None:
                    comparing.add(rows)
                compared: Iterator[Hit] = (
                    flagged_rows(rows) if is_whole else hits_among(rows, at, flagged or {})
                )  # fmt: skip
                found = self._written(batch, frame, rows, compared, outputs)
                outputs.list(found)
                counts.add(found)
                new = attribute_extents(rows)
                known = new if known is None else merged_extents(known, new)
                at += frame.height
            outputs.close()
            self._step(Progress("reporting", rows=counts.totals()[0]))
            bound = self._empty_result.bound
            dataset = dataset_findings(bound, attribute_extents(self._empty_result) if known is None else known)
            report = report_of(
                job.rules.artefact, job.rules.version, counts, dataset, bound.unchecked, series=_SERIES
            )  # fmt: skip
            listed = outputs.write_lists(dataset, report, job.rules)
            return Outcome(
                report, outputs.good.rows, outputs.rejected_rows, self._data.others, listed, job.switched_off,
                tuple(self._data.notes),
            )  # fmt: skip

    def _written(
        self, batch: Batch, frame: pl.DataFrame, rows: PreparedFrame, compared: Iterator[Hit], outputs: JobOutputs
    ) -> RowFindings:  # fmt: skip
        """Write the rows of a batch, and return its findings."""
        errors = errors_of(rows, compared)
        wrong = wrong_rows_of(batch, self._job)
        good, bad = split(batch.frame.with_columns(errors.alias(ERRORS)))
        outputs.good.write(good.drop(AT), is_plain=batch.csv is not None and batch.csv.is_plain)
        outputs.reject(with_wrong_rows(bad, wrong), batch)
        is_found = errors.is_not_null()
        located = (
            series_and_times(rows.texts.filter(is_found), self._job.rules, frame.columns)
            .with_columns(errors.filter(is_found), batch.frame[AT].filter(is_found))
        )  # fmt: skip
        located = with_wrong_rows(located, wrong)
        places = batch.locations_of(located[AT])
        return RowFindings(places.hstack(located.drop(AT)), frame.height + len(batch.wrong))
