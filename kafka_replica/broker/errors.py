"""Translate Kafka's errors into our exceptions, and distinguish errors that may pass from final ones."""

from __future__ import annotations

import re
from typing import NamedTuple

from confluent_kafka import KafkaError, KafkaException

from kafka_replica.common.secret_values import HIDDEN
from kafka_replica.errors import (
    AuthenticationError,
    AuthorizationError,
    BrokerError,
    BrokerUnavailableError,
    ConfigurationError,
    LogReplacedError,
    PublishError,
    TopicNotFoundError,
)

_AUTHENTICATION = {
    KafkaError._AUTHENTICATION,
    KafkaError._SSL,
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError.UNSUPPORTED_SASL_MECHANISM,
    KafkaError.ILLEGAL_SASL_STATE,
}
_AUTHORIZATION = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
}
_NO_TOPIC = {
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._UNKNOWN_TOPIC,
    KafkaError._UNKNOWN_PARTITION,
    KafkaError.UNKNOWN_TOPIC_ID,
}
_MAY_PASS = {
    KafkaError._TRANSPORT,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._RESOLVE,
    KafkaError._TIMED_OUT,
    KafkaError._TIMED_OUT_QUEUE,
    KafkaError._WAIT_COORD,
    KafkaError._NODE_UPDATE,
    KafkaError._NOENT,  # list_offsets reports this when a partition has no leader
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.BROKER_NOT_AVAILABLE,
    KafkaError.REPLICA_NOT_AVAILABLE,
    KafkaError.OFFSET_NOT_AVAILABLE,
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.NETWORK_EXCEPTION,
    KafkaError.KAFKA_STORAGE_ERROR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
}

# A broker reports these errors while it starts, ends or is overloaded. A query changes nothing, so it is repeated.
_OF_THE_BROKER = {
    KafkaError.UNKNOWN,
    KafkaError.PREFERRED_LEADER_NOT_AVAILABLE,
    KafkaError.THROTTLING_QUOTA_EXCEEDED,
}

_REPLACED = {KafkaError._AUTO_OFFSET_RESET, KafkaError._LOG_TRUNCATION, KafkaError.OFFSET_OUT_OF_RANGE}

CHECK_SERVERS = "check bootstrap.servers, and that the broker runs and can be reached from here"
_QUOTED = re.compile(r"(?<=sasl\.oauthbearer\.config beginning at: ).*", re.DOTALL)  # the quoted text may hold a secret
_FENCED = (
    "another producer has acquired the same transactional id, possibly with another database, or the transaction took "
    "longer than transaction.timeout.ms; give each producer an id of its own on this cluster, or raise the timeout, "
    "and continue with a new producer"
)
_MOVED = (
    "a topic that was just created, or whose leader moves to another broker, has none for a moment: try again, and if "
    "this remains, check that the partition's brokers run"
)
_ADVICE_BY_CODE = {
    KafkaError._AUTO_OFFSET_RESET: (
        "the log no longer has the next offset; the topic was recreated or its log truncated"
    ),
    KafkaError._LOG_TRUNCATION: "the log was truncated",
    KafkaError._FENCED: _FENCED,
    KafkaError.INVALID_PRODUCER_EPOCH: "another producer has acquired the same transactional id, or the transaction "
    "took longer than transaction.timeout.ms",
    KafkaError.PRODUCER_FENCED: _FENCED,
    KafkaError._BAD_MSG: "a batch of the log is damaged; look at it with kafka-dump-log.sh, or read with "
    'boundaries="markers", which can set it aside (on_bad_record)',
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "ask for permission to Write (which includes Describe) on the "
    "transactional id, or use an id for which you have it",
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: "ask for permission for the operation on the cluster; publishing needs "
    "IdempotentWrite, which from Kafka 2.8 on is included in Write on any topic",
    KafkaError.MSG_SIZE_TOO_LARGE: "raise the topic's max.message.bytes",
    KafkaError.RECORD_LIST_TOO_LARGE: "raise the topic's max.message.bytes",
    KafkaError.INVALID_RECORD: "check that the record has a key, which a compacted topic requires, and that its "
    "timestamp is within the topic's message.timestamp limits",
    KafkaError.TOPIC_EXCEPTION: "use a name of up to 249 letters, digits, dots, dashes and underscores",
    KafkaError.NOT_LEADER_FOR_PARTITION: _MOVED,
    KafkaError.LEADER_NOT_AVAILABLE: _MOVED,
}
_NO_KERBEROS = (
    "none of confluent-kafka's wheels has Kerberos: install a librdkafka that was built with Cyrus SASL, 2.8 or newer, "
    "with its development files, and Cyrus SASL's GSSAPI module (libsasl2-modules-gssapi-mit); then pip install "
    "--force-reinstall --no-binary confluent-kafka confluent-kafka, of a version not newer than that librdkafka"
)
_ADVICE: dict[type[Exception], str] = {
    BrokerError: "see the broker's log",
    AuthenticationError: "check security.protocol, the sasl.* and ssl.* properties and the certificates",
    AuthorizationError: "ask for permission to Read on the topic, or Write to publish (each includes Describe)",
    TopicNotFoundError: "check the topic's name and the broker, or create the topic, as with kafka-replica publish "
    "--create-topic or kafka-topics.sh --create",
    BrokerUnavailableError: CHECK_SERVERS,
}


class PublishUnavailableError(PublishError, BrokerUnavailableError):
    """No broker answered, so that a Kafka transaction was not committed; none of its records are visible."""


def may_pass(error: KafkaError) -> bool:
    """Return whether the error may be temporary; Kafka's client keeps retrying meanwhile."""
    return not error.fatal() and (error.code() in _MAY_PASS or error.retriable())


def may_pass_in_answer(error: KafkaError) -> bool:
    """Return whether the error that a broker reports in the answer to a query may be temporary."""
    return may_pass(error) or error.code() in _OF_THE_BROKER


def is_refusal(error: KafkaError) -> bool:
    """Return whether the broker refused our credentials; this is final at the start, but may be temporary later."""
    return error.code() in _AUTHENTICATION


def is_missing_topic(error: KafkaError) -> bool:
    """Return whether the broker does not have the topic; a broker that is starting may not have loaded it yet."""
    return error.code() in _NO_TOPIC


def is_consequence(error: KafkaError) -> bool:
    """Return whether a record was discarded only because another record of its transaction failed."""
    return error.code() in {KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT}


def translate_error(error: KafkaError | KafkaException | Exception, doing: str) -> BrokerError | ConfigurationError:
    """Translate an error into our exception, whose message gives the operation, Kafka's message and advice."""
    cause = error.args[0] if isinstance(error, KafkaException) and error.args else error
    if not isinstance(cause, KafkaError):
        return BrokerError(f"{doing}: {cause}")
    kind, advice = _kind(cause), _advice(cause)
    if kind is ConfigurationError and "GSSAPI" in cause.str():
        advice = _NO_KERBEROS
    text = f"{doing}: Kafka reports {cause.name()}: {_plain(_QUOTED.sub(HIDDEN, cause.str()))}"
    return kind(f"{text}; {advice}" if advice else text)


def check_code(code: int, doing: str) -> None:
    """Raise our exception for an error code in an answer of a broker; 0 means success.

    Args:
        code: the code of Kafka's protocol.
        doing: the current operation, for the message.

    Raises:
        BrokerError: the code is an error; ``BrokerUnavailableError`` if the error may be temporary.
    """
    if code:
        error = KafkaError(code)
        translated = translate_error(error, doing)
        if code in _OF_THE_BROKER:
            translated = BrokerUnavailableError(str(translated))
        raise translated from KafkaException(error)


class ExplainedCode(NamedTuple):
    """The explanation of an error code of Kafka, which messages name as in ``Kafka reports LEADER_NOT_AVAILABLE``."""

    meaning: str
    error: type[BrokerError | ConfigurationError]
    """The exception that reports the code, unless the context requires another one."""
    advice: str | None


def codes_of_kafka() -> dict[str, ExplainedCode]:
    """Return all error codes of the client and the broker, by name, with explanations. Source: librdkafka."""
    constants = {name: value for name, value in vars(KafkaError).items() if name.isupper() and isinstance(value, int)}
    errors = {name: KafkaError(value) for name, value in constants.items() if value}
    return {
        name: ExplainedCode(_plain(error.str()), _kind(error), _advice(error)) for name, error in sorted(errors.items())
    }


def _plain(text: str) -> str:
    """Return a text of the client without "Broker:" at its start, and with a repeated reason at its end only once."""
    before, _, reason = text.rpartition(": ")
    start, _, earlier = before.rpartition(": ")
    if start and earlier == reason.removesuffix("."):
        text = f"{start}: {earlier}".replace(": Broker: ", ": ")
    return text.removeprefix("Broker: ")


def _advice(error: KafkaError) -> str | None:
    return _ADVICE_BY_CODE.get(error.code()) or _ADVICE.get(_kind(error))


def _kind(error: KafkaError) -> type[BrokerError | ConfigurationError]:
    code = error.code()
    if code in _AUTHENTICATION:
        return AuthenticationError
    if code in _AUTHORIZATION:
        return AuthorizationError
    if code in _NO_TOPIC:
        return TopicNotFoundError
    if code in _REPLACED:
        return LogReplacedError
    if code == KafkaError._INVALID_ARG:
        return ConfigurationError
    return BrokerUnavailableError if may_pass(error) else BrokerError
