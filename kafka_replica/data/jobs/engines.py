"""Engines, found by name among the installed packages: the entry points of the group ``kafka_replica.engines``."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Final, Protocol

from kafka_replica.data.jobs.job import MappingJob, Outcome, Step, ValidationJob
from kafka_replica.errors import ConfigurationError

GROUP: Final = "kafka_replica.engines"


class Engine(Protocol):
    """Reads data, works on it and writes it."""

    @property
    def writes_here(self) -> bool:
        """Whether this process sees the files that it writes."""

    def validate(self, job: ValidationJob, step: Step) -> Outcome:
        """Validates data and writes good and rejected rows.

        Raises:
            KafkaReplicaError: it could not be done.
        """

    def map(self, job: MappingJob, step: Step) -> Outcome:
        """Maps data and writes mapped and rejected rows.

        Raises:
            KafkaReplicaError: it could not be done.
        """


def engine(name: str) -> Engine:
    """The engine of that name, ``local`` or ``spark``.

    Raises:
        ConfigurationError: there is none.
        MissingExtraError: its library is not installed.
    """
    found = {point.name: point for point in entry_points(group=GROUP)}
    if name not in found:
        known = ", ".join(sorted(found)) or "none at all"
        raise ConfigurationError(
            f"there is no engine {name!r}, only {known}; if it was updated in place, install it anew"
        )
    made: Engine = found[name].load()()
    return made
