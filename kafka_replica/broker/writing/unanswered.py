"""Explain why Kafka did not acknowledge records in time, by the errors that librdkafka has reported meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from confluent_kafka import KafkaError, KafkaException, Producer

from kafka_replica.broker.errors import CHECK_SERVERS, PublishUnavailableError, is_refusal, translate_error
from kafka_replica.errors import PublishError

_QUERY_S: Final = 1.0
_UNREACHABLE: Final = frozenset({KafkaError._ALL_BROKERS_DOWN, KafkaError._TRANSPORT, KafkaError._RESOLVE})
_NOT_ACKNOWLEDGED = (
    "check that the partition has a leader, and enough replicas in sync (min.insync.replicas), and publish the "
    "transaction again"
)


def publish_error(error: KafkaError, doing: str, trouble: Sequence[KafkaError], producer: Producer) -> PublishError:
    """Return the error for a transaction that has failed, or for the record that has failed it.

    librdkafka reports ``_MSG_TIMED_OUT`` for a record whose time is over, whatever the reason; the other arguments are
    those of ``not_acknowledged``.
    """
    if error.code() == KafkaError._MSG_TIMED_OUT:
        return not_acknowledged(doing, trouble, producer)
    return PublishError(str(translate_error(error, doing)))


def not_acknowledged(doing: str, trouble: Sequence[KafkaError], producer: Producer) -> PublishError:
    """Return the error for a transaction whose records Kafka did not acknowledge in time.

    Args:
        doing: the operation, for the message.
        trouble: the errors that librdkafka has reported since a broker last answered, the newest last.
        producer: queries the brokers, for up to 1 s, if these errors say that one or all could not be reached.

    Returns:
        PublishUnavailableError if no broker answered. A refusal of our credentials is another PublishError, because
        waiting does not help.
    """
    refusal = next((error for error in trouble if is_refusal(error)), None)
    if refusal is not None:
        return PublishError(str(translate_error(refusal, doing)))
    text = no_answer(doing, trouble, producer)
    if text is not None:
        return PublishUnavailableError(text)
    reason = "" if _was_outage(trouble) else _last_reason(trouble)
    return PublishError(f"{doing}: Kafka did not acknowledge it in time{reason}; {_NOT_ACKNOWLEDGED}")


def no_answer(doing: str, trouble: Sequence[KafkaError], producer: Producer) -> str | None:
    """Return the message if no broker answered, with the last reason; otherwise None. The arguments are those above.

    librdkafka (2.16) reports only once that all brokers are down, and not that this is over. Sometimes (1 of 500 new
    producers on a busy machine) it does not report it, but only the failed connections; so these suffice for a query.
    """
    if not any(error.code() in _UNREACHABLE for error in trouble):
        return None
    if _answers(producer, all_were_down=_was_outage(trouble)):
        return None
    return f"{doing}: no broker answered in time{_last_reason(trouble)}; {CHECK_SERVERS}"


def _last_reason(trouble: Sequence[KafkaError]) -> str:
    reasons = [error.str() for error in trouble if not _is_outage(error)]
    return f": {reasons[-1]}" if reasons else ""


def _is_outage(error: KafkaError) -> bool:
    return bool(error.code() == KafkaError._ALL_BROKERS_DOWN)


def _was_outage(trouble: Sequence[KafkaError]) -> bool:
    return any(_is_outage(error) for error in trouble)


def _answers(producer: Producer, *, all_were_down: bool) -> bool:
    """Return whether a broker answers a query; a broker that is connected, and slow, counts unless all were down."""
    try:
        producer.list_topics(timeout=_QUERY_S)
    except KafkaException as error:  # _TRANSPORT if there is no connection, _TIMED_OUT if the response is late
        return not all_were_down and error.args[0].code() == KafkaError._TIMED_OUT
    return True
