"""Classify failures to send a transaction by the reaction that a producer with a log of its transactions needs."""

from __future__ import annotations

from enum import StrEnum

from confluent_kafka import KafkaError, KafkaException

from kafka_replica.broker.errors import is_missing_topic, is_refusal, may_pass
from kafka_replica.common.error_causes import causes
from kafka_replica.errors import (
    AuthenticationError,
    AuthorizationError,
    BrokerUnavailableError,
    TopicNotFoundError,
    WaitTimeoutError,
)

_TRANSACTION_ABORTABLE = 120  # Kafka's code, which confluent-kafka names since 2.15


class Fault(StrEnum):
    """Kinds of failure, by the reaction that they need."""

    TRANSITORY = "transitory"
    """A retry may succeed, for example because no broker answers. Passes by itself, however long it takes."""
    MISSING = "missing"
    """A topic does not exist; a broker that is starting may not have loaded it yet."""
    AUTHENTICATION = "authentication"
    """The broker refused our credentials, or we refused its certificate."""
    FENCED = "fenced"
    """Another producer uses the transactional id, or Kafka has forgotten it: initialise it again, if it is ours."""
    LOCAL = "local"
    """The client refused the record, and did not send it."""
    REFUSED = "refused"
    """Kafka refused the record, and would refuse it again."""
    UNEXPECTED = "unexpected"


_FENCED = {
    KafkaError._FENCED,
    KafkaError.PRODUCER_FENCED,
    KafkaError.INVALID_PRODUCER_EPOCH,
    KafkaError.INVALID_PRODUCER_ID_MAPPING,  # the id was not used for transactional.id.expiration.ms
    KafkaError.UNKNOWN_PRODUCER_ID,
    KafkaError.TRANSACTION_COORDINATOR_FENCED,
}
_FENCED_BY_ANOTHER = {KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH}
_MAY_PASS = {
    KafkaError._PURGE_QUEUE,
    KafkaError._PURGE_INFLIGHT,
    KafkaError._MSG_TIMED_OUT,
    KafkaError.CONCURRENT_TRANSACTIONS,
    KafkaError.INVALID_TXN_STATE,
    _TRANSACTION_ABORTABLE,
    KafkaError.NOT_ENOUGH_REPLICAS,
    KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER,
    KafkaError.NOT_COORDINATOR,
    KafkaError.THROTTLING_QUOTA_EXCEEDED,
    KafkaError.NOT_CONTROLLER,
    KafkaError.LISTENER_NOT_FOUND,
    KafkaError.ELIGIBLE_LEADERS_NOT_AVAILABLE,
    KafkaError.INVALID_MSG,  # damaged in transit
    KafkaError._RETRY,
    KafkaError._OUTDATED,
    KafkaError._UNKNOWN_BROKER,
    KafkaError._DESTROY_BROKER,
    KafkaError._WAIT_CACHE,
}
_BY_TYPE: tuple[tuple[type[Exception], Fault], ...] = (
    (BrokerUnavailableError, Fault.TRANSITORY),
    (WaitTimeoutError, Fault.TRANSITORY),
    (TopicNotFoundError, Fault.MISSING),
    (AuthenticationError, Fault.AUTHENTICATION),
    (AuthorizationError, Fault.REFUSED),
)


def fault_of(error: BaseException) -> Fault:
    """Return the kind of a failure, by the error of Kafka that caused it."""
    for each in causes(error):
        if (reported := _reported_by(each)) is not None:
            return _of_code(reported)
        for kind, fault in _BY_TYPE:
            if isinstance(each, kind):
                return fault
    return Fault.UNEXPECTED


def is_fenced_by_another(error: KafkaError) -> bool:
    """Return whether a newer producer of the same transactional id has fenced this one."""
    return error.code() in _FENCED_BY_ANOTHER


def leaves_outcome_unknown(error: BaseException) -> bool:
    """Return whether Kafka's answer to a commit does not say whether it has committed.

    A coordinator answers UNKNOWN_SERVER_ERROR for errors that it does not expect, for example if another
    producer has initialized the same transactional id meanwhile.
    """
    found = (_reported_by(each) for each in causes(error))
    return any(reported is not None and reported.code() == KafkaError.UNKNOWN for reported in found)


def _reported_by(error: BaseException) -> KafkaError | None:
    """Return the error of Kafka that an exception of its client holds."""
    is_of_kafka = isinstance(error, KafkaException) and error.args and isinstance(error.args[0], KafkaError)
    return error.args[0] if is_of_kafka else None


def _of_code(error: KafkaError) -> Fault:
    code = error.code()
    if code in _FENCED:
        return Fault.FENCED
    if code in _MAY_PASS or may_pass(error):
        return Fault.TRANSITORY
    if is_refusal(error):
        return Fault.AUTHENTICATION
    if is_missing_topic(error):
        return Fault.MISSING
    if code in {KafkaError._STATE, KafkaError._FATAL, KafkaError.UNKNOWN}:
        return Fault.UNEXPECTED
    return Fault.REFUSED if code > 0 else Fault.LOCAL
