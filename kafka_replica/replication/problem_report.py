"""The report of a temporary problem: to the health tracker, and in the log once, and once more when it is over."""

from __future__ import annotations

import logging

from kafka_replica.errors import KafkaReplicaError
from kafka_replica.publication.health_tracker import HealthTracker

_log = logging.getLogger("kafka_replica")


class ProblemReport:
    """A report of the problems of something that the replica needs.

    Args:
        health: receives the problem.
        needed: what the replica needs, for the log.
        name: the names of the topics, for the log.
        logged: the classes of errors that were logged since there was no problem; it is updated.
    """

    def __init__(
        self, health: HealthTracker, needed: str, name: str, logged: set[type[KafkaReplicaError]] | None = None
    ) -> None:
        self._health = health
        self._needed, self._name = needed, name
        self._logged = set() if logged is None else logged

    def note_error(self, error: KafkaReplicaError) -> None:
        """Report a problem, for which the replica retries; it is logged again only if it is of another class."""
        self._health.troubled(error)
        if type(error) not in self._logged:
            _log.warning("%s; retrying", error)
            self._logged.add(type(error))

    def well(self) -> None:
        """Note that there is no problem."""
        if self._logged:
            _log.warning("%s answers again; the replica of %s continues", self._needed, self._name)
        self._logged.clear()
