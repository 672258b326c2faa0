"""A table source on a real PostgreSQL and a real Kafka: nothing is skipped, nothing is written twice."""

from __future__ import annotations

import random
import signal
import uuid
from collections import Counter
from typing import Any

import psycopg
import pytest
from confluent_kafka import KafkaException

from kafka_replica.embedded import LocalKafka
from kafka_replica.errors import RecordNotSentError
from kafka_replica.producer.errors import ProducerConflictError, SourceError
from kafka_replica.producer.notices.notices import (
    Acknowledgement,
    DatabaseWait,
    Notice,
    Retry,
    StandBy,
    TableComparison,
    Takeover,
)
from kafka_replica.producer.postgres import TableSource, claim, compare
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.broker.kafka_tools import ends
from support.effort import first_in_usual, usual_or_long
from support.producer.postgres_tools import LocalPostgres, back_up, restore
from support.producer.producer_tools import EVERY_COMMIT_IS_SLOW
from support.producer.table_tools import (
    TABLE,
    committed_values,
    last_values,
    open_connection,
    source_process,
    table_rows,
    table_settings,
)
from support.producer.table_writers import write, writing
from support.waiting import wait_until

STEPS = ["taken up", "queried"]
STEPS_OF_TRANSACTIONS = ["begun", "record", "handed over", "committed"]
ROUNDS = usual_or_long(1, 2, 5)
NO_CLEANING = {"min.compaction.lag.ms": "600000"}


@pytest.fixture
def database(postgres: LocalPostgres) -> str:
    """A fresh database with a table."""
    return _with_table(postgres)


def _with_table(server: LocalPostgres) -> str:
    url = server.url(f"test_{uuid.uuid4().hex[:12]}")
    with open_connection(url) as connection:
        connection.execute(TABLE)
    return url


class Notices(list[Notice]):
    """The notices of a source."""

    def of(self, kind: type[Any]) -> list[Any]:
        """Return those of one kind."""
        return [each for each in self if isinstance(each, kind)]

    def sent(self) -> int:
        """Return the number of records that were sent."""
        return sum(each.messages for each in self.of(Acknowledgement))


def check_nothing_twice(bootstrap: str, topic: str) -> dict[str, int]:
    """Check that each row version was written at most once; return the version of each key."""
    records = committed_values(bootstrap, topic)
    counts = Counter((key, value["version"]) for key, value in records if value is not None)
    assert {each: count for each, count in counts.items() if count > 1} == {}
    return {key: value["version"] for key, value in last_values(records).items()}


@pytest.mark.parametrize("kafka", first_in_usual([{}, EVERY_COMMIT_IS_SLOW], 1), ids=["fast", "slow"])
def test_rows_become_records(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, database: str, kafka: dict[str, Any]
) -> None:
    """Inserts and updates become records, an inactive row a tombstone; a comparison finds the deleted row."""
    bootstrap, topic, notices = local_kafka.bootstrap_servers, kafka_topic(config=NO_CLEANING), Notices()
    settings = table_settings(bootstrap, topic, database, camel_case=True, kafka=kafka)
    with open_connection(database) as connection:
        connection.execute("INSERT INTO item (item_key, version) SELECT 'k' || n, 1 FROM generate_series(1, 100) n")
        with TableSource(settings, observers=[notices.append]) as source:
            wait_until(lambda: notices.sent() == 100, "all rows are copied")
            connection.execute("UPDATE item SET version = 2, updated_at = '1999-01-01' WHERE item_key = 'k1'")
            connection.execute("UPDATE item SET is_active = false WHERE item_key = 'k2'")
            wait_until(lambda: notices.sent() == 102, "changes are copied")
            connection.execute("DELETE FROM item WHERE item_key = 'k3'")
            source.request_comparison()
            wait_until(lambda: bool(notices.of(TableComparison)), "it is compared")
        assert source.failure is None
        found = last_values(committed_values(bootstrap, topic))
        assert {key: value["version"] for key, value in found.items()} == table_rows(connection)
        assert set(found["k1"]) == {"id", "itemKey", "version", "isActive", "updatedAt"}
        assert found["k1"]["updatedAt"] == "1999-01-01T00:00:00Z"
        assert [each[1:] for each in notices.of(TableComparison)] == [(0, 1)]


def test_a_long_interval_delays_neither_a_comparison_nor_closing(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, database: str
) -> None:
    """A source that waits for its next snapshot compares on request, and closes, without delay."""
    bootstrap, topic = local_kafka.bootstrap_servers, kafka_topic(config=NO_CLEANING)
    notices = Notices()
    with (
        open_connection(database) as connection,
        TableSource(table_settings(bootstrap, topic, database, poll_s=3600.0), observers=[notices.append]) as source,
    ):
        write(connection, "a")
        wait_until(lambda: source._hint is not None, "it waits")
        write(connection, "b")
        source.request_comparison()
        wait_until(lambda: bool(notices.of(TableComparison)), "it is compared")
        source.close()
        assert source._thread is not None
        assert not source._thread.is_alive()
    assert check_nothing_twice(bootstrap, topic).keys() == {"a", "b"}


class NaiveReader:
    """Read by timestamp and id, as the JDBC connector does."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._last: tuple[Any, Any] = ("-infinity", 0)
        self.found: dict[str, int] = {}

    def read(self) -> None:
        """Read rows that are newer than the last one."""
        query = "SELECT item_key, version, updated_at, id FROM item WHERE (updated_at, id) > (%s, %s) ORDER BY 3, 4"
        for key, version, moment, number in self._connection.execute(query, self._last).fetchall():
            self.found[key], self._last = version, (moment, number)


@pytest.mark.parametrize("savepoint", [False, True], ids=["plain", "savepoint"])
def test_a_late_commit_is_not_skipped(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, database: str, savepoint: bool
) -> None:
    """A row of an earlier transaction that commits later is copied; a reader by timestamp and id skips it."""
    bootstrap, topic, notices = local_kafka.bootstrap_servers, kafka_topic(config=NO_CLEANING), Notices()
    with open_connection(database) as early, open_connection(database) as late, open_connection(database) as other:
        naive = NaiveReader(other)
        with TableSource(table_settings(bootstrap, topic, database), observers=[notices.append]) as source:
            late.execute("BEGIN")
            if savepoint:
                late.execute("SELECT pg_current_xact_id()")
                late.execute("SAVEPOINT inner_part")
            write(late, "late")
            write(early, "early")
            naive.read()
            wait_until(lambda: notices.sent() == 1, "the committed row is copied while the other transaction is open")
            late.execute("COMMIT")
            naive.read()
            wait_until(lambda: notices.sent() == 2, "the late row is copied")
        assert source.failure is None
        assert check_nothing_twice(bootstrap, topic) == table_rows(other)
        assert set(naive.found) == {"early"}, "the naive reader has skipped the late row"


@pytest.mark.long
def test_kills_during_concurrent_writes_lose_no_row_version(own_postgres: LocalPostgres) -> None:
    """Sources, the broker and the database are killed during concurrent writes with late commits.

    The topic then equals the table, and no row version is in it twice.
    """
    database = _with_table(own_postgres)
    dice = random.Random(5)
    with LocalKafka() as kafka:
        topic = kafka.create_topic("items", config={"cleanup.policy": "compact", **NO_CLEANING})
        settings = table_settings(kafka.bootstrap_servers, topic, database)
        with writing(database):
            late = [f"{step}:{dice.randint(1, 6)}" for step in STEPS_OF_TRANSACTIONS * ROUNDS]
            for step in STEPS + late:
                with source_process(settings, step) as life:
                    assert life.wait(90) == -signal.SIGKILL, step
            with source_process(settings) as life:
                for trouble in ("broker killed", "broker restarted", "database killed") * ROUNDS:
                    before = _end(kafka)
                    if trouble == "broker killed":
                        kafka.kill()
                        kafka.start()
                    elif trouble == "broker restarted":
                        kafka.restart()
                    else:
                        own_postgres.kill()
                        own_postgres.start()
                    after = f"it goes on after: {trouble}"
                    wait_until(lambda before=before: _end(kafka) > before + 50, after)  # type: ignore[misc]
                assert life.poll() is None
        with source_process(settings), open_connection(database) as connection:
            wait_until(
                lambda: _versions(kafka.bootstrap_servers, topic) == table_rows(connection), "everything is copied", 180
            )
            assert check_nothing_twice(kafka.bootstrap_servers, topic) == table_rows(connection)


def _end(kafka: LocalKafka) -> int:
    try:
        return ends(kafka.bootstrap_servers, "items")[0]
    except KafkaException:  # a broker that has just started does not know its partitions yet
        return -1


def _versions(bootstrap: str, topic: str) -> dict[str, int]:
    return {key: value["version"] for key, value in last_values(committed_values(bootstrap, topic)).items()}


def test_the_second_instance_takes_over_when_the_first_ends(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, database: str
) -> None:
    """The second instance stands by, and takes over when the first one ends."""
    bootstrap, topic = local_kafka.bootstrap_servers, kafka_topic(config=NO_CLEANING)
    settings = table_settings(bootstrap, topic, database)
    first_notices, second_notices = Notices(), Notices()
    with open_connection(database) as connection, TableSource(settings, observers=[first_notices.append]) as first:
        wait_until(lambda: bool(first_notices.of(Takeover)), "the first instance copies")
        with TableSource(settings, observers=[second_notices.append]) as second:
            wait_until(lambda: bool(second_notices.of(StandBy)), "the second instance stands by")
            write(connection, "a")
            wait_until(lambda: first_notices.sent() == 1, "the first instance has copied")
            first.close()
            wait_until(lambda: bool(second_notices.of(Takeover)), "the second instance takes over")
            write(connection, "b")
            wait_until(lambda: second_notices.sent() == 1, "the second instance has copied")
        assert (first.failure, second.failure) == (None, None)
        assert check_nothing_twice(bootstrap, topic) == table_rows(connection)


@pytest.mark.long
def test_an_outage_of_either_side_is_waited_for(own_postgres: LocalPostgres) -> None:
    """The notices describe the outage in words; copying continues without any action."""
    database, notices = _with_table(own_postgres), Notices()
    with LocalKafka() as kafka:
        topic = kafka.create_topic("items", config={"cleanup.policy": "compact", **NO_CLEANING})
        settings = table_settings(kafka.bootstrap_servers, topic, database, timeout_s=3.0)
        with TableSource(settings, observers=[notices.append]) as source:
            wait_until(lambda: bool(notices.of(Takeover)), "it copies")
            own_postgres.kill()
            wait_until(lambda: bool(notices.of(DatabaseWait)), "the database is awaited")
            own_postgres.start()
            kafka.kill()
            with open_connection(database) as connection:
                write(connection, "a")
                wait_until(lambda: bool(notices.of(Retry)), "Kafka is awaited")
                kafka.start()
                wait_until(lambda: notices.sent() == 1, "the row is copied")
                assert check_nothing_twice(kafka.bootstrap_servers, topic) == table_rows(connection)
        assert source.failure is None
    assert "PostgreSQL reports" in notices.of(DatabaseWait)[0].reason
    assert "nothing is lost" in notices.of(Retry)[0].reason


def delete_some(connection: psycopg.Connection[object]) -> None:
    """Delete a third of the rows; the other writers lock rows in another order, so PostgreSQL may refuse at first."""
    while True:
        try:
            connection.execute("DELETE FROM item WHERE id % 3 = 0")
        except psycopg.errors.DeadlockDetected:
            continue
        return


def test_a_comparison_during_writes_changes_nothing_else(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, database: str
) -> None:
    """Comparisons while others write: no row version is written twice, and deleted rows disappear."""
    bootstrap, topic, notices = local_kafka.bootstrap_servers, kafka_topic(config=NO_CLEANING), Notices()
    settings = table_settings(bootstrap, topic, database, compare_interval_s=0.3)
    with open_connection(database) as connection, writing(database):
        with TableSource(settings, observers=[notices.append]) as source:
            wait_until(lambda: notices.sent() > 30, "rows are copied")
            delete_some(connection)
            count = len(notices.of(TableComparison))
            wait_until(lambda: len(notices.of(TableComparison)) > count + 3, "it is compared")
        assert source.failure is None
    with open_connection(database) as connection:
        assert compare(settings) is not None
        assert check_nothing_twice(bootstrap, topic) == table_rows(connection)
        assert sum(each.deleted for each in notices.of(TableComparison)) > 0


def test_a_topic_with_records_is_adopted_by_a_comparison(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, database: str
) -> None:
    """Without a position, a topic with records is refused; a comparison writes only what differs."""
    bootstrap, topic, notices = local_kafka.bootstrap_servers, kafka_topic(config=NO_CLEANING), Notices()
    settings = table_settings(bootstrap, topic, database)
    with open_connection(database) as connection:
        for key in ("a", "b"):
            write(connection, key)
        compare(settings)
        connection.execute("DELETE FROM item WHERE item_key = 'b'")
        write(connection, "a")
        other = table_settings(bootstrap, topic, database, id="another")
        with pytest.raises(SourceError, match="has 2 keys, but no position"):
            TableSource(other).run()
        found = compare(other, dry_run=True)
        assert found is not None
        assert (set(found.changed), found.deleted) == ({b"a"}, (b"b",))
        assert compare(other) == found
        with TableSource(other, observers=[notices.append]):
            write(connection, "c")
            wait_until(lambda: notices.sent() == 1, "it goes on from there")
        assert check_nothing_twice(bootstrap, topic) == table_rows(connection)
        connection.execute("DELETE FROM item")
        with pytest.raises(SourceError, match="set allow_empty"):
            compare(other)


@pytest.mark.long
@pytest.mark.parametrize("change", ["restored", "column", "setting", "moved"])
def test_a_position_that_does_not_fit_leads_to_a_comparison(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, own_postgres: LocalPostgres, change: str
) -> None:
    """A new column, another setting or a restored database: the source compares by itself; a moved one is claimed."""
    database = _with_table(own_postgres)
    bootstrap, topic, notices = local_kafka.bootstrap_servers, kafka_topic(config=NO_CLEANING), Notices()
    settings, more = table_settings(bootstrap, topic, database), {}
    with open_connection(database) as connection:
        write(connection, "a")
    copy = back_up(own_postgres) if change == "restored" else None
    with open_connection(database) as connection:
        write(connection, "lost")
    compare(settings)
    if copy is not None:
        restore(own_postgres, copy)
    elif change == "column":
        with open_connection(database) as connection:
            connection.execute("ALTER TABLE item ADD COLUMN note text DEFAULT 'none'")
    elif change == "setting":
        more["camel_case"] = True
    else:
        database = _with_table(own_postgres)
        with open_connection(database) as connection:
            write(connection, "a")
        with pytest.raises(ProducerConflictError, match="source claim"):
            TableSource(table_settings(bootstrap, topic, database)).run()
        claim(table_settings(bootstrap, topic, database))
    again = table_settings(bootstrap, topic, database, **more)
    with TableSource(again, observers=[notices.append]) as source, open_connection(database) as connection:
        wait_until(lambda: bool(notices.of(TableComparison)), "it compares")
        write(connection, "b")
        wait_until(lambda: len(notices.of(Acknowledgement)) == 2, "the producer continues")
        assert source.failure is None
        assert _versions(bootstrap, topic) == table_rows(connection)


def test_a_commit_that_a_crash_can_undo_is_not_copied(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, own_postgres: LocalPostgres
) -> None:
    """A row is on disk before it is copied, also if its own commit did not wait: it survives a crash."""
    database, bootstrap, topic = _with_table(own_postgres), local_kafka.bootstrap_servers, kafka_topic()
    with open_connection(database) as connection:
        connection.execute("ALTER SYSTEM SET wal_writer_delay = '10s'")
        connection.execute("SELECT pg_reload_conf()")
        with TableSource(table_settings(bootstrap, topic, database)) as source:
            for key in ("first", "second"):
                connection.execute("SET synchronous_commit = off")
                write(connection, key)
                wait_until(lambda: _versions(bootstrap, topic) == table_rows(connection), "the row is copied")
            own_postgres.kill()
    assert source.failure is None
    own_postgres.start()
    with open_connection(database) as connection:
        assert set(table_rows(connection)) == {"first", "second"}
        assert _versions(bootstrap, topic) == table_rows(connection)


def test_a_row_that_cannot_be_sent_ends_the_copying(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, database: str
) -> None:
    """The error names the key and the limit; no row of the snapshot is visible, and nothing is retried."""
    bootstrap, topic, notices = local_kafka.bootstrap_servers, kafka_topic(), Notices()
    settings = table_settings(bootstrap, topic, database, kafka={"message.max.bytes": 1000})
    with open_connection(database) as connection:
        write(connection, "small")
        write(connection, "large" * 500)
    with pytest.raises(RecordNotSentError, match=r"largelarge.* raise max\.request\.size"):
        TableSource(settings, observers=[notices.append]).run()
    assert notices.of(Retry) == []
    assert committed_values(bootstrap, topic) == []
