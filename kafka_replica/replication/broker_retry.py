"""Requests that are repeated until the broker answers, or until a topic has been missing for too long."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event
from typing import TypeVar

from kafka_replica.broker.reading.contract import LogReader
from kafka_replica.errors import BrokerError, BrokerUnavailableError, ConfigurationError, TopicNotFoundError
from kafka_replica.publication.health_tracker import HealthTracker
from kafka_replica.replication.answered import Answered
from kafka_replica.replication.problem_report import ProblemReport

T = TypeVar("T")

_RETRY_S = 0.2
_NO_TOPIC_FOR_S = 3.0  # not every broker may have a topic that was just created


class ClosedMeanwhileError(Exception):
    """A request ends without an answer, because the replica is being closed."""


class BrokerRetry:
    """A retry loop for the requests of one reader. Only the reading thread may use it.

    Args:
        name: the names of the topics, for messages.
        waits_for_topics: whether to wait for a topic that does not exist.
        health: receives the status of the broker.
        closing: the event that ends all waiting.
        on_pause: called before each pause.
        answered: what is known of the broker from earlier readers; it is updated.
    """

    def __init__(
        self,
        name: str,
        health: HealthTracker,
        closing: Event,
        *,
        waits_for_topics: bool,
        on_pause: Callable[[], None] = lambda: None,
        answered: Answered | None = None,
    ) -> None:
        self._health = health
        self._closing = closing
        self._waits_for_topics = waits_for_topics
        self._on_pause = on_pause
        self._missing_since_s: float | None = None
        self._answered = answered or Answered()
        self._problem = ProblemReport(health, "the broker", name, self._answered.broker_problems)

    def call(self, reader: LogReader, question: Callable[[], T]) -> T:
        """Repeat a request until there is an answer.

        Raises:
            ClosedMeanwhileError: the replica is being closed.
            KafkaReplicaError: the request failed, and repeating it would not help.
        """
        while not self._closing.is_set():
            try:
                answer = question()
            except BrokerUnavailableError as error:
                self.unavailable(reader, error)
            except TopicNotFoundError as error:
                self.missing(error)
            else:
                self._answered.broker = True
                self._missing_since_s = None
                self.well()
                return answer
            self.pause()
        raise ClosedMeanwhileError

    def pause(self) -> None:
        """Wait before the next attempt."""
        self._on_pause()
        self._closing.wait(_RETRY_S)

    def unavailable(self, reader: LogReader, error: BrokerUnavailableError) -> None:
        """Report that no broker answers, or raise the reason if no broker has ever answered.

        Before the first answer, a refusal of the client counts as the reason; after it, a refusal may be temporary.

        Raises:
            BrokerError: the broker refused the client.
            ConfigurationError: the broker refused the way in which the client connects.
        """
        self.note_error(error)
        refusal = reader.refusal()
        if refusal is None:
            return
        if not self._answered.broker:
            raise refusal
        self.note_error(refusal)

    def missing(self, error: TopicNotFoundError) -> None:
        """Report that a topic does not exist.

        Raises:
            TopicNotFoundError: the topic has been missing for too long, and the replica does not wait for topics.
        """
        now_s = time.monotonic()
        self._missing_since_s = self._missing_since_s or now_s
        if not self._waits_for_topics and now_s - self._missing_since_s > _NO_TOPIC_FOR_S:
            raise error
        self.note_error(error)

    def note_topics_exist(self) -> None:
        """Note that all topics exist."""
        self._missing_since_s = None
        self.well()

    def note_error(self, error: BrokerError | ConfigurationError) -> None:
        """Report a temporary problem; it is logged once, and once more when it is over."""
        self._problem.note_error(error)

    def well(self) -> None:
        """Note that the broker answered."""
        self._health.heard()
        self._problem.well()
