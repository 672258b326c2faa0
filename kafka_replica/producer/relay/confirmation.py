"""The check, when there is nothing more to send, that readers see all acknowledged transactions."""

from __future__ import annotations

import time
from typing import Final

from kafka_replica.producer.relay.kafka_session import KafkaSession

_AGAIN_S: Final = 1.0  # a commit is acknowledged a moment before readers see it


class Confirmation:
    """Queries Kafka once after the last commit, and a second time if a transaction was still open."""

    def __init__(self) -> None:
        self._is_due = self._was_open = False
        self._not_before_s = 0.0

    def note_commit(self) -> None:
        """Note that Kafka has acknowledged a commit, so that a query is due."""
        self._is_due, self._was_open, self._not_before_s = True, False, 0.0

    def is_left_open(self, session: KafkaSession) -> bool:
        """Return whether a transaction stays open, of this or another producer; query Kafka only if this is due.

        Raises:
            BrokerError: Kafka did not answer or refused.
        """
        if not self._is_due or time.monotonic() < self._not_before_s:
            return False
        is_open = session.has_open_transactions()
        if is_open and not self._was_open:
            self._was_open, self._not_before_s = True, time.monotonic() + _AGAIN_S
            return False
        self._is_due = False
        return is_open
