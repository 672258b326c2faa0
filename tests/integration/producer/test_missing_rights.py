"""A producer without permission to write suspends itself, and states which right is missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import (
    AclOperation,
)

from kafka_replica.broker.writing.faults import Fault, fault_of
from kafka_replica.embedded import LocalKafka
from kafka_replica.errors import PublishError, RecordNotSentError
from kafka_replica.producer import Put, StructureProducer, TransactionalProducer
from kafka_replica.producer.outbox import Mode
from support.broker.access_rights import grant, on_topic
from support.effort import first_in_usual
from support.producer.producer_tools import settings_of
from support.waiting import wait_until

_WITH_RIGHTS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
    "super.users": "User:nobody",
}
_RIGHT = "Kafka reports TOPIC_AUTHORIZATION_FAILED"


@pytest.fixture(scope="module")
def readable() -> Iterator[LocalKafka]:
    """A broker with the topic t, which everyone may only read."""
    with LocalKafka(settings=_WITH_RIGHTS) as kafka:
        kafka.create_topic("t", config={"cleanup.policy": "compact"})
        grant(kafka.bootstrap_servers, on_topic("t", AclOperation.READ, AclOperation.DESCRIBE_CONFIGS))
        wait_until(lambda: not _is_written(kafka), "the rights apply")
        yield kafka


def _publish(kafka: LocalKafka, count: int = 1) -> None:
    """Write a transaction of this many records."""
    producer = TransactionalProducer({"bootstrap.servers": kafka.bootstrap_servers, "log_level": 0}, "t", f"id{count}")
    with producer.transaction() as transaction:
        for number in range(count):
            transaction.put(f"k{number}", b"x" * 100)


def _is_written(kafka: LocalKafka) -> bool:
    try:
        _publish(kafka)
    except PublishError:
        return False
    return True


@pytest.mark.long
@pytest.mark.parametrize("count", [3, 100_000])
def test_large_and_small_transactions_report_the_missing_right(readable: LocalKafka, count: int) -> None:
    """No record has the error, because Kafka refuses the partition before it receives any."""
    with pytest.raises(PublishError, match=f"topic t: {_RIGHT}") as caught:
        _publish(readable, count)
    assert fault_of(caught.value) is Fault.REFUSED
    assert not isinstance(caught.value, RecordNotSentError)


@pytest.mark.parametrize("count", first_in_usual([1, 30_000], 1))
def test_a_producer_without_the_right_to_write_is_suspended(readable: LocalKafka, tmp_path: Path, count: int) -> None:
    """A missing right is not retried: the status is 3, and the error names the right."""
    settings = settings_of(
        readable.bootstrap_servers, "t", f"sqlite:///{tmp_path / 'o.db'}", id=f"s{count}", validate=False
    )
    with StructureProducer(settings) as producer:
        with producer.engine.begin() as connection:
            producer.record(connection, [Put(f"k{number}", b"x" * 100) for number in range(count)])
        wait_until(lambda: producer.status().mode is Mode.FAILED, lambda: f"it suspends itself: {producer.status()}")
        failed = producer.status().failed
    assert failed is not None
    assert failed.status == 3
    assert _RIGHT in (failed.error or "")
    assert "ask for permission to" in (failed.error or "")
