"""The pytest fixtures, against a real broker."""

from __future__ import annotations

import pytest
from confluent_kafka import Consumer, Producer

pytestmark = pytest.mark.broker


def test_transaction_round_trip(local_kafka, kafka_topic) -> None:
    """A committed transaction is read; an aborted one is not."""
    topic = kafka_topic("round-trip")
    producer = Producer({"bootstrap.servers": local_kafka.bootstrap_servers, "transactional.id": topic})
    producer.init_transactions(20)
    for key, commit in ((b"dropped", False), (b"kept", True)):
        producer.begin_transaction()
        producer.produce(topic, key=key, value=b"value")
        producer.flush(20)
        if commit:
            producer.commit_transaction(20)
        else:
            producer.abort_transaction(20)
    consumer = Consumer(
        {
            "bootstrap.servers": local_kafka.bootstrap_servers,
            "group.id": topic,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
        }
    )
    consumer.subscribe([topic])
    try:
        message = consumer.poll(20)
        assert message is not None
        assert message.error() is None
        assert (message.key(), message.value()) == (b"kept", b"value")
    finally:
        consumer.close()
