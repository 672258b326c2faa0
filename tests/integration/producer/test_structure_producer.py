"""The reference producer on a real broker: starting, stopping, flushing, failing, standing by."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import psutil
import pytest
from sqlalchemy import select

from kafka_replica import Replica
from kafka_replica.embedded import LocalKafka
from kafka_replica.errors import ConfigurationError, UsageError
from kafka_replica.headers import Stack
from kafka_replica.headers.pieces import Compression, HmacKey, Signing
from kafka_replica.producer import Change, Delete, Put, StructureProducer, TransactionalProducer
from kafka_replica.producer.changes.encoding import EncodedValue
from kafka_replica.producer.notices.mail import Mailer, MailSettings
from kafka_replica.producer.notices.notices import Notice, Retry, Suspension, Takeover
from kafka_replica.producer.outbox import Mode
from kafka_replica.producer.outbox.tables import tx
from kafka_replica.producer.sources import record_source
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.producer.mail_tools import mail_server
from support.producer.producer_tools import EVERY_COMMIT_IS_SLOW, log_of, process, settings_of, transactions_of
from support.waiting import wait_until

KEEP = {"min.compaction.lag.ms": "600000"}


@pytest.fixture
def database(tmp_path: Path) -> str:
    """A fresh SQLite database."""
    return f"sqlite:///{tmp_path / 'outbox.db'}"


def record(producer: StructureProducer, *changes: Change) -> list[int]:
    """Record a transaction (two, if some changes are deletions)."""
    with producer.engine.begin() as connection:
        return producer.record(connection, changes)


def all_sent(producer: StructureProducer) -> None:
    """Wait until everything is sent."""
    wait_until(lambda: producer.status().pending == 0, f"all are sent: {producer.status()}")


def suspended(producer: StructureProducer) -> None:
    """Wait until the producer has suspended itself."""
    wait_until(lambda: producer.status().mode is Mode.FAILED, f"it suspends itself: {producer.status()}")


def test_each_transaction_goes_to_all_topics_with_its_headers(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, database: str
) -> None:
    """Each topic gets the same whole records, with number, count and time."""
    foo, bar = kafka_topic("FOO", config=KEEP), kafka_topic("BAR", config=KEEP)
    settings = settings_of(local_kafka.bootstrap_servers, f"{foo},{bar}", database)
    with StructureProducer(settings) as producer:
        record(producer, Put("a", b"1", "text/plain"), Put("b", b"2"))
        record(producer, Delete("a"))
        all_sent(producer)
        for topic in (foo, bar):
            first, second, third = log_of(local_kafka.bootstrap_servers, topic)
            assert (first[0].key, first[0].value, first[0].header("content-type")) == (b"a", b"1", b"text/plain")
            assert first[1] is not None
            assert first[1][:3] == ("structures/1", 1, 2)
            assert second[1] is not None
            assert second[1][:3] == ("structures/1", 2, 2)
            assert abs(first[1].time_ms - first[0].timestamp_ms) < 60_000
            assert (third[0].key, third[0].value) == (b"a", None)
            assert third[1] is not None
            assert third[1][:3] == ("structures/2", 1, 1)


def test_after_each_slow_commit_a_producer_connects_again(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit that may have been repeated is the last one of its connection."""
    # The shortest backoff is a millisecond, in which a commit may be answered: here any commit counts as slow.
    monkeypatch.setattr("kafka_replica.broker.writing.writer._EARLIEST_RETRY", 0)
    topic, bootstrap = kafka_topic(config=KEEP), local_kafka.bootstrap_servers
    connections = []

    class Counting(StructureProducer):
        def _step(self, name: str) -> None:
            connections.extend([1] * (name == "taken up"))

    with Counting(settings_of(bootstrap, topic, database, kafka=EVERY_COMMIT_IS_SLOW)) as producer:
        record(producer, Put("a", b"1"))
        record(producer, Put("b", b"1"))
        all_sent(producer)
        record(producer, Put("c", b"1"))
        all_sent(producer)
    assert transactions_of(bootstrap, topic) == [(1, 1), (2, 1), (3, 1)]
    assert len(connections) >= 3


@pytest.mark.parametrize("options", [{}, EVERY_COMMIT_IS_SLOW], ids=["fast", "slow"])
def test_a_transactional_producer_of_several_topics(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, options: dict[str, Any]
) -> None:
    """A transaction is in all topics; a failed one is in none."""
    foo, bar = kafka_topic("FOO", config=KEEP), kafka_topic("BAR", config=KEEP)
    producer = TransactionalProducer({"bootstrap.servers": local_kafka.bootstrap_servers, **options}, [foo, bar], foo)
    with producer.transaction() as transaction:
        transaction.put("a", b"1")
        transaction.delete("b")
    with pytest.raises(RuntimeError), producer.transaction() as transaction:  # noqa: PT012
        transaction.put("a", b"2")
        raise RuntimeError
    committed = transaction.committed
    assert not committed.is_committed
    with producer.transaction() as transaction:
        transaction.put("c", b"3")
    for topic in (foo, bar):
        found = [(each.key, each.value) for each, _ in log_of(local_kafka.bootstrap_servers, topic)]
        assert found == [(b"a", b"1"), (b"b", None), (b"c", b"3")]
    with pytest.raises(ConfigurationError, match="no topic"):
        TransactionalProducer({"bootstrap.servers": "x:1"}, " , ", "x")


@pytest.mark.long
def test_a_producer_that_has_sent_nothing_stays_idle_until_resumed(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, database: str
) -> None:
    """A producer that has sent nothing is idle at every start; later it continues by itself, unless suspended."""
    topic = kafka_topic(config=KEEP)
    settings = settings_of(local_kafka.bootstrap_servers, topic, database, first_start="idle", lease_s=2.0)
    for _ in range(2):
        with StructureProducer(settings) as producer:
            record(producer, Put("a", b"1"))
            wait_until(lambda: producer.status(watch_s=5).owner_lives, "it has the lease")
            assert (producer.status().mode, producer.status().running) == (Mode.IDLE, False)
    assert log_of(local_kafka.bootstrap_servers, topic) == []
    with StructureProducer(settings) as producer:
        producer.resume()
        all_sent(producer)
        assert producer.status(watch_s=5).running
        producer.suspend("for a while")
        record(producer, Put("b", b"1"))
        record(producer, Put("c", b"1"))
        status = producer.status()
        assert (status.mode, status.reason, status.running) == (Mode.SUSPENDED, "for a while", False)
        producer.resume()
        all_sent(producer)
        producer.suspend()
        record(producer, Put("d", b"1"))
    with StructureProducer(settings) as producer:  # a start ends a suspension by an operator
        all_sent(producer)
    assert transactions_of(local_kafka.bootstrap_servers, topic) == [(1, 1), (2, 1), (3, 1), (4, 1)]


def test_a_full_flush_leaves_no_ghosts(local_kafka: LocalKafka, kafka_topic: TopicMaker, database: str) -> None:
    """A flush sends all content in one transaction, then tombstones for foreign keys in another."""
    topic = kafka_topic(config=KEEP)
    bootstrap = local_kafka.bootstrap_servers
    with TransactionalProducer({"bootstrap.servers": bootstrap}, topic, "somebody").transaction() as transaction:
        for key in ("ghost 1", "ghost 2", "a"):
            transaction.put(key, b"old")
    settings = settings_of(bootstrap, topic, database, first_start="flush")
    producer = StructureProducer(settings)
    record(producer, *(Put(f"k{i}", b"x") for i in range(1000)), Put("a", b"1"))
    record(producer, Delete("k0"))
    with producer:
        all_sent(producer)
        assert record(producer, Put("a", b"1")) == [], "unchanged"
        log = [
            (record, transaction_headers)
            for record, transaction_headers in log_of(bootstrap, topic)
            if transaction_headers is not None
        ]
        flush = [
            record
            for record, transaction_headers in log
            if transaction_headers is not None and transaction_headers.transaction == "structures/3"
        ]
        assert [record.key for record in flush] == [*(b"k%d" % i for i in range(1, 1000)), b"a"]
        sweep = [
            (record.key, record.value)
            for record, transaction_headers in log
            if transaction_headers and transaction_headers.transaction == "structures/4"
        ]
        assert sweep == [(b"ghost 1", None), (b"ghost 2", None)]
        assert producer.flush() == [5, 6]
        all_sent(producer)
        with producer.engine.connect() as connection:
            rows = connection.execute(select(tx.c.tx_messages, tx.c.tx_status).order_by(tx.c.tx_id)).all()
        assert rows == [(1001, 1), (1, 1), (1000, 1), (2, 1), (1000, 1), (0, 1)]


def test_a_permanent_failure_suspends_at_once_and_skips_nothing(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, database: str
) -> None:
    """A record too large for the topic is rejected by Kafka (3). After a fix and a restart all follows in order."""
    topic = kafka_topic(config={**KEEP, "max.message.bytes": "2000"})
    received: list[Notice] = []
    bootstrap = local_kafka.bootstrap_servers
    settings = settings_of(bootstrap, topic, database)
    settings.kafka["compression.type"] = "none"  # type: ignore[index]
    with StructureProducer(settings, observers=[received.append]) as producer:
        record(producer, Put("a", b"1"))
        record(producer, Put("large", b"x" * 10_000))
        record(producer, Put("b", b"1"))
        suspended(producer)
        status = producer.status()
        assert status.failed is not None
        assert (status.failed.tx_id, status.failed.status, status.sent, status.pending) == (2, 3, 1, 2)
        assert "MSG_SIZE_TOO_LARGE" in (status.failed.error or "")
        assert not any(isinstance(notice, Retry) for notice in received)
        assert [notice.tx_id for notice in received if isinstance(notice, Suspension)] == [2]
    received.clear()
    with StructureProducer(settings, observers=[received.append]) as producer:
        wait_until(lambda: any(isinstance(notice, Suspension) for notice in received), "a start tries again, in vain")
        assert producer.status().mode is Mode.FAILED
    _widen(bootstrap, topic)
    with StructureProducer(settings) as producer:
        all_sent(producer)
        assert producer.status().failed is None
    assert transactions_of(bootstrap, topic) == [(1, 1), (2, 1), (3, 1)]


def _widen(bootstrap: str, topic: str) -> None:
    from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource

    entry = ConfigEntry("max.message.bytes", "1000000", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.incremental_alter_configs([resource])[resource].result(20)


def test_the_encoders_word(local_kafka: LocalKafka, kafka_topic: TopicMaker, database: str) -> None:
    """Content that the format cannot represent is left out and counted; a failure is local (2), and names the key."""
    topic = kafka_topic(config=KEEP)
    broken = threading.Event()
    broken.set()

    def encode(key: bytes, value: bytes, content_type: str | None, media_type: str) -> EncodedValue | None:
        if key == b"bad" and broken.is_set():
            raise ValueError("cannot be written")
        return None if key == b"other" else EncodedValue(value.upper(), media_type)

    settings = settings_of(local_kafka.bootstrap_servers, topic, database, media_type="text/loud", validate=False)
    with StructureProducer(settings, encoder=encode) as producer:
        record(producer, Put("a", b"x"), Put("other", b"x"), Put("b", b"y"))
        record(producer, Put("other", b"z"))
        record(producer, Put("bad", b"z"))
        suspended(producer)
        failed = producer.status().failed
        assert failed is not None
        assert (failed.tx_id, failed.status) == (3, 2)
        assert "writing bad as text/loud: cannot be written" in (failed.error or "")
        assert producer.status().not_carried == 2
        broken.clear()
        producer.resume()
        all_sent(producer)
    found = [
        (each.key, each.value, each.header("content-type")) for each, _ in log_of(local_kafka.bootstrap_servers, topic)
    ]
    loud = b"text/loud"
    assert found == [(b"a", b"X", loud), (b"b", b"Y", loud), (b"bad", b"Z", loud)]


def test_a_closed_producer_leaves_no_file_open(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """All connections to SQLite are closed, those of the producer's threads included."""
    file = tmp_path / "o.db"
    settings = settings_of(local_kafka.bootstrap_servers, kafka_topic(config=KEEP), f"sqlite:///{file}")
    with StructureProducer(settings) as producer:
        record(producer, Put("a", b"1"))
        all_sent(producer)
        assert str(file) in _open_files()
    assert not [name for name in _open_files() if name.startswith(str(file))]


def _open_files() -> list[str]:
    return [open_file.path for open_file in psutil.Process().open_files()]


@pytest.mark.long
def test_the_standby_takes_over_from_a_killed_instance(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, database: str
) -> None:
    """Only one instance publishes; and a configuration in use is not deleted."""
    topic = kafka_topic(config=KEEP)
    settings = settings_of(local_kafka.bootstrap_servers, topic, database, lease_s=15.0)
    producer = StructureProducer(settings)
    record(producer, Put("a", b"1"))
    with process(settings) as first:
        all_sent(producer)
        owner = producer.status().owner
        with producer:  # stands by
            record(producer, Put("b", b"1"))
            all_sent(producer)
            assert producer.status().owner == owner
            with pytest.raises(UsageError, match="stop it before deleting"):
                producer.delete()
            first.kill()
            record(producer, Put("c", b"1"))
            all_sent(producer)
            assert producer.status().owner != owner
    assert transactions_of(local_kafka.bootstrap_servers, topic) == [(1, 1), (2, 1), (3, 1)]
    producer.delete()
    with pytest.raises(UsageError, match="no producer"):
        producer.status()
    producer.close()  # the last requests have opened the database again
    again = StructureProducer(settings)  # starts a new count, and is not confused by the existing records
    record(again, Put("a", b"2"))
    with again:
        all_sent(again)
    assert transactions_of(local_kafka.bootstrap_servers, topic)[-1] == (1, 1)


def test_missing_progress_is_reported_as_a_contradiction(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, database: str
) -> None:
    """With another progress topic the producer reports the contradiction instead of starting from scratch."""
    topic = kafka_topic(config=KEEP)
    settings = settings_of(local_kafka.bootstrap_servers, topic, database)
    with StructureProducer(settings) as producer:
        record(producer, Put("a", b"1"))
        all_sent(producer)
    other = settings_of(local_kafka.bootstrap_servers, topic, database, progress_topic=kafka_topic("elsewhere"))
    with StructureProducer(other) as producer:
        suspended(producer)
        assert "1 transactions are marked as sent" in (producer.status().reason or "")
    assert len(log_of(local_kafka.bootstrap_servers, topic)) == 1


def test_a_complete_source_is_recorded_as_differences(database: str) -> None:
    """Differences from a complete source are recorded; missing keys are deleted; None means no content."""

    class Shelf:
        held: list[Put] | None = None

        def read(self) -> list[Put] | None:
            return self.held

        def forget(self) -> None: ...

    shelf, producer = Shelf(), StructureProducer(settings_of("nowhere:1", "t", database))
    assert record_source(shelf, producer) == []
    shelf.held = [Put("a", b"1"), Put("b", b"1")]
    assert record_source(shelf, producer) == [1]
    assert record_source(shelf, producer) == []
    shelf.held = [Put("b", b"2")]
    assert record_source(shelf, producer) == [2, 3]
    producer.close()


@pytest.mark.parametrize("password", ["secret", "wrong"])
def test_the_administrator_gets_a_mail(password: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A mail goes by STARTTLS and login to a real server; a rejected mail is logged, and stops nothing."""
    with mail_server(tmp_path, "me", "secret") as (inbox, server, ca_file):
        settings = MailSettings(
            "127.0.0.1", ("admin@example.org",), "producer@example.org", server.port, user="me", password=password,
            ca_file=ca_file,
        )  # fmt: skip
        Mailer(settings, "structures")(Suspension(17, 3, "Kafka says no"))
    assert "secret" not in repr(settings)
    if password == "wrong":
        assert not inbox.messages
        assert "was not sent" in caplog.text
        return
    (message,) = inbox.messages
    assert message["To"] == "admin@example.org"
    assert "structures is suspended" in message["Subject"]
    body = message.get_payload(decode=True)
    assert isinstance(body, bytes)
    assert b"Transaction: 17" in body
    assert b"Error: Kafka says no" in body


def test_a_header_stack(local_kafka: LocalKafka, kafka_topic: TopicMaker, database: str) -> None:
    """Each topic gets records signed for it, transaction headers included; a refused record stops the producer."""
    foo, bar = kafka_topic("FOO", config=KEEP), kafka_topic("BAR", config=KEEP)
    stack = Stack(
        [Compression(max_bytes=1000), Signing(HmacKey("k", bytes(32)), headers=["transaction-id"], bind_topic=True)]
    )
    settings = settings_of(local_kafka.bootstrap_servers, f"{foo},{bar}", database)
    with StructureProducer(settings, header_stack=stack) as producer:
        record(producer, Put("a", b"1" * 1000, "text/plain"), Put("b", b"2"))
        record(producer, Put("c", b"1" * 1001))
        suspended(producer)
        failed = producer.status().failed
        assert failed is not None
        assert "sending c to FOO" in (failed.error or "")
        assert "'compression' refused it: the value has 1,001 bytes" in (failed.error or "")
        producer.skip(2)
        producer.resume()
        record(producer, Delete("b"))
        all_sent(producer)
        for topic in (foo, bar):
            assert [name for name, _ in log_of(local_kafka.bootstrap_servers, topic)[0][0].headers][
                -1
            ] == "record-signature"
            with Replica({"bootstrap.servers": local_kafka.bootstrap_servers}, topic, header_stack=stack) as replica:
                snapshot = replica.wait_ready(60)
                assert {key: found.value for key, found in snapshot.items()} == {b"a": b"1" * 1000}
                assert snapshot["a"].header("content-type") == b"text/plain"
                assert snapshot["a"].header("transaction-id") == b"structures/1"


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # the thread fails on purpose
@pytest.mark.parametrize("fails", [False, True])
def test_an_observer_may_close_the_producer(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, database: str, fails: bool
) -> None:
    """Its threads end, and another instance takes over at once; the producer can be started again, and closed."""
    topic = kafka_topic(config=KEEP)
    settings = settings_of(local_kafka.bootstrap_servers, topic, database, lease_s=3600.0)
    refused: list[UsageError] = []

    def end(notice: Notice) -> None:
        if isinstance(notice, Takeover) and not refused:
            producer.close()
            try:
                producer.start()
            except UsageError as error:
                refused.append(error)
            if fails:
                raise SystemExit

    before = {*threading.enumerate()}
    producer = StructureProducer(settings, observers=[end])
    producer.start()
    wait_until(lambda: not {each for each in threading.enumerate() if each not in before}, "all threads have ended")
    assert "was closed by this observer" in str(refused[0])
    assert producer.status().owner is None
    assert not producer.leads
    with StructureProducer(settings) as other:
        record(other, Put("a", b"1"))
        all_sent(other)
    with producer.start():
        wait_until(lambda: producer.leads, "it leads again")
        record(producer, Put("b", b"1"))
        all_sent(producer)
    assert transactions_of(local_kafka.bootstrap_servers, topic) == [(1, 1), (2, 1)]
