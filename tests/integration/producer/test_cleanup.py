"""Clean-up: deletion and retention of rows, in steps that block no other transaction."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from sqlalchemy import Connection, Engine, event, func, select, update

from kafka_replica.producer import Change, Delete, Put, StructureProducer
from kafka_replica.producer.outbox import Outbox, Status, TransactionKind
from kafka_replica.producer.outbox.cleanup import KEEP_NEWEST, ROWS, Cleanup
from kafka_replica.producer.outbox.queue import Queue
from kafka_replica.producer.outbox.recorded_transactions import Content, RecordedTransaction
from kafka_replica.producer.outbox.tables import change, counter, detail, state, tx
from support.producer.producer_tools import mark_sent, settings_of
from support.waiting import wait_until


def count(engine: Engine, table: object) -> int:
    """Return the number of rows of a table."""
    with engine.connect() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()  # type: ignore[arg-type]


def fill(engine: Engine, transactions: int, keys: int) -> None:
    """Insert many small sent transactions of one record each; this is faster than recording them."""
    with engine.begin() as connection:
        numbers = range(1, transactions + 1)
        mine = {"producer_id": "structures"}
        connection.execute(tx.insert(), [
            {**mine, "tx_id": n, "tx_status": 1, "tx_last_updated": 0, "tx_size": 2, "tx_messages": 1} for n in numbers
        ])  # fmt: skip
        connection.execute(
            detail.insert(), [{**mine, "tx_id": n, "kind": "changes", "recorded_ms": 0} for n in numbers]
        )
        connection.execute(change.insert(), [
            {
                **mine, "tx_id": n, "number": 1, "key_hash": b"%032d" % (n % keys), "record_key": b"%d" % (n % keys),
                "record_value": b"x",
            }
            for n in numbers
        ])  # fmt: skip
        connection.execute(update(counter).values(last_tx_id=transactions))
        connection.execute(update(state).values(sent_tx_id=transactions))


@pytest.mark.long
def test_every_transaction_of_the_clean_up_is_small(engine: Engine, outbox: Outbox) -> None:
    """No step deletes more rows than a few hundred, or content of more than 8 MB, however much there is to do."""
    fill(engine, 4 * ROWS, keys=7)
    sizes: list[int] = []
    in_this = Counter[str]()

    def deleted(_connection: object, cursor: object, statement: str, *_rest: object) -> None:
        if statement.startswith("DELETE"):
            in_this[statement.split()[2]] += cursor.rowcount  # type: ignore[attr-defined]

    def committed(_connection: Connection) -> None:
        sizes.append(max(in_this.values(), default=0))
        in_this.clear()

    event.listen(engine, "after_cursor_execute", deleted)
    event.listen(engine, "commit", committed)
    cleanup = Cleanup(engine, "structures", keep_s=1)
    steps = 1
    while cleanup.step():
        steps += 1
    assert 3 < steps < 20
    assert 0 < max(sizes) <= ROWS
    assert count(engine, change) == 7
    assert count(engine, tx) == count(engine, detail) == KEEP_NEWEST
    with engine.begin() as connection:
        outbox.record(connection, [Put(f"{number}", bytes(3 << 20)) for number in range(6)])
        outbox.record(connection, [Put(f"{number}", b"") for number in range(6)])
    mark_sent(Queue(engine, "structures"), 4 * ROWS + 2)
    sizes.clear()
    while cleanup.step():
        pass
    assert max(sizes) == 2, "of 3 MB each"
    assert count(engine, change) == 13


def test_rows_of_sent_transactions_stay_for_their_time(engine: Engine, outbox: Outbox) -> None:
    """Rows of sent transactions stay for their time, the newest in any case, and unsent ones too."""
    fill(engine, KEEP_NEWEST + 10, keys=3)
    with engine.begin() as connection:
        connection.execute(update(tx).where(tx.c.tx_id > 4).values(tx_last_updated=1 << 50))
        outbox.record(connection, [Put("new", b"1")])
    cleanup = Cleanup(engine, "structures", keep_s=60)
    while cleanup.step():
        pass
    with engine.connect() as connection:
        left = list(connection.execute(select(tx.c.tx_id).order_by(tx.c.tx_id)).scalars())
    assert left == list(range(5, KEEP_NEWEST + 12))


@pytest.mark.long
def test_clean_up_never_changes_the_content_of_a_flush(engine: Engine, outbox: Outbox) -> None:
    """Random recording, sending and interrupted clean-up do not change the content of a flush."""
    dice, queue = random.Random(1), Queue(engine, "structures")
    expected: dict[bytes, bytes] = {}
    last = 0
    for round_ in range(60):
        changes: list[Change] = []
        for _ in range(dice.randrange(1, 8)):
            key = f"k{dice.randrange(12)}"
            changes.append(Delete(key) if dice.random() < 0.3 else Put(key, b"%d" % dice.randrange(10**9)))
        with engine.begin() as connection:
            last = (outbox.record(connection, changes) or [last])[-1]
        for each in sorted({each.key: each for each in changes}.values(), key=lambda each: isinstance(each, Delete)):
            raw_key = str(each.key).encode()
            if isinstance(each, Put):
                expected[raw_key] = each.value
            else:
                expected.pop(raw_key, None)
        mark_sent(queue, dice.randrange(last + 1))
        cleanup = Cleanup(engine, "structures", keep_s=0)
        if round_ % 3 == 0:
            _die_after_one_deletion(engine, cleanup)
        elif round_ % 3 == 1:
            cleanup.step()
        found = queue.recorded.contents(RecordedTransaction(last + 1, TransactionKind.FLUSH, 0)).records
        assert {key_: value for key_, value, _ in found} == expected
    mark_sent(queue, last)
    while Cleanup(engine, "structures", keep_s=0).step():
        pass
    assert count(engine, change) == len(expected), "nothing is left of what was deleted"


def _die_after_one_deletion(engine: Engine, cleanup: Cleanup) -> None:
    """Run a step of which only the oldest row is deleted, because the process dies then."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kafka_replica.producer.outbox.cleanup.ROWS", 10_000)
        patch.setattr("kafka_replica.producer.outbox.cleanup._BYTES", 0)  # a transaction for each row
        committed = 0

        def die(_connection: Connection) -> None:
            nonlocal committed
            committed += 1
            if committed == 2:
                raise KeyboardInterrupt

        event.listen(engine, "commit", die)
        try:
            cleanup.step()
        except KeyboardInterrupt:
            pass
        finally:
            event.remove(engine, "commit", die)


@pytest.mark.long
def test_a_producer_cleans_up_while_it_is_busy(engine: Engine) -> None:
    """A relay that is always busy does not delay clean-up; here it cannot reach Kafka at all."""
    producer = StructureProducer(settings_of("localhost:1", "FOO", engine, timeout_s=1.0, keep_sent_s=0.0))
    fill(engine, KEEP_NEWEST + 50, keys=5)
    with engine.begin() as connection:
        producer.record(connection, [Put("pending", b"1")])
    with producer:
        wait_until(lambda: count(engine, change) == 6 and count(engine, tx) == KEEP_NEWEST + 1, "it has cleaned up")
        assert producer.status().sent == KEEP_NEWEST + 50
    with engine.connect() as connection:
        status = connection.execute(select(tx.c.tx_status).where(tx.c.tx_id == KEEP_NEWEST + 51)).scalar_one()
    assert status != Status.SENT


def test_contents_of_others_are_left_alone(engine: Engine, outbox: Outbox) -> None:
    """Several producers have their contents in one table, and clean-up affects only its own."""
    other = Outbox("other")
    with engine.begin() as connection:
        other.create(connection, topic="BAR")
        for value in (b"1", b"2"):
            outbox.record(connection, [Put("a", value)])
            other.record(connection, [Put("a", value)])
    mark_sent(Queue(engine, "structures"), 2)
    while Cleanup(engine, "structures", keep_s=0).step():
        pass
    found = Queue(engine, "other").recorded.contents(RecordedTransaction(1, TransactionKind.CHANGES, 0, 0, 1)).records
    assert list(found) == [Content(b"a", b"1", None)]
