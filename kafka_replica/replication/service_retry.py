"""The wait for a service for keys or schemas, which a header stack needs to read a record."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from threading import Event

from kafka_replica.common.garbage_collector import collector_resumed
from kafka_replica.headers import ServiceUnavailableError
from kafka_replica.publication.health_tracker import HealthTracker
from kafka_replica.replication.answered import Answered
from kafka_replica.replication.broker_retry import ClosedMeanwhileError
from kafka_replica.replication.problem_report import ProblemReport

_RETRY_S = 1.0


class ServiceRetry:
    """A wait between attempts, in which the replica reads nothing and keeps its version. For the reading thread only.

    The broker is not asked meanwhile, so that the state becomes stalled, as when the broker does not answer.

    Args:
        name: the names of the topics, for messages.
        health: receives the problem.
        closing: the event that ends all waiting.
        on_pause: called before each pause.
        answered: what is known of the service from earlier readers; it is updated.
    """

    def __init__(
        self,
        name: str,
        health: HealthTracker,
        closing: Event,
        *,
        on_pause: Callable[[], None] = lambda: None,
        answered: Answered | None = None,
    ) -> None:
        self._health = health
        self._closing = closing
        self._on_pause = on_pause
        self._answered = answered or Answered()
        problems = self._answered.service_problems
        self._problem = ProblemReport(health, "the service for keys or schemas", name, problems)
        self._resumed: ExitStack | None = None

    def pause(self, error: ServiceUnavailableError, where: str) -> None:
        """Report a problem, which is logged once, and wait before the next attempt.

        The garbage collector, which may be paused, works until ``end`` is called, because an outage may take hours.

        Args:
            error: the error of the service.
            where: the record that needs the service, for the message.

        Raises:
            ServiceUnavailableError: the service has refused the client, and no record that needs it has been read
                yet; later, a refusal may be temporary.
            ClosedMeanwhileError: the replica is being closed.
        """
        trouble = ServiceUnavailableError(f"{where}: {error}", is_refusal=error.is_refusal)
        if error.is_refusal and not self._answered.service:
            self._health.troubled(trouble)
            raise trouble from error
        self._problem.note_error(trouble)
        if self._resumed is None:
            self._resumed = ExitStack()
            self._resumed.enter_context(collector_resumed())
        self._on_pause()
        if self._closing.wait(_RETRY_S):
            raise ClosedMeanwhileError

    def well(self, *, was_needed: bool) -> None:
        """Note that a record needs the service no longer.

        Args:
            was_needed: whether the record probably needed the service; certainly, if there was a pause for it.
        """
        if was_needed or self._resumed is not None:
            self._answered.service = True
            self._problem.well()

    def end(self) -> None:
        """End the attempts for a record, whether or not it could be read."""
        if self._resumed is not None:
            self._resumed.close()
            self._resumed = None
