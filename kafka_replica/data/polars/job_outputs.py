"""Write the files of a job batch by batch: good rows, rejected rows, and lists of findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Self

import polars as pl

from kafka_replica.common.wording import reason_of
from kafka_replica.data.jobs.job import GOOD, REJECTED, Job
from kafka_replica.data.polars.background_threads import WriteBehind
from kafka_replica.data.polars.datasets.writing import SdmxCsvFile
from kafka_replica.data.polars.ess_report import write_ess_report
from kafka_replica.data.polars.finding_files import first_rows, write_finding_frames
from kafka_replica.data.polars.finding_tables import RowFindings
from kafka_replica.data.polars.job_input import AT, Batch, JobInput
from kafka_replica.data.polars.rejected_rows import RejectedFile, have_one_layout, with_errors_in_words
from kafka_replica.data.polars.reports import with_dataset_findings
from kafka_replica.data.polars.spilled_frames import SpilledFrames
from kafka_replica.data.polars.validation import ERRORS_TYPE
from kafka_replica.data.validation import ERRORS, Finding, Report, Rules
from kafka_replica.errors import UsageError


class RowFile:
    """A file of good or rejected rows, in SDMX-CSV or Parquet.

    Attributes:
        rows: the number of rows written so far.
    """

    def __init__(self, job: Job, what: str, empty_frame: pl.DataFrame, rules: Rules, folder: Path) -> None:
        """Create the file.

        Args:
            job: the job.
            what: ``GOOD`` or ``REJECTED``.
            empty_frame: a frame without rows that has the columns.
            rules: the rules of the rows.
            folder: an existing folder for temporary files.
        """
        self._path, self._empty_frame = job.file(what), empty_frame
        self._kept = SpilledFrames(folder, what)
        self._csv = (
            SdmxCsvFile(self._path, empty_frame, rules, self._kept, job.time_format_of(what))
            if job.out_format == "csv" else None
        )  # fmt: skip
        self._behind = WriteBehind()
        self.rows = 0

    def write(self, frame: pl.DataFrame, *, is_plain: bool = False) -> None:
        """Write rows, CSV in another thread; see :meth:`SdmxCsvFile.write` for the arguments.

        Raises:
            UsageError: these rows, or those before them, cannot be written.
        """
        self.rows += frame.height
        if not frame.height:
            return
        if self._csv is not None:
            self._behind.begin(partial(self._csv.write, frame, is_plain=is_plain))
        else:
            self._kept.add(frame)

    def abandon(self) -> None:
        """Close the file, which may be incomplete."""
        self._behind.close()
        if self._csv is not None:
            self._csv.abandon()

    def close(self) -> None:
        """Complete the file.

        Raises:
            UsageError: the file cannot be written.
        """
        self._behind.finish()
        if self._csv is not None:
            self._csv.close()
            return
        if not self.rows:
            self._kept.add(self._empty_frame)
        try:
            self._kept.write_parquet(self._path)
        except OSError as error:
            raise UsageError(f"writing {self._path}: {reason_of(error)}") from error


class JobOutputs:
    """The output files of a job: good rows, rejected rows, and lists of findings."""

    def __init__(self, job: Job, data: JobInput, good: pl.DataFrame, good_rules: Rules, folder: Path) -> None:
        """Create the files of rows.

        Args:
            job: the job.
            data: the data of the job.
            good: a frame without rows that has the columns of good rows.
            good_rules: the rules of good rows.
            folder: an existing folder for temporary files.
        """
        self._job = job
        self.good = RowFile(job, GOOD, good, good_rules, folder)
        self._unchanged: RejectedFile | None = None
        self._others: RowFile | None = None
        if job.out_format == "csv" and job.keeps_layout and have_one_layout(data.originals):
            self._unchanged = RejectedFile(job.file(REJECTED), data.originals[0])
        else:
            rejected = data.empty_frame.drop(AT).with_columns(pl.lit(None, ERRORS_TYPE).alias(ERRORS))
            shown = with_errors_in_words(rejected) if job.out_format == "csv" else rejected
            self._others = RowFile(job, REJECTED, shown, job.rules, folder)
        self._listed = SpilledFrames(folder, "findings")
        self.rejected_rows = 0

    def __enter__(self) -> Self:
        """Return the outputs."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Close the files, which are incomplete after an error."""
        self.good.abandon()
        if self._others is not None:
            self._others.abandon()
        if self._unchanged is not None:
            self._unchanged.abandon()

    def reject(self, bad: pl.DataFrame, batch: Batch) -> None:
        """Write the rejected rows of a batch, with errors in ``_errors`` and distinct positions in ``AT``."""
        self.rejected_rows += bad.height
        if self._unchanged is not None:
            if bad.height:
                self._unchanged.write(bad, batch)
        elif self._others is not None:
            rows = bad.drop(AT)
            self._others.write(with_errors_in_words(rows) if self._job.out_format == "csv" else rows)

    def list(self, found: RowFindings) -> None:
        """Keep findings for the lists of findings, if the job requests lists and their limit has not been reached."""
        job = self._job
        if job.findings is None and not job.ess_reports:
            return
        most = job.max_findings
        if found.bad_rows and (most is None or self._listed.rows < most):
            self._listed.add(found.table())

    def close(self) -> None:
        """Complete the files of rows."""
        self.good.close()
        if self._unchanged is not None:
            self._unchanged.close()
        if self._others is not None:
            self._others.close()

    def write_lists(self, dataset: Iterable[Finding], report: Report, rules: Rules | None) -> int | None:
        """Write the lists of findings that the job requests.

        Returns the number of findings in the table of findings; None if no table is requested.

        Args:
            dataset: the findings about the data set as a whole.
            report: the report.
            rules: the rules of the data; None for maps.
        """
        job = self._job
        for path in job.ess_reports:
            write_ess_report(path, first_rows(self._tables(dataset), job.max_findings), report, rules)
        if job.findings is None:
            return None
        return write_finding_frames(self._tables(dataset), job.findings, most=job.max_findings)

    def _tables(self, dataset: Iterable[Finding]) -> Iterator[pl.DataFrame]:
        yield with_dataset_findings(self.none_listed(), dataset, self._job.file_of_dataset)
        yield from self._listed.frames()

    @staticmethod
    def none_listed() -> pl.DataFrame:
        """Return a table of findings without rows."""
        empty_frame = pl.DataFrame(schema={"series": pl.String(), ERRORS: ERRORS_TYPE})
        return RowFindings(empty_frame).table()
