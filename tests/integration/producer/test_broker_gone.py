"""A transaction whose broker is gone fails with the reason, and none of its records is visible."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_replica.broker.writing.faults import Fault, fault_of
from kafka_replica.embedded import LocalKafka
from kafka_replica.errors import BrokerUnavailableError, PublishError
from kafka_replica.producer import PublishUnavailableError, TransactionalProducer
from support.broker.durable_tools import config, durable

pytestmark = [pytest.mark.long, pytest.mark.broker]
_ATTEMPTS = 30


@pytest.mark.parametrize("given", [{}, {"message.timeout.ms": 1500}], ids=["step", "record"])
def test_a_killed_broker_is_named_with_the_refused_connection(given: dict[str, int], tmp_path: Path) -> None:
    """The time of the step or that of the record is over first; afterwards the producer continues."""
    with LocalKafka() as kafka:
        kafka.create_topic("t", config={"cleanup.policy": "compact"})
        producer = TransactionalProducer({**config(kafka), **given}, "t", "gone", timeout_s=5)
        with producer.transaction() as transaction:
            transaction.put("a", b"1")
        kafka.kill()
        refused = (
            rf"topic t: no broker answered in time: {kafka.bootstrap_servers}/\S+ .*Connection refused.*; check boot"
        )
        with pytest.raises(PublishUnavailableError, match=refused) as failed, producer.transaction() as transaction:
            transaction.put("a", b"2")
        assert isinstance(failed.value, PublishError)
        assert isinstance(failed.value, BrokerUnavailableError)
        assert fault_of(failed.value) is Fault.TRANSITORY
        with (
            pytest.raises(BrokerUnavailableError, match=r"id gone: no broker answered in time: .*Connection refused"),
            producer.transaction(),
        ):
            raise AssertionError("no transaction begins")
        kafka.start()
        for attempt in range(_ATTEMPTS):
            try:
                with producer.transaction() as transaction:
                    transaction.put("b", b"3")
                break
            except (
                BrokerUnavailableError
            ):  # while the broker starts; a producer that was given up must not fence this one
                assert attempt < _ATTEMPTS - 1
        with durable(kafka, "t", tmp_path) as replica:
            records = replica.wait_for(transaction.committed.position, timeout_s=60)
            assert {key: record.value for key, record in records.items()} == {b"a": b"1", b"b": b"3"}
