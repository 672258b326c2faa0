"""Three similar size limits: the producer's own, the topic's, the brokers'; each with its own advice."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kafka_replica.broker.writing.size_limits import fitting_batches
from kafka_replica.doctor import Severity, examine
from kafka_replica.embedded import LocalKafka
from kafka_replica.errors import PublishError, RecordNotSentError
from kafka_replica.producer import Put, StructureProducer, TransactionalProducer
from kafka_replica.producer.errors import EncodingError
from kafka_replica.producer.outbox import Mode
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.producer.producer_tools import log_of, settings_of, transactions_of
from support.waiting import wait_until

KEEP = {"cleanup.policy": "compact", "min.compaction.lag.ms": "600000"}


@pytest.fixture(scope="module")
def narrow() -> Iterator[LocalKafka]:
    """A broker with a low limit."""
    with LocalKafka(settings={"message.max.bytes": 60_000}) as kafka:
        yield kafka


def failed(bootstrap: str, topic: str, folder: Path, value: bytes, *more: Put, **properties: object) -> tuple[int, str]:
    """Return status and error of a transaction with that value, recorded without validation; the next one waits."""
    settings = settings_of(bootstrap, topic, f"sqlite:///{folder / 'o.db'}", validate=False)
    settings.kafka.update(properties)  # type: ignore[attr-defined]
    with StructureProducer(settings) as producer:
        with producer.engine.begin() as connection:
            producer.record(connection, [Put("large", value), *more])
            producer.record(connection, [Put("small", b"x")])
        wait_until(lambda: producer.status().mode is Mode.FAILED, "it suspends itself")
        status = producer.status()
        assert status.failed is not None
        assert (status.failed.tx_id, status.sent, status.pending, status.running) == (1, 0, 2, False)
        assert log_of(bootstrap, topic) == []
        return status.failed.status, status.failed.error or ""


def test_the_producers_own_limit_counts_before_compression(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """100,000 zeros, a hundred bytes in zstd, exceed the producer's limit: 2. With a higher limit they are sent."""
    topic, bootstrap = kafka_topic(config=KEEP), local_kafka.bootstrap_servers
    status, error = failed(bootstrap, topic, tmp_path, bytes(100_000), **{"max.request.size": 50_000})
    assert status == 2
    assert "100,005 bytes before compression" in error
    assert "own limit is 50,000" in error
    assert "raise max.request.size" in error
    assert "max.message.bytes" not in error.replace("message.max.bytes", "")
    settings = settings_of(bootstrap, topic, f"sqlite:///{tmp_path / 'o.db'}")
    settings.kafka["max.request.size"] = 200_000  # type: ignore[index]
    with StructureProducer(settings) as producer:
        producer.resume()
        wait_until(lambda: producer.status().pending == 0, "all are sent")
    assert transactions_of(bootstrap, topic) == [(1, 1), (2, 1)]


def test_the_topics_limit_counts_after_compression(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """A record beyond the topic's limit gives status 3 and names the limit. A record that compresses enough is sent."""
    topic = kafka_topic(config={**KEEP, "max.message.bytes": "50000"})
    status, error = failed(local_kafka.bootstrap_servers, topic, tmp_path, os.urandom(100_000))
    assert status == 3
    assert "100,005 bytes before compression were sent" in error
    assert f"topic {topic} accepts batches of 50,000 bytes after compression, by its own max.message.bytes" in error
    assert "max.request.size" not in error
    kafka = {"bootstrap.servers": local_kafka.bootstrap_servers}
    with TransactionalProducer(kafka, topic, topic).transaction() as transaction:
        transaction.put("zeros", bytes(100_000))


@pytest.mark.long
@pytest.mark.parametrize("properties", [{}, {"queue.buffering.max.kbytes": 1024}])
def test_a_refusal_within_a_large_transaction_names_the_refused_record(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path, properties: dict[str, object]
) -> None:
    """Kafka refuses the first record while others are still queued; the client then accepts none of them."""
    topic, bootstrap = kafka_topic(config={**KEEP, "max.message.bytes": "50000"}), local_kafka.bootstrap_servers
    more = [Put(f"k{number}", os.urandom(100)) for number in range(40_000)]
    status, error = failed(bootstrap, topic, tmp_path, os.urandom(100_000), *more, **properties)
    assert status == 3
    assert "sending key large" in error
    assert f"topic {topic} accepts batches of 50,000 bytes after compression" in error
    producer = TransactionalProducer({"bootstrap.servers": bootstrap, **properties}, topic, topic)

    def publish() -> None:
        with producer.transaction() as transaction:
            transaction.put("large", os.urandom(100_000))
            for put in more:
                transaction.put(put.key, put.value)

    with pytest.raises(PublishError, match="sending key large") as raised:
        publish()
    assert not isinstance(raised.value, RecordNotSentError)


@pytest.mark.long
def test_the_brokers_limit(narrow: LocalKafka, tmp_path: Path) -> None:
    """A record beyond the brokers' limit gives status 3, and the error says that the topic has no own limit."""
    narrow.create_topic("t", config=KEEP)
    status, error = failed(narrow.bootstrap_servers, "t", tmp_path, os.urandom(100_000))
    assert status == 3
    assert "the brokers accept batches of 60,000 bytes after compression, by their message.max.bytes" in error
    assert "Set one" in error


@pytest.mark.long
def test_the_doctor_distinguishes_three_size_limits(narrow: LocalKafka) -> None:
    """The doctor distinguishes the three limits with one large record."""
    narrow.create_topic("inherits", config=KEEP)
    narrow.create_topic("own", config={**KEEP, "max.message.bytes": "70000"})

    def error_text(topic: str, **properties: object) -> str:
        config = {"bootstrap.servers": narrow.bootstrap_servers, **properties}
        found = {each.check: each for each in examine(config, topic, large_bytes=100_000)}["a large record"]
        assert found.severity is Severity.FAULT
        return f"{found.message}; {found.advice}"

    assert "own limit is 80,000" in error_text("own", **{"max.request.size": 80_000})
    assert "70,000 bytes after compression, by its own max.message.bytes" in error_text("own")
    assert "60,000 bytes after compression, by their message.max.bytes" in error_text("inherits")


def test_a_plain_producer_raises_matching_size_errors(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """A plain producer raises matching errors: not sent, or not committed."""
    topic = kafka_topic(config={**KEEP, "max.message.bytes": "50000"})
    kafka = {"bootstrap.servers": local_kafka.bootstrap_servers, "max.request.size": 80_000}
    producer = TransactionalProducer(kafka, topic, topic)

    def put(value: bytes) -> Callable[[], None]:
        def verb() -> None:
            with producer.transaction() as transaction:
                transaction.put("k", value)

        return verb

    with pytest.raises(RecordNotSentError, match=r"raise max\.request\.size"):
        put(bytes(80_000))()
    with pytest.raises(PublishError, match=r"own max\.message\.bytes") as caught:
        put(os.urandom(70_000))()
    assert not isinstance(caught.value, RecordNotSentError)
    put(os.urandom(30_000))()


def test_many_small_records_are_not_too_large_together(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """A usual batch exceeds the topic's limit: batches are made to fit, unless configured otherwise."""
    topic, bootstrap = kafka_topic(config={**KEEP, "max.message.bytes": "50000"}), local_kafka.bootstrap_servers
    settings = settings_of(bootstrap, topic, f"sqlite:///{tmp_path / 'o.db'}")
    with StructureProducer(settings) as producer:
        with producer.engine.begin() as connection:
            producer.record(connection, [Put(f"k{number}", os.urandom(1000)) for number in range(500)])
        wait_until(lambda: producer.status().pending == 0, f"all are sent: {producer.status()}")
    assert transactions_of(bootstrap, topic) == [(1, 500)]
    kafka = {"bootstrap.servers": bootstrap}
    assert fitting_batches(kafka, [topic], 20) == {"batch.size": 50_000}
    assert fitting_batches({**kafka, "batch.size": 7}, [topic], 20) == {}
    assert fitting_batches(kafka, [kafka_topic()], 20) == {}
    assert fitting_batches(kafka, ["no-such-topic"], 20) == {}


@pytest.mark.long
def test_a_record_that_is_larger_than_the_usual_queue_is_sent(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """40 MB of zeros, which compress to little, and the records around them arrive; 32 MB are queued otherwise."""
    topic, bootstrap = kafka_topic(config=KEEP), local_kafka.bootstrap_servers
    with StructureProducer(settings_of(bootstrap, topic, f"sqlite:///{tmp_path / 'o.db'}")) as producer:
        with producer.engine.begin() as connection:
            producer.record(connection, [Put("before", b"1"), Put("zeros", bytes(40 << 20)), Put("after", b"1")])
            producer.record(connection, [Put("next", bytes(20 << 20)), Put("one more", bytes(20 << 20))])
        wait_until(lambda: producer.status().pending == 0, "all are sent", 120)
    found = [(record.key, len(record.value or b"")) for record, _ in log_of(bootstrap, topic)]
    assert found == [
        (b"before", 1), (b"zeros", 40 << 20), (b"after", 1), (b"next", 20 << 20), (b"one more", 20 << 20)
    ]  # fmt: skip


def test_a_queue_that_is_smaller_than_a_record(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """A larger record is not recorded, and gives status 2 if it was: the queue would never have room for it."""
    topic, bootstrap = kafka_topic(config=KEEP), local_kafka.bootstrap_servers
    small_queue = {"queue.buffering.max.kbytes": 1024}
    settings = settings_of(bootstrap, topic, f"sqlite:///{tmp_path / 'validated.db'}", kafka=small_queue)
    with (
        closing(StructureProducer(settings)) as recorder,
        recorder.engine.begin() as connection,
        pytest.raises(EncodingError, match=r"own limit is 1,048,576.*raise queue\.buffering\.max\.kbytes"),
    ):
        recorder.record(connection, [Put("large", bytes(2 << 20))])
    status, error = failed(bootstrap, topic, tmp_path, bytes(2 << 20), **small_queue)
    assert status == 2
    assert "own limit is 1,048,576, so it was not sent; raise queue.buffering.max.kbytes" in error
    producer = TransactionalProducer({"bootstrap.servers": bootstrap, **small_queue}, topic, topic)
    with pytest.raises(RecordNotSentError, match="queue"), producer.transaction() as transaction:
        transaction.put("large", bytes(2 << 20))
