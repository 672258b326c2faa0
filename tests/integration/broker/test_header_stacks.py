"""Header stacks on a real broker: what readers see, in memory and from disk, and what becomes of changed records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from kafka_replica import KeyFilter, Replica
from kafka_replica.embedded import LocalKafka
from kafka_replica.headers import Stack
from kafka_replica.headers.pieces import Compression, Signing, hops_of
from kafka_replica.producer import DeadLetterTopic, TransactionalProducer
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.broker.durable_tools import config, decided, durable
from support.broker.kafka_tools import independent_read
from support.headers.sample_stacks import HMAC, valid_orders

pytestmark = pytest.mark.broker

VALUES = {b"k%d" % number: b'{"number": %d}' % number * (number % 40) for number in range(200)}


@pytest.mark.usefixtures("boundaries")
def test_a_stack_of_all_pieces_is_undone_for_readers(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """Replicas in memory and on disk show what was written, also after a restart; the topic holds none of it."""
    topic = kafka_topic("stack", partitions=2)
    stack = valid_orders()[0]
    writer = TransactionalProducer(config(local_kafka), topic, topic, header_stack=stack)
    with writer.transaction() as transaction:
        for key, value in VALUES.items():
            transaction.put(key, value, (("mine", key),))
        transaction.delete(b"k0")
    expected = {key: value for key, value in VALUES.items() if key != b"k0"}
    for restart in range(2):
        with durable(local_kafka, topic, tmp_path, header_stack=stack) as replica:
            snapshot = decided(replica, local_kafka, topic, partitions=2)
            assert {key: record.value for key, record in snapshot.items()} == expected
            assert all(record.header("mine") == key for key, record in snapshot.items())
            assert {hops_of(record.headers)[0].topic for record in snapshot.values()} == {topic}
            assert replica.status().counts.records == (0 if restart else len(VALUES) + 1)
    with Replica(config(local_kafka), topic, header_stack=stack) as replica:
        assert {key: record.value for key, record in replica.wait_ready(60).items()} == expected
    in_the_log = independent_read(local_kafka.bootstrap_servers, topic, 2)
    assert len(in_the_log) == len(expected)
    assert not {value for value, _ in in_the_log.values()} & set(VALUES.values())
    with durable(local_kafka, topic, tmp_path, key_filter=KeyFilter.prefix("k1")) as replica:  # rebuilt: no stack
        assert decided(replica, local_kafka, topic, 2)[b"k1"].value == in_the_log[b"k1"][0]


@pytest.mark.usefixtures("boundaries")
def test_changed_records_name_the_piece(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """Records that were changed, moved or not signed are set aside with the piece's name, and kept as they were."""
    topic, letters = kafka_topic("forged"), kafka_topic("letters")
    stack = Stack([Compression(min_bytes=0), Signing(HMAC)])
    value, headers = stack.outgoing("a", b"value " * 100, [("mine", b"1")])
    plain: list[tuple[str, str | bytes | None]] = [
        header for header in headers if header[0] in {"mine", "record-signature"}
    ]
    writer = Producer(config(local_kafka))
    written: dict[str, tuple[bytes | None, list[Any]]] = {
        "a": (value, list(headers)),
        "moved": (value, list(headers)),
        "without codec": (value, plain),
        "unsigned": (b"value", []),
        "deleted": (None, []),
    }
    for key, (content, sent) in written.items():
        writer.produce(topic, key=key, value=content, headers=sent)
    writer.flush(30)
    dead_letters = DeadLetterTopic(config(local_kafka), letters)
    options: dict[str, Any] = {"header_stack": stack, "on_bad_record": "dead-letter", "dead_letters": dead_letters}
    with Replica(config(local_kafka), topic, **options) as replica:
        snapshot = replica.wait_ready(60)
        assert {key: record.value for key, record in snapshot.items()} == {b"a": b"value " * 100}
        assert snapshot["a"].headers == (("mine", b"1"),)
        reasons = {(bad.key or b"").decode(): bad.reason for bad in replica.bad_records}
    assert set(reasons) == set(written) - {"a"}
    assert all(reason.startswith("the header piece 'signing' refused it: it") for reason in reasons.values())
    with Replica(config(local_kafka), letters, boundaries="quiescence") as replica:
        found = replica.wait_ready(60)
        assert found["moved"].value == value
        assert found["moved"].headers[: len(headers)] == headers
        assert found["moved"].header("__connect.errors.exception.message") == reasons["moved"].encode()
