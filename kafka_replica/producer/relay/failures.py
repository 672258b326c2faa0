"""The rules for consecutive failures of Kafka: which of them are retried, and after which pause. No I/O."""

from __future__ import annotations

from typing import Final

from kafka_replica.broker.writing.faults import Fault, fault_of
from kafka_replica.errors import RecordNotSentError
from kafka_replica.producer.errors import EncodingError

RETRIES: Final = 3
_TRIED_AGAIN: Final = frozenset({Fault.FENCED, Fault.MISSING, Fault.UNEXPECTED})
_FIRST_S, _LONGEST_S = 0.25, 10.0


class Failures:
    """The consecutive failures since Kafka's last success.

    Args:
        retries: how often a failure is retried that is usually temporary, but is not an outage.
    """

    def __init__(self, retries: int = RETRIES) -> None:
        self._retries = retries
        self.count = 0
        self._not_outages = 0
        """The number of these failures that were not outages."""
        self.was_connected = False
        """True once a broker has accepted the credentials."""

    def reset(self) -> None:
        """Forget past failures."""
        self.count = self._not_outages = 0

    def is_tried_again(self, fault: Fault) -> bool:
        """Count a failure; return whether to retry."""
        self.count += 1
        if fault is Fault.TRANSITORY:
            return True
        self._not_outages += 1
        # Credentials that were accepted before may be refused temporarily, because of an outage of the service that
        # checks them.
        passes = fault in _TRIED_AGAIN or (fault is Fault.AUTHENTICATION and self.was_connected)
        return passes and self._not_outages <= self._retries


def fault_of_sending(error: BaseException) -> Fault:
    """Return the kind of a failure to send; a failure of the content is local, unless Kafka has caused it."""
    fault = fault_of(error)
    if isinstance(error, (EncodingError, RecordNotSentError)) and fault not in {Fault.TRANSITORY, Fault.FENCED}:
        return Fault.LOCAL
    return fault


def retry_pause_s(attempt: int) -> float:
    """Return the pause before a retry, in seconds; it doubles with each attempt, up to a maximum."""
    return min(_FIRST_S * (1 << min(attempt, 8)), _LONGEST_S)
