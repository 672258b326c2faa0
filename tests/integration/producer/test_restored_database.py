"""A restored database, or one that lost commits in a failover: no unsent transaction is treated as sent.

Kafka and such a database have two histories: both have a transaction 10, and the two differ.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_replica.embedded import LocalKafka
from kafka_replica.errors import UsageError
from kafka_replica.producer import Put, StructureProducer
from kafka_replica.producer.changes.fingerprint import Fingerprint
from kafka_replica.producer.errors import OutboxError
from kafka_replica.producer.outbox import Mode
from kafka_replica.producer.outbox.cleanup import Cleanup
from kafka_replica.producer.outbox.queue import Queue
from kafka_replica.producer.relay import kafka_session as link
from kafka_replica.producer.relay.progress import Progress, progress_value, read_progress
from kafka_replica.producer.relay.start import FirstStart
from kafka_replica.producer.settings.producer_settings import ProducerSettings
from kafka_replica.records import Partition
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.effort import first_in_usual
from support.producer.postgres_tools import (
    LocalPostgres,
    back_up,
    promote,
    restore,
    running_postgres,
    standby_of,
    stop_replication,
)
from support.producer.producer_tools import lease_holder, log_of, process, settings_of, transactions_of
from support.waiting import wait_until

KEEP = {"cleanup.policy": "compact", "min.compaction.lag.ms": "600000"}
LONG_S = 120.0


class Database:
    """A database that can be copied and restored from the copy."""

    def __init__(self, url: str, copy: Callable[[], Callable[[], None]]) -> None:
        self.url = url
        self.copy = copy
        """Copy it; the returned function restores the copy."""


@pytest.fixture
def postgres_server() -> Iterator[LocalPostgres]:
    """A separate server, whose files are exchanged."""
    with running_postgres() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    """A database that can be copied, of each kind in turn."""
    if request.param == "postgresql":
        server: LocalPostgres = request.getfixturevalue("postgres_server")

        def copy() -> Callable[[], None]:
            made = back_up(server)
            return lambda: restore(server, made)

        return Database(server.url("registry"), copy)
    file = tmp_path / "o.db"

    def copy_file() -> Callable[[], None]:
        made = Path(shutil.copy(file, tmp_path / f"{uuid.uuid4().hex}.db"))  # no process has it open: the log is in it
        return lambda: _replace(file, made)

    return Database(f"sqlite:///{file}", copy_file)


def _replace(file: Path, copy: Path) -> None:
    for end in ("-wal", "-shm"):
        file.with_name(file.name + end).unlink(missing_ok=True)
    shutil.copy(copy, file)


def record(producer: StructureProducer, name: str, numbers: range) -> None:
    """Record one transaction for each number, with keys that name the recorder."""
    for number in numbers:
        with producer.engine.begin() as connection:
            assert producer.record(connection, [Put(f"{name} {number}", b"1")]) == [number]


def publish(settings: ProducerSettings, name: str, numbers: range) -> None:
    """Record, and publish until everything is sent."""
    with StructureProducer(settings) as producer:
        record(producer, name, numbers)
        wait_until(lambda: producer.status().pending == 0, f"all are sent: {producer.status()}", LONG_S)


def suspended(producer: StructureProducer) -> str:
    """Wait until a producer has suspended itself, and return why."""

    def is_failed() -> bool:
        try:
            return producer.status().mode is Mode.FAILED
        except OutboxError:
            return False

    wait_until(is_failed, "it suspends itself", LONG_S)
    return producer.status().reason or ""


def contents(bootstrap: str, topic: str) -> set[str]:
    """Return the final keys of the topic."""
    found: dict[str, bytes | None] = {record.key.decode(): record.value for record, _ in log_of(bootstrap, topic)}
    return {key for key, value in found.items() if value is not None}


def _of_an_older_version(tx_id: int, fingerprint: Fingerprint, _database_id: str, _position: None) -> bytes:
    return progress_value(tx_id, Fingerprint(fingerprint.recorded_ms))


@pytest.mark.parametrize("progress", ["with a digest", pytest.param("of an older version", marks=pytest.mark.long)])
def test_a_backup_is_restored_and_recorded_on(
    database: Database,
    progress: str,
    kafka_topic: TopicMaker,
    local_kafka: LocalKafka,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A backup of transaction 5 is restored while Kafka has 10; after 7 more, a new incarnation makes both equal."""
    topic, bootstrap = kafka_topic(config=KEEP), local_kafka.bootstrap_servers
    settings = settings_of(bootstrap, topic, database.url, prefix=topic)
    with monkeypatch.context() as patch:
        if progress == "of an older version":
            patch.setattr(link, "progress_value", _of_an_older_version)
        publish(settings, "kept", range(1, 6))
        restore_copy = database.copy()
        publish(settings, "lost", range(6, 11))
    restore_copy()
    with closing(StructureProducer(settings)) as recorder:
        record(recorder, "new", range(6, 13))
    with StructureProducer(settings) as producer:
        reason = suspended(producer)
        assert "transaction 10 has arrived" in reason
        assert "restored from a backup" in reason
        assert "flush --new-incarnation" in reason
        assert (producer.status().sent, producer.status().pending) == (5, 7), "nothing is recorded for sent"
        producer.resume()
        assert suspended(producer) == reason, "nor later"
        assert len(transactions_of(bootstrap, topic)) == 10, "nothing was sent"
        assert producer.flush(new_incarnation=True) == [13, 14]
        wait_until(lambda: producer.status().pending == 0, f"all are sent: {producer.status()}", LONG_S)
        with pytest.raises(UsageError, match="suspend it first"):
            producer.flush(new_incarnation=True)
    assert contents(bootstrap, topic) == {
        *(f"kept {number}" for number in range(1, 6)), *(f"new {number}" for number in range(6, 13))
    }  # fmt: skip
    publish(settings, "later", range(15, 17))
    numbers = [number for number, _ in transactions_of(bootstrap, topic)]
    assert numbers == [*range(1, 11), *range(6, 17)]


@pytest.mark.parametrize("database", first_in_usual(["sqlite", "postgresql"], 1), indirect=True)
def test_a_restored_database_without_new_records_is_detected(
    database: Database, kafka_topic: TopicMaker, local_kafka: LocalKafka
) -> None:
    """A producer detects transactions in Kafka that the database never recorded."""
    topic, bootstrap = kafka_topic(config=KEEP), local_kafka.bootstrap_servers
    settings = settings_of(bootstrap, topic, database.url, prefix=topic)
    publish(settings, "kept", range(1, 3))
    restore_copy = database.copy()
    publish(settings, "lost", range(3, 5))
    restore_copy()
    with StructureProducer(settings) as producer:
        assert "only 2 were ever recorded" in suspended(producer)
        producer.flush(new_incarnation=True)
        wait_until(lambda: producer.status().pending == 0, f"all are sent: {producer.status()}", LONG_S)
    assert contents(bootstrap, topic) == {"kept 1", "kept 2"}


@pytest.fixture
def standby(postgres_server: LocalPostgres) -> Iterator[LocalPostgres]:
    """An asynchronous standby of that server, which is up to date."""
    server = standby_of(postgres_server)
    yield server
    server.stop()


@pytest.mark.long
@pytest.mark.parametrize("recorded_since", [5, 1])
def test_a_failover_loses_commits_while_the_producer_runs(
    postgres_server: LocalPostgres,
    standby: LocalPostgres,
    kafka_topic: TopicMaker,
    local_kafka: LocalKafka,
    recorded_since: int,
) -> None:
    """After a failover to a lagging standby, the producer, still connected to Kafka, checks the database again."""
    topic, bootstrap = kafka_topic(config=KEEP), local_kafka.bootstrap_servers
    postgres_server.url("registry")
    hosts = "&".join(f"host=127.0.0.1:{server.port}" for server in (postgres_server, standby))
    url = f"postgresql+psycopg://app:{standby.password}@/registry?{hosts}&target_session_attrs=read-write"
    settings = settings_of(bootstrap, topic, url, prefix=topic)
    publish(settings, "kept", range(1, 4))
    wait_until(lambda: _is_replayed(postgres_server, standby), "the standby has it all", LONG_S)
    stop_replication(standby)
    with closing(StructureProducer(settings)) as recorder, StructureProducer(settings) as producer:
        record(recorder, "lost", range(4, 7))
        wait_until(lambda: producer.status().sent == 6, "6 are sent", LONG_S)
        postgres_server.kill()
        promote(standby)
        record(recorder, "new", range(4, 4 + recorded_since))
        reason = suspended(producer)
        assert "transaction 6" in reason
        assert "failover" in reason
        assert producer.status().sent == 3
        assert len(transactions_of(bootstrap, topic)) == 6
        producer.flush(new_incarnation=True)
        wait_until(lambda: producer.status().pending == 0, f"all are sent: {producer.status()}", LONG_S)
    assert contents(bootstrap, topic) == {
        *(f"kept {number}" for number in range(1, 4)), *(f"new {number}" for number in range(4, 4 + recorded_since))
    }  # fmt: skip


def _is_replayed(primary: LocalPostgres, standby: LocalPostgres) -> bool:
    with primary.connect("postgres") as written, standby.connect("postgres") as followed:
        (end,) = written.execute("SELECT pg_current_wal_lsn()::text").fetchone() or ("",)
        return followed.execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", [end]).fetchone() == (True,)


class BeginsAgain(StructureProducer):
    """An operator suspends the producer, and begins a new incarnation, while transactions wait for their marks."""

    def _step(self, name: str) -> None:
        if name == "marking" and self.status().recorded == 3:
            self.suspend()
            assert self.flush(new_incarnation=True) == [4, 5]


@pytest.mark.long
@pytest.mark.parametrize(("is_killed", "first_start"), [(True, "resume"), (True, "idle"), (False, "resume")])
def test_a_new_incarnation_without_need_repeats_nothing(
    database_url: str, kafka_topic: TopicMaker, local_kafka: LocalKafka, is_killed: bool, first_start: FirstStart
) -> None:
    """Three transactions have arrived, and are not marked yet: they are not sent again, and older values not shown.

    It is not the producer's first start, so that the flush is sent whatever is to be done at the first start.
    """
    topic, bootstrap = kafka_topic(config=KEEP), local_kafka.bootstrap_servers
    settings = settings_of(bootstrap, topic, database_url, prefix=topic)
    with closing(StructureProducer(settings)) as recorder:
        for number in (1, 2, 3):
            with recorder.engine.begin() as connection:
                recorder.record(connection, [Put("k", b"%d" % number)])
        if is_killed:
            with process(settings, die_at="marking") as killed:
                killed.wait(LONG_S)
            assert recorder.status().sent == 0
            for recorded in ([4, 5], [6, 7]):
                recorder.suspend()
                assert recorder.flush(new_incarnation=True) == recorded
    with (StructureProducer if is_killed else BeginsAgain)(replace(settings, first_start=first_start)) as producer:
        wait_until(lambda: producer.status().pending == 0, f"all are sent: {producer.status()}", LONG_S)
        record(producer, "more", range(last := producer.status().recorded + 1, last + 1))
        wait_until(lambda: producer.status().pending == 0, f"all are sent: {producer.status()}", LONG_S)
    assert [record.value for record, _ in log_of(bootstrap, topic)] == [
        b"1",
        b"2",
        b"3",
        *[b"3"] * (1 + is_killed),
        b"1",
    ]
    flushes = [4, 6] if is_killed else [4]
    assert [number for number, _ in transactions_of(bootstrap, topic)] == [1, 2, 3, *flushes, last]


@pytest.mark.long
def test_a_clean_up_is_no_other_history(database_url: str, kafka_topic: TopicMaker, local_kafka: LocalKafka) -> None:
    """After a clean-up of sent content, the time of the last transaction is still compared."""
    topic = kafka_topic(config=KEEP)
    settings = settings_of(local_kafka.bootstrap_servers, topic, database_url, prefix=topic)
    with StructureProducer(settings) as producer:
        for number in (1, 2):
            with producer.engine.begin() as connection:
                producer.record(connection, [Put("a", b"%d" % number)])
        wait_until(lambda: producer.status().pending == 0, "all are sent", LONG_S)
        queue = Queue(producer.engine, producer.id)
        incarnation = producer.status().incarnation
        before = queue.recorded.fingerprint(2)
        while Cleanup(producer.engine, producer.id, keep_s=0).step():
            pass
        assert queue.recorded.fingerprint(2) == before
        assert before is not None
        assert before.digest is None
        assert before.recorded_ms is not None
        holder = lease_holder(producer.engine)
        assert not queue.mark_sent(holder, 3, 9, recorded_ms=1, incarnation=incarnation), "there is no 3"
        other_ms = before.recorded_ms + 1
        assert not queue.mark_sent(holder, 2, 9, recorded_ms=other_ms, incarnation=incarnation), "this is another one"
        assert queue.mark_sent(holder, 2, 9, recorded_ms=before.recorded_ms, incarnation=incarnation)
    publish(settings, "more", range(3, 5))


@pytest.mark.parametrize(
    ("value", "fingerprint"),
    [
        (progress_value(7, Fingerprint(5, "d")), Fingerprint(5, "d")),
        (b'{"tx_id": 7, "recorded_ms": 5}', Fingerprint(5)),
        (b'{"tx_id": 7}', Fingerprint(None)),
    ],
)
def test_progress_records_of_older_versions(value: bytes, fingerprint: Fingerprint) -> None:
    """Progress records of older versions, with less information, are accepted."""
    found = read_progress(value, 3, Partition("p", 0), b"k")
    assert found == Progress(7, 3, fingerprint)
