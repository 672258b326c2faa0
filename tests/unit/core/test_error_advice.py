"""The advice in the messages of errors that Kafka reports."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from kafka_replica.broker.errors import translate_error
from kafka_replica.broker.writing import write_probe
from kafka_replica.broker.writing.write_probe import WriteProbe
from kafka_replica.errors import AuthorizationError


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
