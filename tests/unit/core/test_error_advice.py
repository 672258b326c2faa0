"""The advice in the messages of errors that Kafka reports."""

from __future__ import annotations

from typing import Any, cast

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer

from kafka_replica import errors
from kafka_replica.broker.errors import PublishUnavailableError, translate_error
from kafka_replica.broker.writing import write_probe
from kafka_replica.broker.writing.unanswered import publish_error
from kafka_replica.broker.writing.write_probe import WriteProbe
from kafka_replica.broker.writing.writer import TransactionalWriter
from kafka_replica.errors import AuthorizationError, BrokerError, PublishError


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, "Read on the topic, or Write to publish"),
        (KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, "Write .* on the transactional id"),
        (KafkaError.CLUSTER_AUTHORIZATION_FAILED, "on the cluster; publishing needs IdempotentWrite"),
    ],
)
def test_the_advice_names_the_right_that_is_missing(code: int, advice: str) -> None:
    """Rights are needed on topics, on transactional ids and on the cluster."""
    translated = translate_error(KafkaError(code), "sending")
    assert isinstance(translated, AuthorizationError)
    with pytest.raises(AuthorizationError, match=advice):
        raise translated


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (KafkaError.INVALID_RECORD, "; check that the record has a key, which a compacted topic requires"),
        (KafkaError.TOPIC_EXCEPTION, "; use a name of up to 249 letters, digits, dots, dashes and underscores"),
        (KafkaError.NOT_LEADER_FOR_PARTITION, "; a topic that was just created, .* has none for a moment: try again"),
    ],
)
def test_the_advice_fits_the_record_and_the_topic(code: int, advice: str) -> None:
    """The broker's log would not help, and a partition without a leader is not an unreachable broker."""
    with pytest.raises(BrokerError, match=advice) as translated:
        raise translate_error(KafkaError(code), "sending")
    assert "log" not in str(translated.value)
    assert "bootstrap.servers" not in str(translated.value)


REFUSED = "Transactional Id authorization failed"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"Failed to find transaction coordinator: h:1/1: Broker: {REFUSED}: {REFUSED}.", f": h:1/1: {REFUSED};"),
        (f"Broker: {REFUSED}: {REFUSED}.", f"FAILED: {REFUSED};"),
        (f"Broker: {REFUSED}", f"FAILED: {REFUSED};"),
        ("h:1/1: Connect failed: Connection refused", ": h:1/1: Connect failed: Connection refused;"),
        ("a: a", "FAILED: a: a;"),
        ("", "FAILED: ;"),
    ],
)
def test_a_reason_that_the_broker_repeats_is_shown_once(text: str, shown: str) -> None:
    """The client puts the name of the broker's error before the text that the broker sent, which is often the same."""
    translated = translate_error(KafkaError(KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, text), "sending")
    assert shown in str(translated)
    assert "Broker:" not in str(translated)


DOWN = KafkaError(KafkaError._ALL_BROKERS_DOWN, "2/2 brokers are down")
CLOSED = KafkaError(KafkaError._TRANSPORT, "h:1/1: Connect failed: Connection refused")


class Answered:
    """A producer whose brokers answer."""

    def list_topics(self, *, timeout: float) -> None:
        """Return at once."""
        assert timeout <= 1


class Unanswered:
    """A producer that reaches no broker."""

    def list_topics(self, *, timeout: float) -> None:
        """Fail, as after the timeout."""
        del timeout
        raise KafkaException(KafkaError(KafkaError._TRANSPORT))


class Slow:
    """A producer whose broker is connected, and answers late."""

    def list_topics(self, *, timeout: float) -> None:
        """Fail, as after the timeout."""
        del timeout
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT))


@pytest.mark.parametrize(
    ("trouble", "kind", "text"),
    [
        ([CLOSED, DOWN], PublishUnavailableError, "sending: no broker answered in time: h:1/1: .* refused; check boot"),
        ([DOWN], PublishUnavailableError, "sending: no broker answered in time; check bootstrap"),
        ([CLOSED], PublishUnavailableError, "sending: no broker answered in time: h:1/1: .* refused; check bootstrap"),
        ([], PublishError, r"sending: Kafka did not acknowledge it in time; .*min.insync.replicas"),
        ([DOWN, KafkaError(KafkaError._AUTHENTICATION, "wrong")], PublishError, "sending: Kafka reports _AUTHENTICAT"),
    ],
)
def test_a_record_whose_time_is_over_has_the_reason(
    trouble: list[KafkaError], kind: type[PublishError], text: str
) -> None:
    """Only if no broker answers, and none refused our credentials, waiting for a broker helps."""
    error = publish_error(KafkaError(KafkaError._MSG_TIMED_OUT), "sending", trouble, cast("Producer", Unanswered()))
    assert type(error) is kind
    with pytest.raises(PublishError, match=text):
        raise error


def test_one_unreachable_broker_is_the_last_reason_if_another_one_answers() -> None:
    """For example, the broker that leads the partition is down: the advice is about its leader and replicas."""
    timed_out = KafkaError(KafkaError._MSG_TIMED_OUT)
    for other in (Answered(), Slow()):
        error = publish_error(timed_out, "sending", [CLOSED], cast("Producer", other))
        assert type(error) is PublishError
        assert str(error).startswith(f"sending: Kafka did not acknowledge it in time: {CLOSED.str()}; check that the p")
    assert type(publish_error(timed_out, "", [CLOSED, DOWN], cast("Producer", Slow()))) is PublishUnavailableError


def test_an_outage_that_is_over_is_not_the_reason_of_a_later_failure() -> None:
    """The brokers answer again, so the advice is not to check that they run."""
    timed_out = KafkaError(KafkaError._MSG_TIMED_OUT)
    error = publish_error(timed_out, "sending", [CLOSED, DOWN], cast("Producer", Answered()))
    assert type(error) is PublishError
    assert str(error).startswith("sending: Kafka did not acknowledge it in time; check that the partition has a leader")


@pytest.mark.thorough
def test_a_broker_that_restarted_while_the_producer_was_idle_has_answered() -> None:
    """The report of that outage does not make a slow broker an unreachable one."""
    config = {
        "bootstrap.servers": "replaced:1", "test.mock.num.brokers": 1, "log_level": 0,
        "test.mock.broker.rtt": 200, "message.timeout.ms": 100,  # each record times out, and each query is answered
    }  # fmt: skip
    writer = TransactionalWriter(config, "idle", 20.0)
    try:
        writer._trouble.extend([CLOSED, DOWN])
        writer.begin()
        writer.send("t", b"k", b"v", ())
        with pytest.raises(PublishError, match="Kafka did not acknowledge it in time") as failed:
            writer.commit()
        assert type(failed.value) is PublishError
    finally:
        writer.close()


def test_the_tree_of_errors_has_the_error_of_a_publication_without_a_broker() -> None:
    """The error is defined elsewhere, because it is derived from two errors of the tree."""
    assert "PublishUnavailableError" in (errors.__doc__ or "")


class RefusingProducer:
    """A producer that may not write, and whose transaction then cannot be aborted, as Kafka reports it."""

    def init_transactions(self, timeout_s: float) -> None:
        """Do nothing."""

    def begin_transaction(self) -> None:
        """Do nothing."""

    def produce(self, _topic: str, *, on_delivery: Any, **_record: Any) -> None:
        """Refuse the record."""
        on_delivery(KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED), None)

    def flush(self, _timeout_s: float) -> int:
        """Return that no record is left."""
        return 0

    def abort_transaction(self, _timeout_s: float) -> None:
        """Fail, because the coordinator has not been told of a transaction."""
        raise KafkaException(KafkaError(KafkaError.INVALID_TXN_STATE))


def test_the_refusal_of_a_record_is_not_hidden_by_the_failure_to_abort(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first error has the reason."""
    monkeypatch.setattr(write_probe, "create_client", lambda *_given: RefusingProducer())
    probe = WriteProbe({"bootstrap.servers": "h:1"}, "tx", 1.0)
    with pytest.raises(AuthorizationError, match="Write to publish"):
        probe.send("t", 10)
