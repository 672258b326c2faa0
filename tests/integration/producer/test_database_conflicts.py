"""Several databases on one cluster: each has its own ids, and none fences another unnoticed."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from confluent_kafka import Producer
from sqlalchemy import select, text

from kafka_replica.broker.writing.faults import Fault, fault_of
from kafka_replica.broker.writing.writer import TransactionalWriter
from kafka_replica.cli.groups import kafka_replica
from kafka_replica.embedded import LocalKafka
from kafka_replica.errors import (
    BrokerError,
    ConfigurationError,
    KafkaReplicaError,
    RecordNotSentError,
    UsageError,
)
from kafka_replica.producer import ProducerControl, ProducerSettings, Put, StructureProducer, TransactionalProducer
from kafka_replica.producer.outbox import Mode, Outbox, default_producer_id, migrate, open_database
from kafka_replica.producer.outbox.tables import state
from kafka_replica.records import Partition
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.producer.postgres_tools import LocalPostgres
from support.producer.producer_tools import log_of, settings_of, transactions_of
from support.waiting import wait_until

KEEP = {"min.compaction.lag.ms": "600000"}


def record(producer: StructureProducer, *puts: Put) -> None:
    """Record a transaction."""
    with producer.engine.begin() as connection:
        producer.record(connection, puts)


def all_sent(producer: StructureProducer) -> None:
    """Wait until everything is sent."""
    wait_until(lambda: producer.status().pending == 0, f"all are sent: {producer.status()}")


def refused(producer: StructureProducer) -> str:
    """Wait until the producer has suspended itself; return the reason."""
    wait_until(lambda: producer.status().mode is Mode.FAILED, f"it suspends itself: {producer.status()}")
    return producer.status().reason or ""


def test_the_default_id_is_stable_and_differs_between_databases(tmp_path: Path) -> None:
    """The default id is stable, is part of the transactional id, and is available to applications that only record."""
    ids = []
    for name in ("one", "two"):
        settings = ProducerSettings("FOO", {"bootstrap.servers": "localhost:1"}, f"sqlite:///{tmp_path / name}.db")
        with pytest.raises(ConfigurationError, match="no id yet"):
            _ = settings.transactional_id
        made, again = StructureProducer(settings), ProducerControl(settings)
        assert made.id == again.id
        assert made.settings.transactional_id == f"tx-{made.id}"
        with made.engine.begin() as connection:
            assert Outbox(default_producer_id(connection)).record(connection, [Put("a", b"1")]) == [1]
        ids.append(made.id)
        made.close()
        again.close()
    assert ids[0] != ids[1]
    assert all(each.startswith("structures-") and len(each) == len("structures-") + 8 for each in ids)


def test_a_database_of_an_earlier_version_keeps_its_default_id(database_url: str) -> None:
    """Transactions recorded and sent under the name structures continue."""
    engine = open_database(database_url)
    migrate(engine, "0001")
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO kafka_producer_counter VALUES ('structures', 0)"))
        connection.execute(text("INSERT INTO kafka_producer_lease VALUES ('structures', NULL, 0, 0)"))
        connection.execute(
            text("INSERT INTO kafka_producer_state VALUES ('structures', 'abc', 'idle', NULL, NULL, 0, NULL, 0, 0)")
        )
    producer = StructureProducer(ProducerSettings("FOO", {"bootstrap.servers": "localhost:1"}, engine))
    assert producer.id == "structures"
    assert producer.status().incarnation == "abc"
    engine.dispose()


@pytest.mark.long
def test_two_databases_with_one_id_are_detected_before_fencing(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """The second database does not start, and names the undisturbed first; until an operator claims the id."""
    bootstrap, id_ = local_kafka.bootstrap_servers, f"registry-{uuid.uuid4().hex[:8]}"
    foo, bar, progress = kafka_topic("FOO", config=KEEP), kafka_topic("BAR", config=KEEP), kafka_topic(config=KEEP)
    settings = [
        settings_of(bootstrap, topic, f"sqlite:///{tmp_path / topic}.db", id=id_, progress_topic=progress)
        for topic in (foo, bar)
    ]
    with StructureProducer(settings[0]) as first:
        record(first, Put("a", b"1"))
        all_sent(first)
        second = StructureProducer(settings[1])
        record(second, Put("b", b"1"))  # before it starts, so that a transaction is there when it suspends itself
        with second:
            reason = refused(second)
            assert f"another database publishes as tx-{id_} on this cluster" in reason
            assert first._database.database_id in reason
            assert "producer claim" in reason
            wait_until(lambda: second.status().failed is not None, "its loop ends")
            failed = second.status().failed
            assert failed is not None
            assert failed.status == 3
            record(first, Put("a", b"2"))
            all_sent(first)
            assert first.counts.retries == 0, "it was not fenced"
            first.close()
            second.claim()
            second.resume()
            all_sent(second)
            with StructureProducer(settings[0]) as third:
                record(third, Put("a", b"3"))
                assert second._database.database_id in refused(third)
    assert transactions_of(bootstrap, foo) == [(1, 1), (2, 1)]
    assert transactions_of(bootstrap, bar) == [(1, 1)]


def test_progress_records_of_earlier_versions_are_accepted(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """Records without a database, the producer's own or others', are not treated as a conflict."""
    topic, progress = kafka_topic(config=KEEP), kafka_topic(config=KEEP)
    settings = settings_of(
        local_kafka.bootstrap_servers, topic, f"sqlite:///{tmp_path / 'o.db'}", progress_topic=progress
    )
    producer = StructureProducer(settings)
    record(producer, Put("a", b"1"))
    with producer.engine.begin() as connection:
        incarnation = connection.execute(select(state.c.incarnation)).scalar_one()
        recorded_ms = connection.execute(text("SELECT recorded_ms FROM kafka_producer_tx_detail")).scalar_one()
    writer = Producer({"bootstrap.servers": local_kafka.bootstrap_servers})
    value = json.dumps({"tx_id": 1, "recorded_ms": recorded_ms})
    for key in (f"structures/{incarnation}", "structures/another"):
        writer.produce(progress, key=key, value=value, partition=0)
    assert writer.flush(30) == 0
    record(producer, Put("b", b"1"))
    with producer:
        all_sent(producer)
    assert transactions_of(local_kafka.bootstrap_servers, topic) == [(2, 1)], (
        "the first has arrived, as its record says"
    )
    last, _ = log_of(local_kafka.bootstrap_servers, progress)[-1]
    assert json.loads(last.value or b"")["database"] == producer._database.database_id


@pytest.fixture(params=["sqlite", "postgresql"])
def copied(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Callable[[], str]]:
    """A database, and a function that copies it, as for a test environment."""
    if request.param == "sqlite":

        def copy_file() -> str:
            shutil.copy(tmp_path / "o.db", tmp_path / "copy.db")
            return f"sqlite:///{tmp_path / 'copy.db'}"

        return f"sqlite:///{tmp_path / 'o.db'}", copy_file
    server: LocalPostgres = request.getfixturevalue("postgres")
    name = f"copied_{uuid.uuid4().hex[:8]}"

    def copy_database() -> str:
        with server.connect("postgres") as connection:
            connection.execute(f'CREATE DATABASE "{name}_copy" TEMPLATE "{name}"')
        return server.url(f"{name}_copy")

    return server.url(name), copy_database


@pytest.mark.long
def test_a_copy_of_a_database_does_not_publish_beside_its_original(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, copied: tuple[str, Callable[[], str]], tmp_path: Path
) -> None:
    """A copy that still points to the original's cluster is rejected; deleting it does not affect the original."""
    url, make_copy = copied
    topic, bootstrap = kafka_topic(config=KEEP), local_kafka.bootstrap_servers
    settings = settings_of(bootstrap, topic, url)
    with StructureProducer(settings) as original:
        record(original, Put("a", b"1"))
        all_sent(original)
    copy_url = make_copy()
    with StructureProducer(settings) as original:
        with StructureProducer(settings_of(bootstrap, topic, copy_url)) as copy:
            record(copy, Put("a", b"copy"))
            assert "is a copy, or was moved" in refused(copy)
        copy.close()
        control = ProducerControl(settings_of(bootstrap, topic, copy_url, lease_s=2.0))
        control.delete()
        control.close()
        record(original, Put("a", b"2"))
        all_sent(original)
        assert original.counts.retries == 0, "nobody fenced it"
    with StructureProducer(settings) as original:  # its progress is still there
        record(original, Put("a", b"3"))
        all_sent(original)
    assert [record.value for record, _ in log_of(bootstrap, topic)] == [b"1", b"2", b"3"]


@pytest.mark.long
def test_a_moved_database_continues_after_a_claim(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, copied: tuple[str, Callable[[], str]], tmp_path: Path
) -> None:
    """After the command ``claim`` a moved database continues its numbers and progress."""
    url, make_copy = copied
    topic, bootstrap = kafka_topic(config=KEEP), local_kafka.bootstrap_servers
    with StructureProducer(settings_of(bootstrap, topic, url)) as producer:
        record(producer, Put("a", b"1"))
        all_sent(producer)
    moved = make_copy()
    file = tmp_path / "producer.toml"
    file.write_text(
        f'[producer]\nid = "structures"\ntopic = "{topic}"\ndatabase = "{moved}"\n'
        f'[kafka]\nbootstrap.servers = "{bootstrap}"'
    )
    with StructureProducer(settings_of(bootstrap, topic, moved)) as producer:
        record(producer, Put("a", b"2"))
        assert "is a copy, or was moved" in refused(producer)
        for command in ("claim", "resume"):
            done = CliRunner().invoke(kafka_replica, ["producer", command, "--config", str(file)])
            assert done.exit_code == 0, (done.output, done.exception)
        all_sent(producer)
    assert transactions_of(bootstrap, topic) == [(1, 1), (2, 1)]


@pytest.mark.parametrize("count", [3, 50_000])
def test_a_fenced_producer_stays_fenced(local_kafka: LocalKafka, kafka_topic: TopicMaker, count: int) -> None:
    """A producer does not take its transactional id back from a newer one, however large its transaction was."""
    topic, config = kafka_topic(config=KEEP), {"bootstrap.servers": local_kafka.bootstrap_servers, "log_level": 0}

    def publish(producer: TransactionalProducer, count: int = 1) -> None:
        with producer.transaction() as transaction:
            for number in range(count):
                transaction.put(f"k{number}", b"x" * 100)

    older = TransactionalProducer(config, topic, topic)
    publish(older)
    newer = TransactionalProducer(config, topic, topic)
    publish(newer)
    for again in (count, 1, 1):
        with pytest.raises(BrokerError) as caught:
            publish(older, again)
        assert fault_of(caught.value) is Fault.FENCED
        assert not isinstance(caught.value, RecordNotSentError)
        publish(newer)


def test_a_record_after_the_end_of_its_transaction_is_refused(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """Each such record is refused, and the next transactions are not affected."""
    topic, config = kafka_topic(config=KEEP), {"bootstrap.servers": local_kafka.bootstrap_servers, "log_level": 0}
    producer = TransactionalProducer(config, topic, topic)
    for number in range(3):
        with producer.transaction() as transaction:
            transaction.put("k", b"%d" % number)
        for _ in range(2):
            with pytest.raises(UsageError, match="this transaction has ended"):
                transaction.put("late", b"v")
    assert [record.value for record, _ in log_of(local_kafka.bootstrap_servers, topic)] == [b"0", b"1", b"2"]


def test_a_fenced_producer_reports_fencing_at_every_step(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """A fenced producer reports this at every step, never as a SystemError or an unexplained fatal error."""
    topic, config = kafka_topic(config=KEEP), {"bootstrap.servers": local_kafka.bootstrap_servers, "log_level": 0}
    place = Partition(topic, 0)

    def handed_over(writer: TransactionalWriter) -> None:
        for number in range(500):
            writer.send_to(place, b"%d" % number, b"x" * 100, ())

    def fenced(again: Callable[[TransactionalWriter], object], before: Callable[[TransactionalWriter], object]) -> None:
        writer = TransactionalWriter(config, topic, 20)
        writer.begin()
        writer.send_to(place, b"k", b"v", ())
        writer._producer.flush(20)
        TransactionalWriter(config, topic, 20).close()
        with suppress(KafkaReplicaError):
            before(writer)
        with pytest.raises(KafkaReplicaError) as caught:
            again(writer)
        assert fault_of(caught.value) is Fault.FENCED, repr(caught.value)
        writer.close()

    for before in (lambda _: None, handed_over, lambda writer: (handed_over(writer), writer.commit())):
        fenced(lambda writer: (handed_over(writer), writer.commit()), before)
    for again in (handed_over, TransactionalWriter.commit, TransactionalWriter.abort):
        fenced(again, lambda writer: (handed_over(writer), writer.commit()))
