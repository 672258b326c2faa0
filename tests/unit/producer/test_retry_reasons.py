"""The text that status, log and notices show while the relay retries."""

from __future__ import annotations

from kafka_replica.broker.writing.faults import Fault
from kafka_replica.producer.relay.events import KafkaFailure
from kafka_replica.producer.relay.retry_text import retry_reason

TIMED_OUT = "acquiring the transactional id tx-a: Kafka reports _TIMED_OUT: Timed out; check bootstrap.servers"


def test_a_long_outage_is_described_before_the_last_error() -> None:
    """The text begins with what happens and for how long; the advice of a time-out comes last."""
    assert retry_reason(KafkaFailure(Fault.TRANSITORY, TIMED_OUT), 17, 150.2) == (
        "sending has failed for 150 s, in 17 attempts; retrying until Kafka accepts it; nothing is lost; last "
        f"error: {TIMED_OUT}"
    )


def test_a_failure_that_may_be_final_is_not_retried_until_it_passes() -> None:
    """A failure that suspends the producer after a few attempts promises no more than it keeps."""
    text = retry_reason(KafkaFailure(Fault.MISSING, "there is no topic t"), 1, 0.3)
    assert text == (
        "sending has failed for 0 s, in 1 attempt; retrying; nothing is lost; last error: there is no topic t"
    )
