"""The last failure to send, and since when the relay has failed, for status, log and notices."""

from __future__ import annotations

import time

from kafka_replica.broker.writing.faults import Fault
from kafka_replica.errors import CommitUnknownError, KafkaReplicaError
from kafka_replica.producer.errors import ProducerConflictError
from kafka_replica.producer.relay.events import KafkaFailure
from kafka_replica.producer.relay.failures import fault_of_sending
from kafka_replica.producer.relay.retry_text import retry_reason


class LastFailure:
    """Remembers the last failure, and the start of the first operation that failed since one has succeeded."""

    def __init__(self) -> None:
        self._last: KafkaFailure | None = None
        self._since_s: float | None = None

    def note(self, error: Exception, began_s: float) -> KafkaFailure:
        """Remember a failure, and return it as an event.

        Args:
            error: what happened.
            began_s: the start of the operation that failed, on the monotonic clock.
        """
        fault = Fault.REFUSED if isinstance(error, ProducerConflictError) else fault_of_sending(error)
        self._last = KafkaFailure(fault, _reason(error), isinstance(error, CommitUnknownError))
        if self._since_s is None:
            self._since_s = began_s
        return self._last

    def end(self) -> None:
        """Note that an operation has succeeded, or that this instance stands by."""
        self._since_s = None

    def retry(self, attempts: int) -> tuple[Fault, str] | None:
        """Return the kind of the last failure, and the text to show while it is retried; None without a failure."""
        if self._last is None:
            return None
        failing_s = 0.0 if self._since_s is None else time.monotonic() - self._since_s
        return self._last.fault, retry_reason(self._last, attempts, failing_s)


def _reason(error: Exception) -> str:
    if isinstance(error, KafkaReplicaError):
        return str(error)
    return f"an unexpected error in the producer, {type(error).__name__}: {error}; see its log, and report it"
