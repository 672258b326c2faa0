"""The text that status, log and notices show while the relay retries."""

from __future__ import annotations

from kafka_replica.broker.writing.faults import Fault
from kafka_replica.common.wording import counted
from kafka_replica.producer.relay.events import KafkaFailure


def retry_reason(failed: KafkaFailure, attempts: int, failing_s: float) -> str:
    """Return a text with the duration of the failure before the last error, whose advice alone may be misleading.

    Args:
        failed: the last failure.
        attempts: the number of consecutive failures.
        failing_s: the time since the first of them, in seconds.
    """
    until = " until Kafka accepts it" if failed.fault is Fault.TRANSITORY else ""
    return (
        f"sending has failed for {failing_s:.0f} s, in {counted(attempts, 'attempt')}; retrying{until}; nothing "
        f"is lost; last error: {failed.reason}"
    )
