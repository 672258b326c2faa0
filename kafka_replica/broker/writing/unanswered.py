"""Explain why Kafka did not acknowledge records in time, by the errors that librdkafka has reported meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

from confluent_kafka import KafkaError

from kafka_replica.broker.errors import CHECK_SERVERS, PublishUnavailableError, is_refusal, translate_error
from kafka_replica.errors import PublishError

_NOT_ACKNOWLEDGED = (
    "check that the partition has a leader, and enough replicas in sync (min.insync.replicas), and publish the "
    "transaction again"
)


def publish_error(error: KafkaError, doing: str, trouble: Sequence[KafkaError]) -> PublishError:
    """Return the error for a transaction that has failed, or for the record that has failed it.

    librdkafka reports ``_MSG_TIMED_OUT`` for a record whose time is over, whatever the reason; the other arguments are
    those of ``not_acknowledged``.
    """
    if error.code() == KafkaError._MSG_TIMED_OUT:
        return not_acknowledged(doing, trouble)
    return PublishError(str(translate_error(error, doing)))


def not_acknowledged(doing: str, trouble: Sequence[KafkaError]) -> PublishError:
    """Return the error for a transaction whose records Kafka did not acknowledge in time.

    Args:
        doing: the operation, for the message.
        trouble: the errors that librdkafka has reported since a broker last answered, the newest last.

    Returns:
        PublishUnavailableError if no broker answered. A refusal of our credentials is another PublishError, because
        waiting does not help.
    """
    refusal = next((error for error in trouble if is_refusal(error)), None)
    if refusal is not None:
        return PublishError(str(translate_error(refusal, doing)))
    text = no_answer(doing, trouble)
    if text is not None:
        return PublishUnavailableError(text)
    return PublishError(f"{doing}: Kafka did not acknowledge it in time{_last_reason(trouble)}; {_NOT_ACKNOWLEDGED}")


def no_answer(doing: str, trouble: Sequence[KafkaError]) -> str | None:
    """Return the message if no broker answered, with the last reason; otherwise None."""
    if all(error.code() != KafkaError._ALL_BROKERS_DOWN for error in trouble):
        return None
    return f"{doing}: no broker answered in time{_last_reason(trouble)}; {CHECK_SERVERS}"


def _last_reason(trouble: Sequence[KafkaError]) -> str:
    reasons = [error.str() for error in trouble if error.code() != KafkaError._ALL_BROKERS_DOWN]
    return f": {reasons[-1]}" if reasons else ""
