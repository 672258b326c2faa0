"""Recording, on a real SQLite and a real PostgreSQL: numbers follow the order of commits under concurrency."""

from __future__ import annotations

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from sqlalchemy import Engine, func, inspect, select, text, update
from sqlalchemy.exc import DBAPIError

from kafka_replica.errors import UsageError
from kafka_replica.producer import Change
from kafka_replica.producer.changes.changes import Delete, Put
from kafka_replica.producer.outbox import Mode, Outbox, Status, TransactionKind, migrate, open_database
from kafka_replica.producer.outbox.cleanup import Cleanup
from kafka_replica.producer.outbox.lease import Lease, LeaseLostError
from kafka_replica.producer.outbox.queue import Queue
from kafka_replica.producer.outbox.recorded_transactions import Content, RecordedTransaction
from kafka_replica.producer.outbox.tables import change, counter, lease, metadata, tx
from support.producer.producer_tools import mark_sent
from support.waiting import wait_until


def contents(engine: Engine, tx_id: int, kind: TransactionKind = TransactionKind.CHANGES) -> list[Content]:
    """Return the content of a recorded transaction."""
    with engine.connect() as connection:
        messages = connection.execute(select(tx.c.tx_messages).where(tx.c.tx_id == tx_id)).scalar() or 0
    found = Queue(engine, "structures").recorded.contents(RecordedTransaction(tx_id, kind, 0, 0, messages))
    listed = [Content(*each) for each in found.records]
    assert len(listed) == found.record_count
    return listed


def clean_up(engine: Engine, keep_s: float = 3600.0) -> int:
    """Clean up until nothing is left to do; return the number of deleted content rows."""
    cleanup = Cleanup(engine, "structures", keep_s)
    before = _count(engine)
    while cleanup.step():
        pass
    return before - _count(engine)


def _count(engine: Engine) -> int:
    with engine.connect() as connection:
        return connection.execute(select(func.count()).select_from(change)).scalar_one()


def test_the_tables_are_those_of_the_migrations(engine: Engine) -> None:
    """Columns, their order and nullability are the same in the code and in the database."""
    found = inspect(engine)
    for table in metadata.tables.values():
        columns = [(each["name"], each["nullable"]) for each in found.get_columns(table.name)]
        assert columns == [(each.name, each.nullable) for each in table.columns], table.name
        assert set(found.get_pk_constraint(table.name)["constrained_columns"]) == {c.name for c in table.primary_key}
        assert {each["name"] for each in found.get_indexes(table.name)} == {each.name for each in table.indexes}
    names = [each.name for each in tx.columns]
    assert names == ["tx_id", "producer_id", "tx_status", "tx_last_updated", "tx_size", "tx_messages"]


def test_many_may_migrate_at_once(database_url: str) -> None:
    """Instances that start together on an empty database all succeed."""
    failures: list[BaseException] = []

    def one() -> None:
        engine = open_database(database_url)
        try:
            migrate(engine)
            with engine.begin() as connection:
                Outbox("structures").create(connection, topic="FOO")
        except Exception as error:  # noqa: BLE001 - the test tells it
            failures.append(error)
        finally:
            engine.dispose()

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_rollback_undoes_the_record_and_its_number(engine: Engine, outbox: Outbox) -> None:
    """After a rollback the outbox has no record, and the next transaction gets the same number."""
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE mine (name VARCHAR(20))"))
    with pytest.raises(RuntimeError), engine.begin() as connection:  # noqa: PT012
        connection.execute(text("INSERT INTO mine VALUES ('lost')"))
        assert outbox.record(connection, [Put("a", b"1")]) == [1]
        raise RuntimeError
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO mine VALUES ('kept')"))
        assert outbox.record(connection, [Put("a", b"1", "text/plain"), Put(b"\xff", b"")]) == [1]
    with engine.connect() as connection:
        assert connection.execute(text("SELECT name FROM mine")).scalars().all() == ["kept"]
        row = connection.execute(select(tx)).one()
    assert (row.tx_id, row.producer_id, row.tx_status, row.tx_size, row.tx_messages) == (1, "structures", 0, 3, 2)
    assert abs(row.tx_last_updated - time.time() * 1000) < 60_000
    assert contents(engine, 1) == [Content(b"a", b"1", "text/plain"), Content(b"\xff", b"", None)]


def test_deletions_have_a_transaction_of_their_own_after_the_changes(engine: Engine, outbox: Outbox) -> None:
    """Deletions follow in a separate transaction; for a key that is named twice the last change counts."""
    with engine.begin() as connection:
        changes: list[Change] = [
            Delete("x"),
            Put("a", b"1"),
            Put("y", b"1"),
            Delete("y"),
            Put("a", b"2"),
            Delete("a"),
            Put("a", b"3"),
        ]
        assert outbox.record(connection, changes) == [1, 2]
        assert outbox.record(connection, []) == []
    assert contents(engine, 1) == [Content(b"a", b"3", None)]
    assert contents(engine, 2) == [Content(b"x", None, None), Content(b"y", None, None)]


def test_unchanged_content_is_recorded_again_only_on_request(engine: Engine, outbox: Outbox) -> None:
    """Unchanged content is skipped; other media types, and a return after a deletion, are changes."""
    with engine.begin() as connection:
        assert outbox.record(connection, [Put("a", b"1", "x"), Put("b", b"1")]) == [1]
        assert outbox.record(connection, [Put("b", b"1"), Put("a", b"1", "x")]) == []
        assert outbox.record(connection, [Put("a", b"1", "y"), Put("b", b"1")]) == [2]
        assert outbox.record(connection, [Delete("a")]) == [3]
        assert outbox.record(connection, [Delete("a")]) == []
        assert outbox.record(connection, [Put("a", b"1", "y")]) == [4]
        assert Outbox("structures", skip_unchanged=False).record(connection, [Put("a", b"1", "y")]) == [5]
        assert outbox.record_differences(connection, [Put("a", b"1", "y"), Put("c", b"1")]).tx_ids == [6, 7]
    assert contents(engine, 2) == [Content(b"a", b"1", "y")]
    assert contents(engine, 6) == [Content(b"c", b"1", None)]
    assert contents(engine, 7) == [Content(b"b", None, None)]


def test_a_flush_holds_the_content_of_its_place_in_the_order(engine: Engine, outbox: Outbox) -> None:
    """A flush excludes content that is recorded after it, and pruning removes nothing that it needs."""
    queue = Queue(engine, "structures")
    with engine.begin() as connection:
        outbox.record(connection, [Put("a", b"1"), Put("b", b"1"), Put("c", b"1")])
        outbox.record(connection, [Put("a", b"2"), Delete("b")])
        assert outbox.record_flush(connection) == [4, 5]
        outbox.record(connection, [Put("a", b"3"), Delete("c"), Put("d", b"1")])
    expected = [Content(b"c", b"1", None), Content(b"a", b"2", None)]
    assert contents(engine, 4, TransactionKind.FLUSH) == expected
    assert queue.recorded.keys_as_of(5) == {b"a", b"c"}
    mark_sent(queue, 3)
    assert clean_up(engine) == 3, "a=1, b=1 and the tombstone of b"
    assert contents(engine, 4, TransactionKind.FLUSH) == expected
    mark_sent(queue, 7)
    assert clean_up(engine) == 3, "a=2, c=1 and the tombstone of c"
    assert contents(engine, 8, TransactionKind.FLUSH) == [Content(b"a", b"3", None), Content(b"d", b"1", None)]


def record_concurrently(engine: Engine, level: str) -> dict[int, tuple[int, int]]:
    """Record in four threads at random speed, with rollbacks; return (thread, count) by the assigned number."""
    given: dict[int, tuple[int, int]] = {}
    failures: list[BaseException] = []

    def one(name: int) -> None:
        dice = random.Random(name)
        outbox = Outbox("structures")
        count = 0
        while count < 15:
            try:
                with (
                    engine.connect().execution_options(isolation_level=level) as connection,
                    connection.begin() as begun,
                ):
                    connection.execute(
                        text("SELECT count(*) FROM kafka_producer_tx")
                    ).scalar_one()  # takes its snapshot
                    time.sleep(dice.random() * 0.003)
                    recorded = outbox.record(connection, [Put(f"{name}", b"%d" % count), Put("shared", b"%d" % name)])
                    time.sleep(dice.random() * 0.003)
                    if dice.random() < 0.2:
                        begun.rollback()
                        continue
                given[recorded[0]] = name, count
                count += 1
            except DBAPIError as error:
                if "serialize" not in str(error):
                    failures.append(error)
                    raise
            except Exception as error:
                if "serialize" not in str(error):
                    failures.append(error)
                    raise

    threads = [threading.Thread(target=one, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    return given


@pytest.mark.long
@pytest.mark.parametrize("level", ["READ COMMITTED", "SERIALIZABLE", "REPEATABLE READ"])
def test_numbers_follow_the_order_of_commits(engine: Engine, outbox: Outbox, level: str) -> None:
    """Numbers have no gap and no duplicate, and a reader that sees one sees all before it, with four recorders."""
    if engine.dialect.name == "sqlite" and level != "SERIALIZABLE":
        pytest.skip("SQLite knows one level")
    seen: list[list[int]] = []
    stop = threading.Event()

    def watch() -> None:
        while not stop.is_set():
            with engine.connect() as connection:
                connection.execution_options(kafka_replica_reads=True)
                seen.append(list(connection.execute(select(tx.c.tx_id).order_by(tx.c.tx_id)).scalars()))
            time.sleep(0.001)

    watcher = threading.Thread(target=watch)
    watcher.start()
    given = record_concurrently(engine, level)
    stop.set()
    watcher.join()
    assert sorted(given) == list(range(1, 61))
    assert len({len(numbers) for numbers in seen}) > 5, "the watcher saw it grow"
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in seen)
    for name in range(4):
        counts = [count for _, (who, count) in sorted(given.items()) if who == name]
        assert counts == list(range(15))
    with engine.connect() as connection:  # "shared" is omitted where the previous transaction had the same content
        shared = connection.execute(
            select(change.c.record_value).where(change.c.record_key == b"shared").order_by(change.c.tx_id)
        ).scalars()
        values = [bytes(value) for value in shared]
    assert all(before != after for before, after in pairwise(values))
    writers = [given[number][0] for number in range(1, 61)]
    assert len(values) == 1 + sum(before != after for before, after in pairwise(writers))


def test_a_new_incarnation_waits_for_a_transaction_that_records(engine: Engine, outbox: Outbox) -> None:
    """Neither ends with a deadlock if the other transaction goes to the producer's row after recording."""
    if engine.dialect.name != "postgresql":
        pytest.skip("SQLite has one writer at a time")
    with engine.begin() as connection:
        outbox.suspend(connection)

    def begin_incarnation() -> list[int]:
        with engine.begin() as connection:
            outbox.begin_incarnation(connection)
            return outbox.record_flush(connection)

    waits = text("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()")
    with ThreadPoolExecutor(1) as executor, engine.connect() as recording, engine.connect() as observer:
        observer.execution_options(isolation_level="AUTOCOMMIT")
        outbox.record(recording, [Put("a", b"1")])
        beginning = executor.submit(begin_incarnation)
        wait_until(lambda: observer.execute(waits).rowcount, "the lock is awaited")
        outbox.suspend(recording)
        recording.commit()
        assert beginning.result() == [2, 3]


def test_sequence_numbers_would_be_wrong(engine: Engine) -> None:
    """Numbers of a sequence become visible out of order: the test above can fail."""
    if engine.dialect.name != "postgresql":
        pytest.skip("SQLite has one writer at a time")
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE serial_log (n SERIAL)"))
    with engine.connect() as slow, engine.connect() as fast:
        slow.execute(text("INSERT INTO serial_log DEFAULT VALUES"))
        fast.execute(text("INSERT INTO serial_log DEFAULT VALUES"))
        fast.commit()
        with engine.connect() as reader:
            assert reader.execute(text("SELECT n FROM serial_log")).scalars().all() == [2]
        slow.commit()


def test_sent_is_never_taken_back_and_failure_needs_the_lease(engine: Engine, outbox: Outbox) -> None:
    """A fenced instance can mark nothing as failed; arrived transactions stay marked as sent."""
    queue, old = Queue(engine, "structures"), Lease(engine, "structures", "old", lease_s=2.0)
    assert old.hold()
    with engine.begin() as connection:
        outbox.record(connection, [Put("a", b"1")])
        outbox.record(connection, [Put("a", b"2")])
        outbox.resume(connection)
    new, holder = Lease(engine, "structures", "new", lease_s=2.0), old.holder
    give_up_s = time.monotonic() + 20
    while not new.hold():
        assert time.monotonic() < give_up_s
        time.sleep(0.05)
    assert not old.renew()
    incarnation = queue.view().intent.incarnation
    assert not queue.mark_failed(holder, 1, Status.REFUSED, "too late", incarnation=incarnation)
    assert not queue.mark_sent(holder, 1, 17, incarnation=incarnation)
    for call in (
        lambda: queue.sent_while_leased(holder, incarnation=incarnation),
        lambda: queue.note_identity(holder, "tx-other", incarnation=incarnation),
    ):
        with pytest.raises(LeaseLostError, match="another instance has taken over"):
            call()
    assert queue.sent_while_leased(new.holder, incarnation=incarnation) == 0
    assert (queue.view().intent.mode, queue.view().intent.transactional_id) == (Mode.RUNNING, None)
    mark_sent(queue, 1, 17)
    assert queue.mark_failed(new.holder, 1, Status.REFUSED, "wrong", incarnation=incarnation)
    with engine.connect() as connection:
        assert connection.execute(select(tx.c.tx_status).order_by(tx.c.tx_id)).scalars().all() == [1, 0]
    assert queue.view().intent.mode is Mode.FAILED
    mark_sent(queue, 0, 3)
    # A later mark contains the counts of transactions that are marked already.
    assert queue.mark_sent(new.holder, 1, 17, not_carried={1: 5}, incarnation=incarnation)
    view = queue.view()
    assert view.intent.not_carried == 0
    assert (view.intent.sent_tx_id, view.intent.progress_offset, view.last_tx_id) == (1, 17, 2)
    assert [each.tx_id for each in view.next] == [2]


def test_an_instance_that_was_frozen_marks_nothing_of_a_configuration_that_was_made_again(
    engine: Engine, outbox: Outbox
) -> None:
    """An acknowledgement to a stalled instance of a configuration that was deleted and recreated marks nothing."""
    queue, frozen = Queue(engine, "structures"), Lease(engine, "structures", "frozen", lease_s=3600)
    assert frozen.hold()
    with engine.begin() as connection:
        outbox.record(connection, [Put("a", b"1")])
        outbox.resume(connection)
    before = queue.view().intent.incarnation
    with engine.begin() as connection:
        outbox.delete(connection)
        outbox.create(connection, topic="FOO")
        outbox.record(connection, [Put("a", b"2")])
        outbox.resume(connection)
    new = Lease(engine, "structures", "new", lease_s=3600)
    assert new.hold()
    assert new.term == frozen.term, "terms begin again, too"
    assert not queue.mark_sent(frozen.holder, 1, 17, {1: (9, 9)}, incarnation=before)
    with pytest.raises(LeaseLostError):
        queue.sent_while_leased(frozen.holder, incarnation=before)
    assert not queue.mark_failed(frozen.holder, 1, Status.REFUSED, "no", incarnation=before)
    assert not queue.change_mode(Mode.IDLE, only=[Mode.RUNNING], request_count=1, incarnation=before)
    with pytest.raises(LeaseLostError):
        queue.note_identity(frozen.holder, "tx-other", incarnation=before)
    view = queue.view()
    assert (view.intent.sent_tx_id, view.intent.mode, view.intent.transactional_id) == (0, Mode.RUNNING, None)
    assert [(each.tx_id, each.size, each.messages) for each in view.next] == [(1, 2, 1)]
    mark_sent(queue, 1, 17)


def test_secrets_are_not_in_the_tables(engine: Engine, outbox: Outbox) -> None:
    """The tables contain names, but neither passwords nor keys."""
    settings = {
        "bootstrap.servers": "a:1,b:2", "sasl.username": "u", "sasl.password": "hunter2", "linger.ms": 5,
        "ssl.key.pem": "hunter2", "sasl.jaas.config": 'x password="hunter2";', "ssl.keystore.password": "hunter2",
        "sasl.oauthbearer.client.secret": "hunter2", "sasl.oauthbearer.config": "hunter2", "error_cb": print,
    }  # fmt: skip
    with engine.begin() as connection:
        outbox.create(connection, topic="FOO,BAR", media_type="m", settings=settings)
        found = [
            row
            for name in ("kafka_producer_config", "kafka_producer_config_properties", "kafka_connection_settings")
            for row in connection.execute(text(f"SELECT * FROM {name}"))
        ]
    assert "hunter2" not in str(found)
    assert ("structures", "FOO,BAR", "m") in found
    assert ("structures", 1, "linger.ms=5") in found
    assert ("bootstrap.servers", "a:1,b:2") in found
    assert ("sasl.password", "***") in found


def test_a_producer_that_is_not_there(engine: Engine) -> None:
    """A missing producer gives an error with advice."""
    with pytest.raises(UsageError, match="no producer 'other'"), engine.begin() as connection:
        Outbox("other").record(connection, [Put("a", b"1")])


def test_deleting_leaves_nothing(engine: Engine, outbox: Outbox) -> None:
    """A deleted producer can be created again, with numbers from 1."""
    with engine.begin() as connection:
        outbox.record(connection, [Put("a", b"1")])
        outbox.delete(connection)
        for name in metadata.tables:
            if name not in {"kafka_connection_settings", "kafka_producer_database"}:
                assert connection.execute(text(f"SELECT count(*) FROM {name}")).scalar_one() == 0, name
        outbox.create(connection, topic="FOO")
        assert outbox.record(connection, [Put("a", b"1")]) == [1]


def test_a_transaction_that_is_not_counted_yet_is_not_sent(engine: Engine, outbox: Outbox) -> None:
    """A number is assigned when it is counted, last of all; a recording that is half visible is not sent."""
    with engine.begin() as connection:
        outbox.record(connection, [Put("a", b"1")])
        outbox.record(connection, [Put("a", b"2")])
        connection.execute(update(counter).values(last_tx_id=1))
    assert [each.tx_id for each in Queue(engine, "structures").view().next] == [1]


def test_a_term_that_is_given_twice_belongs_to_one_instance(engine: Engine, outbox: Outbox) -> None:
    """A failover loses the commit with which another instance has taken over: its term is given to the first again."""
    with engine.begin() as connection:
        outbox.record(connection, [Put("a", b"1")])
        outbox.resume(connection)
    queue = Queue(engine, "structures")
    incarnation = queue.view().intent.incarnation
    first, other = Lease(engine, "structures", "first", 3600), Lease(engine, "structures", "other", 3600)
    assert first.hold()
    row = first.read_row()
    with engine.begin() as connection:
        connection.execute(update(lease).values(owner=None))
    assert other.hold()
    assert not first.renew()
    before = first.acquisitions
    with engine.begin() as connection:
        connection.execute(update(lease).values(row._asdict()))
    assert first.hold()
    assert first.acquisitions > before, "it connects again"
    assert first.term == other.term
    assert queue.sent_while_leased(first.holder, incarnation=incarnation) == 0
    assert not queue.mark_sent(other.holder, 1, 0, incarnation=incarnation)
    assert not queue.mark_failed(other.holder, 1, Status.REFUSED, "no", incarnation=incarnation)
    queue.show_failure(other.holder, "it fails")
    with pytest.raises(LeaseLostError):
        queue.sent_while_leased(other.holder, incarnation=incarnation)
    assert (queue.view().intent.sent_tx_id, queue.view().intent.reason) == (0, None)
    assert queue.mark_sent(first.holder, 1, 0, incarnation=incarnation)
