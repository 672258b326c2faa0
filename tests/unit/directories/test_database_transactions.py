"""The rule by which a version is known to consist of whole database transactions."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kafka_replica import Change, RocksStore
from kafka_replica.directories import DatabaseTransactions
from kafka_replica.errors import (
    ConfigurationError,
    DataError,
    KafkaReplicaError,
    NotReadyError,
    ReplicaClosedError,
    WaitTimeoutError,
)
from kafka_replica.records import Position
from kafka_replica.testing import FakeKafka, FakeTopic

WAIT_S = 60.0


def status(kind: str, *, has_schema: bool = False) -> bytes:
    """Return a record of the transaction topic."""
    event = {"status": kind, "id": "571:53195829", "event_count": None}
    return json.dumps({"schema": {}, "payload": event} if has_schema else event).encode()


@pytest.fixture
def kafka() -> FakeKafka:
    """Return a Kafka with a table and the transaction topic."""
    kafka = FakeKafka()
    for topic in ("table", "transaction"):
        kafka.topic(topic)
    return kafka


def write(kafka: FakeKafka, *records: tuple[str, str, bytes | None]) -> Position:
    """Write records in a Kafka transaction; return the position of the commit."""
    with kafka.transaction() as transaction:
        for topic, key, value in records:
            if value is None:
                transaction.delete(key, topic=topic)
            else:
                transaction.put(key, value, topic=topic)
    return transaction.committed.position


def test_versions_that_end_with_a_transaction(kafka: FakeKafka) -> None:
    """A version counts if the newest record of the topic is an END, whichever keys the records have."""
    with kafka.replica("table", "transaction") as replica:
        with DatabaseTransactions(replica, "transaction") as transactions:
            write(kafka, ("table", "a", b"0"), ("transaction", "1:1", status("BEGIN")))
            replica.wait_ready(WAIT_S)
            with pytest.raises(NotReadyError, match="has no END yet"):
                transactions.snapshot()
            with pytest.raises(WaitTimeoutError):
                transactions.wait_ready(0.05)
            write(kafka, ("table", "a", b"1"), ("transaction", "1:2", status("END", has_schema=True)))
            assert transactions.wait_ready(WAIT_S).of("table")["a"].value == b"1"
            position = write(kafka, ("table", "a", b"2"), ("transaction", "0", status("BEGIN")))
            replica.wait_for(position, WAIT_S)
            assert shown(transactions) == b"1"
            write(kafka, ("transaction", "1:2", None))  # an old END is removed
            position = write(kafka, ("table", "a", b"3"))
            replica.wait_for(position, WAIT_S)
            assert shown(transactions) == b"1"
            replica.wait_for(write(kafka, ("transaction", "0", status("END"))), WAIT_S)
            until_shown(transactions, b"3")
            write(kafka, ("table", "a", b"4"))  # of no transaction that this connector tells of
            until_shown(transactions, b"4")
            write(kafka, ("table", "a", b"5"), ("transaction", "0", None))  # the newest END is removed
            until_last(transactions, "BEGIN")
            assert shown(transactions) == b"4"
            write(kafka, ("table", "a", b"5"), ("transaction", "2", status("END")))
            until_shown(transactions, b"5")
        with DatabaseTransactions(replica, "transaction") as begun:
            assert begun.wait_ready(WAIT_S).of("table")["a"].value == b"5"
            assert "version" in repr(begun)


def shown(transactions: DatabaseTransactions) -> bytes | None:
    """Return the value in the version shown."""
    return transactions.snapshot().of("table")["a"].value


def until_shown(transactions: DatabaseTransactions, value: bytes) -> None:
    """Wait until the version shown has a value."""
    with transactions._changed:
        assert transactions._changed.wait_for(lambda: shown(transactions) == value, WAIT_S)


def until_last(transactions: DatabaseTransactions, kind: str) -> None:
    """Wait until the newest record of the topic is a BEGIN or an END."""
    end_s = time.monotonic() + WAIT_S
    while transactions._last is None or transactions._last.value != status(kind):
        assert time.monotonic() < end_s
        time.sleep(0.01)


@pytest.mark.parametrize("value", [b"{}", b"no JSON", b'{"status":"MIDDLE"}', b'{"payload":[]}', b"[]"])
def test_another_topic_is_an_error_that_names_the_record(kafka: FakeKafka, value: bytes) -> None:
    """A topic that is not a transaction topic is an error that names the record."""
    write(kafka, ("table", "a", b"0"), ("transaction", "1", value))
    with kafka.replica("table", "transaction") as replica:
        transactions = DatabaseTransactions(replica, "transaction")
        with pytest.raises(KafkaReplicaError, match="the record at transaction-0, offset 0 is not a BEGIN or END"):
            transactions.wait_ready(WAIT_S)
        with pytest.raises(KafkaReplicaError, match=r"name the transaction topic of Debezium, PREFIX\.transaction"):
            transactions.snapshot()


@pytest.mark.parametrize("end", ["failed", "closed"])
@pytest.mark.thorough
def test_a_wait_raises_the_error_of_an_ended_replica(kafka: FakeKafka, end: str) -> None:
    """A call that waits without limit for a proof raises the error of the replica."""
    write(kafka, ("table", "a", b"0"), ("transaction", "1", status("BEGIN")))
    with kafka.replica("table", "transaction") as replica:
        replica.wait_ready(WAIT_S)
        transactions = DatabaseTransactions(replica, "transaction")
        with ThreadPoolExecutor() as pool:
            waiting = pool.submit(transactions.wait_ready)
            if end == "failed":
                kafka.fail(DataError("the disk is on fire"))
            else:
                replica.close()
            with pytest.raises(DataError if end == "failed" else ReplicaClosedError):
                waiting.result(WAIT_S)


def test_after_a_restart_the_version_that_the_store_has_kept_is_not_enough(
    kafka: FakeKafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The replica shows it before it is ready; a slow listener must not let it be the result of the wait."""
    write(kafka, ("table", "a", b"old"), ("transaction", "1", status("END")))
    with kafka.replica("table", "transaction", store=RocksStore(tmp_path / "store")) as replica:
        replica.wait_ready(WAIT_S)
    write(kafka, ("table", "a", b"new"), ("transaction", "1", status("END")))
    examine = DatabaseTransactions._is_whole

    def slowly(transactions: DatabaseTransactions, change: Change) -> bool:
        if not change.initial:
            time.sleep(0.2)  # the wait would end meanwhile, if the kept version were enough
        return examine(transactions, change)

    monkeypatch.setattr(DatabaseTransactions, "_is_whole", slowly)
    replica = kafka.replica("table", "transaction", store=RocksStore(tmp_path / "store"))
    transactions = DatabaseTransactions(replica, "transaction")
    with replica:
        assert transactions.wait_ready(WAIT_S).of("table")["a"].value == b"new"


def test_closing_ends_a_wait(kafka: FakeKafka) -> None:
    """The message does not blame the timeout."""
    write(kafka, ("table", "a", b"0"), ("transaction", "1", status("BEGIN")))
    with kafka.replica("table", "transaction") as replica, ThreadPoolExecutor() as pool:
        replica.wait_ready(WAIT_S)
        transactions = DatabaseTransactions(replica, "transaction")
        waiting = pool.submit(transactions.wait_ready, WAIT_S)
        transactions.close()
        with pytest.raises(WaitTimeoutError, match="of transaction: it was closed"):
            waiting.result(WAIT_S)


@pytest.mark.timeout(60)
def test_closing_in_a_forked_process_does_not_wait_for_a_thread_that_is_not_there(kafka: FakeKafka) -> None:
    """The other thread holds the lock for as long as closing takes."""
    with kafka.replica("table", "transaction") as replica, ThreadPoolExecutor() as pool:
        transactions = DatabaseTransactions(replica, "transaction")
        version = replica.wait_ready(WAIT_S).version
        with transactions._changed:
            # In a forked process no listener runs: here, the listener must not wait for the lock meanwhile.
            assert transactions._changed.wait_for(lambda: transactions._followed == version, WAIT_S)
            pool.submit(transactions.close).result(WAIT_S)


def test_a_topic_that_proves_nothing() -> None:
    """The topic must have one partition, and the replica must follow it together with tables."""
    kafka = FakeKafka()
    FakeTopic("transaction", 2, kafka=kafka)
    FakeTopic("table", kafka=kafka)
    with kafka.replica("table", "transaction") as replica:
        write(kafka, ("transaction", "1", status("END")))
        with pytest.raises(KafkaReplicaError, match="transaction has 2 partitions"):
            DatabaseTransactions(replica, "transaction").wait_ready(WAIT_S)
        with pytest.raises(ConfigurationError, match="'shop' is not one of the replica's topics"):
            DatabaseTransactions(replica, "shop")
    with pytest.raises(ReplicaClosedError):
        DatabaseTransactions(replica, "transaction")
    with (
        kafka.replica("transaction") as alone,
        pytest.raises(ConfigurationError, match="a replica of transaction alone shows no tables"),
    ):
        DatabaseTransactions(alone, "transaction")
