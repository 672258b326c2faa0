"""The engine ``local``, which processes data from files to files with polars, in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from kafka_replica.data.jobs.job import MappingJob, Outcome, ValidationJob
from kafka_replica.data.jobs.progress import ProgressCallback
from kafka_replica.data.polars.job_input import JobInput
from kafka_replica.data.polars.mapping_run import MappingRun
from kafka_replica.data.polars.source_rows import BatchSize
from kafka_replica.data.polars.validation_run import ValidationRun


class LocalEngine:
    """The engine ``local``, which uses polars."""

    writes_here = True

    def __init__(self, batch: BatchSize | None = None) -> None:
        """Set the size of batches, on which the results do not depend; None means the default."""
        self._batch = batch

    def validate(self, job: ValidationJob, step: ProgressCallback) -> Outcome:
        """Validate data, and write good and rejected rows to separate files.

        Raises:
            KafkaReplicaError: a file cannot be read, or no row belongs to the structure.
        """
        with _folder(job.out) as folder:
            return ValidationRun(job, JobInput(job, step, folder, self._batch), step, folder).outcome()

    def map(self, job: MappingJob, step: ProgressCallback) -> Outcome:
        """Map data, and write mapped rows and unchanged rejected rows to separate files.

        Raises:
            KafkaReplicaError: a file cannot be read, or no row belongs to the source.
        """
        with _folder(job.out) as folder:
            return MappingRun(job, JobInput(job, step, folder, self._batch), step, folder).outcome()


@contextmanager
def _folder(out: Path) -> Iterator[Path]:
    """Yield a folder for temporary files inside ``out``, and remove it at the end."""
    with TemporaryDirectory(prefix=".parts-", dir=out) as folder:
        yield Path(folder)
