"""Run a job that maps data batch by batch, in one pass unless several rows are mapped to the same observation."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from kafka_replica.data.jobs.job import MappingJob, Outcome
from kafka_replica.data.jobs.progress import Progress, ProgressCallback
from kafka_replica.data.polars.batch_comparison import Hashes, key_hash
from kafka_replica.data.polars.finding_tables import FindingCounts, RowFindings
from kafka_replica.data.polars.job_input import AT, Batch, JobInput, peek_single
from kafka_replica.data.polars.job_outputs import JobOutputs
from kafka_replica.data.polars.mapping.transforming import MappedRows
from kafka_replica.data.polars.prepared_frame import prepare_frame
from kafka_replica.data.polars.reports import series_and_times
from kafka_replica.data.polars.validation import split
from kafka_replica.data.polars.wrong_rows import with_wrong_rows, wrong_rows_of
from kafka_replica.data.validation import ERRORS
from kafka_replica.data.validation.report_building import report_of

_SERIES = 20


class MappingRun:
    """The run of a mapping job."""

    def __init__(self, job: MappingJob, data: JobInput, step: ProgressCallback, folder: Path) -> None:
        """Prepare the run.

        Args:
            job: the job.
            data: the data of the job.
            step: is called with the progress.
            folder: an existing folder for temporary files.
        """
        self._job, self._data, self._step, self._folder = job, data, step, folder
        self._empty_result = MappedRows(data.empty_frame, job.plan)

    def outcome(self) -> Outcome:
        """Run the job, and return its outcome."""
        every, is_whole = peek_single(self._data.batches("mapping"))
        if is_whole:
            return self._pass(every, None, is_whole=True)
        hashes = Hashes()
        done = self._pass(every, hashes)
        repeated = hashes.repeated()
        if not len(repeated):
            return done
        keys = self._repeated_keys(repeated)
        return self._pass(self._data.batches("mapping again"), None, keys) if keys.height else done

    def _repeated_keys(self, hashes: pl.Series) -> pl.DataFrame:
        """Return the keys that more than one row has, among the keys with these hashes."""
        kept = []
        for batch in self._data.batches("comparing rows"):
            mapped = MappedRows(batch.frame, self._job.plan)
            names = mapped.key_columns
            is_candidate = mapped.is_compared & key_hash(names).is_in(hashes.implode())
            kept.append(mapped.rows.filter(is_candidate).select(names))
        every = pl.concat(kept, rechunk=True)
        return every.filter(every.is_duplicated()).unique()

    def _pass(
        self, batches: Iterable[Batch], hashes: Hashes | None, keys: pl.DataFrame | None = None, *,
        is_whole: bool = False,
    ) -> Outcome:  # fmt: skip
        """Map and write all rows, and make the report.

        Args:
            batches: the rows.
            hashes: the collection to which the hashes of keys are added, for comparison; None if they are not needed.
            keys: the keys that more than one row has, if they are known.
            is_whole: whether there is only one batch.
        """
        job = self._job
        none = split(self._empty_result.result(self._empty_result.repeated())).good.drop(AT)
        counts = FindingCounts()
        with JobOutputs(job, self._data, none, job.target, self._folder) as outputs:
            for batch in batches:
                mapped = MappedRows(batch.frame, job.plan)
                if hashes is not None and mapped.key_columns:
                    hashes.add(mapped.rows.filter(mapped.is_compared).select(key_hash(mapped.key_columns)).to_series())
                found = self._written(batch, mapped.result(_repeated(mapped, keys, is_whole=is_whole)), outputs)
                outputs.list(found)
                counts.add(found)
            outputs.close()
            self._step(Progress("reporting", rows=counts.totals()[0]))
            report = report_of(job.plan.artefact, job.plan.version, counts, (), job.plan.notes, series=_SERIES)
            listed = outputs.write_lists((), report, None)
            return Outcome(
                report, outputs.good.rows, outputs.rejected_rows, self._data.others, listed, job.switched_off,
                tuple(self._data.notes),
            )  # fmt: skip

    def _written(self, batch: Batch, mapped: pl.DataFrame, outputs: JobOutputs) -> RowFindings:
        """Write the rows of a batch, and return its findings."""
        job = self._job
        wrong = wrong_rows_of(batch, job)
        good, bad = split(mapped)
        outputs.good.write(good.drop(AT))
        outputs.reject(with_wrong_rows(_distinct_source_rows(bad), wrong), batch)
        found = _distinct_source_rows(mapped.select(AT, ERRORS).drop_nulls(ERRORS))
        source = batch.frame.filter(pl.col(AT).is_in(found[AT].unique().implode()))
        texts = prepare_frame(source, job.rules).texts
        keys = series_and_times(texts, job.rules, source.columns).with_columns(source[AT])
        located = found.join(keys, on=AT, how="left", maintain_order="left").select(*keys.columns, ERRORS)
        located = with_wrong_rows(located, wrong)
        places = batch.locations_of(located[AT])
        return RowFindings(places.hstack(located.drop(AT)), batch.frame.height + len(batch.wrong))


def _repeated(mapped: MappedRows, keys: pl.DataFrame | None, *, is_whole: bool) -> pl.Series:
    """Return, for each row, whether another row of the job has the same key."""
    if is_whole:
        return mapped.repeated()
    if keys is None:
        return pl.Series([False]).new_from_index(0, mapped.rows.height)
    names = mapped.key_columns
    rows = mapped.rows.select(*names, counts=mapped.is_compared)
    marked = keys.with_columns(repeated=pl.lit(value=True))
    found = rows.join(marked, on=names, how="left", nulls_equal=True, maintain_order="left")
    return found.select(pl.col("counts") & pl.col("repeated").fill_null(value=False)).to_series()


def _distinct_source_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """Return each source row once, with its distinct errors; a row that maps to several rows occurs several times."""
    if not rows[AT].is_duplicated().any():
        return rows
    first = rows.drop(ERRORS).unique(AT, keep="first", maintain_order=True)
    errors = rows.group_by(AT, maintain_order=True).agg(pl.col(ERRORS).explode().unique(maintain_order=True))
    return first.join(errors, on=AT, maintain_order="left")
