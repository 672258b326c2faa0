"""Find engines by name among the entry points ``kafka_replica.engines`` of the installed packages."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Final, Protocol

from kafka_replica.data.jobs.job import MappingJob, Outcome, ValidationJob
from kafka_replica.data.jobs.progress import ProgressCallback
from kafka_replica.errors import ConfigurationError

GROUP: Final = "kafka_replica.engines"


class Engine(Protocol):
    """An engine that reads, processes and writes data."""

    @property
    def writes_here(self) -> bool:
        """Return whether this process can see the files that the engine writes."""

    def validate(self, job: ValidationJob, step: ProgressCallback) -> Outcome:
        """Validate data, and write good and rejected rows.

        Raises:
            KafkaReplicaError: the job failed.
        """

    def map(self, job: MappingJob, step: ProgressCallback) -> Outcome:
        """Map data, and write mapped and rejected rows.

        Raises:
            KafkaReplicaError: the job failed.
        """


def engine(name: str) -> Engine:
    """Return a new instance of the engine with a name, such as ``local`` or ``spark``.

    Raises:
        ConfigurationError: no installed package provides the engine.
        MissingExtraError: the engine's library is not installed.
    """
    found = {point.name: point for point in entry_points(group=GROUP)}
    if name not in found:
        known = ", ".join(sorted(found)) or "none at all"
        raise ConfigurationError(
            f"the engine {name!r} does not exist, only {known}; after an update in place, reinstall it"
        )
    made: Engine = found[name].load()()
    return made
