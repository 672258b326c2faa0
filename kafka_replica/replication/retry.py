"""Asking the broker until it answers, and telling of trouble once, not every time."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from threading import Event
from typing import TypeVar

from kafka_replica.broker.reading.contract import LogReader
from kafka_replica.errors import BrokerError, BrokerUnavailableError, ConfigurationError, TopicNotFoundError
from kafka_replica.publication.publisher import Publisher

_log = logging.getLogger("kafka_replica")

T = TypeVar("T")

_RETRY_S = 0.2
_NO_TOPIC_FOR_S = 3.0  # a topic made a moment ago may not be known to every broker yet


class ClosedMeanwhileError(Exception):
    """Ends a question, and all that was to come of its answer, because the replica is being closed."""


class BrokerRetry:
    """For one reading of some topics, by the thread that reads.

    Args:
        name: of the topics, for people.
        waits_for_topics: whether a topic that does not exist is waited for.
        publisher: where trouble is told.
        closing: ends all waiting.
        on_pause: is called before each pause.
    """

    def __init__(
        self,
        name: str,
        publisher: Publisher,
        closing: Event,
        *,
        waits_for_topics: bool,
        on_pause: Callable[[], None] = lambda: None,
    ) -> None:
        self._name = name
        self._publisher = publisher
        self._closing = closing
        self._waits_for_topics = waits_for_topics
        self._on_pause = on_pause
        self._missing_since_s: float | None = None
        self._heard = False
        self._in_trouble = False

    def call(self, reader: LogReader, question: Callable[[], T]) -> T:
        """Ask until there is an answer.

        Raises:
            ClosedMeanwhileError: the replica is being closed.
            KafkaReplicaError: waiting does not help.
        """
        while not self._closing.is_set():
            try:
                answer = question()
            except BrokerUnavailableError as error:
                self.unavailable(reader, error)
            except TopicNotFoundError as error:
                self.missing(error)
            else:
                self._heard = True
                self._missing_since_s = None
                self.well()
                return answer
            self.pause()
        raise ClosedMeanwhileError

    def pause(self) -> None:
        """Before something is tried again."""
        self._on_pause()
        self._closing.wait(_RETRY_S)

    def unavailable(self, reader: LogReader, error: BrokerUnavailableError) -> None:
        """Nobody answers. While nothing was ever heard, a refusal of who we are is why; later it may pass.

        Raises:
            BrokerError: the refusal.
            ConfigurationError: the same, of how we connect.
        """
        self.trouble(error)
        refusal = reader.refusal()
        if refusal is None:
            return
        if not self._heard:
            raise refusal
        self.trouble(refusal)

    def missing(self, error: TopicNotFoundError) -> None:
        """A topic is not there.

        Raises:
            TopicNotFoundError: for too long, where it is not waited for.
        """
        now_s = time.monotonic()
        self._missing_since_s = self._missing_since_s or now_s
        if not self._waits_for_topics and now_s - self._missing_since_s > _NO_TOPIC_FOR_S:
            raise error
        self.trouble(error)

    def found(self) -> None:
        """All topics are there."""
        self._missing_since_s = None
        self.well()

    def trouble(self, trouble: BrokerError | ConfigurationError) -> None:
        """Something that may pass: said once, and once more when it has passed."""
        self._publisher.troubled(trouble)
        if not self._in_trouble:
            _log.warning("%s; the replica goes on by itself when it is over", trouble)
        self._in_trouble = True

    def well(self) -> None:
        """The broker said something."""
        self._publisher.heard()
        if self._in_trouble:
            _log.warning("the broker answers again; the replica of %s goes on", self._name)
        self._in_trouble = False
