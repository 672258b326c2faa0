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
    """

    def __init__(self, health: HealthTracker, needed: str, name: str) -> None:
        self._health = health
        self._needed, self._name = needed, name
        self._has_error = False

    def note_error(self, error: KafkaReplicaError) -> None:
        """Report a problem, for which the replica retries."""
        self._health.troubled(error)
        if not self._has_error:
            _log.warning("%s; retrying", error)
        self._has_error = True

    def well(self) -> None:
        """Note that there is no problem."""
        if self._has_error:
            _log.warning("%s answers again; the replica of %s continues", self._needed, self._name)
        self._has_error = False
