"""Transactions that are read ahead equal the recorded ones, in order, in groups that are small in memory."""

from __future__ import annotations

from contextlib import closing

import pytest
from sqlalchemy import Engine

from kafka_replica.producer.changes.changes import Delete, Put
from kafka_replica.producer.errors import OutboxError
from kafka_replica.producer.outbox import Outbox, TransactionKind
from kafka_replica.producer.outbox.queue import Queue
from kafka_replica.producer.outbox.recorded_transactions import RecordedTransaction
from kafka_replica.producer.outbox.tables import metadata
from kafka_replica.producer.relay.prefetch import Prefetcher, group_transactions
from support.producer.producer_tools import mark_sent

MB = 1 << 20


def test_reading_ahead_equals_reading_one_by_one(engine: Engine, outbox: Outbox) -> None:
    """Reading ahead gives the same transactions as reading one by one, including large ones and repeated reads."""
    queue = Queue(engine, "structures")
    with engine.begin() as connection:
        for number in range(30):
            puts = [Put(f"{number}.{place}", b"%d" % number, "text/plain") for place in range(number % 5 + 1)]
            outbox.record(connection, [*puts, Delete(f"{number}")] if number % 7 == 3 else puts)
        outbox.record(connection, [Put("large", bytes(3 * MB))])
        outbox.record_flush(connection)
        outbox.record(connection, [Put("last", b"")])
    pending = queue.view().next
    assert len(pending) == 38
    one_by_one = {
        each.tx_id: list(queue.recorded.contents(each)[1]) for each in pending if each.kind is not TransactionKind.SWEEP
    }
    with closing(Prefetcher(queue.recorded)) as ahead:
        for first in (0, 7, 0):
            ahead.start(pending[first:])
            for each in pending[first:]:
                if each.kind is not TransactionKind.SWEEP:
                    found = ahead.contents(each)
                    assert (
                        found.fingerprint
                        == queue.recorded.fingerprint(each.tx_id)
                        == queue.recorded.contents(each).fingerprint
                    )
                    assert list(found.records) == one_by_one[each.tx_id]
                    assert found.record_count == len(one_by_one[each.tx_id])
                    if each.tx_id % 3:  # whether or not there was time for it
                        ahead.read_next()
        found = ahead.contents(pending[2])  # no part of it is left in memory
        assert list(found.records) == one_by_one[pending[2].tx_id]


def test_no_look_shows_more_than_a_few_megabytes(engine: Engine, outbox: Outbox) -> None:
    """A read returns at most a few megabytes, so that a suspension takes effect soon."""
    with engine.begin() as connection:
        for number in range(5):
            outbox.record(connection, [Put(f"{number}", bytes(6 * MB))])
        outbox.record(connection, [Put("vast", bytes(20 * MB))])
    queue = Queue(engine, "structures")
    assert [each.tx_id for each in queue.view().next] == [1, 2]
    mark_sent(queue, 5)
    assert [each.tx_id for each in queue.view().next] == [6], "one at least"


def test_a_database_failure_is_raised_when_the_transaction_is_requested(engine: Engine, outbox: Outbox) -> None:
    """A failure of the database is raised as such when the transaction is requested, so that it is retried."""
    with engine.begin() as connection:
        outbox.record(connection, [Put("a", b"1")])
    queue = Queue(engine, "structures")
    pending = queue.view().next
    metadata.drop_all(engine)
    with closing(Prefetcher(queue.recorded)) as ahead:
        ahead.start(pending)
        with pytest.raises(OutboxError, match="reading the next records to send"):
            ahead.contents(pending[0])


def test_groups_are_limited_in_bytes_and_records() -> None:
    """A group has at most a megabyte or a thousand records; larger transactions, flushes and sweeps are separate."""
    sizes = (
        [(TransactionKind.CHANGES, 600_000, 1)] * 2
        + [(TransactionKind.DELETIONS, 0, 700)] * 2
        + [(TransactionKind.CHANGES, 2 * MB, 1)]
    )
    sizes += [
        (TransactionKind.FLUSH, 0, 0),
        (TransactionKind.CHANGES, 1, 1),
        (TransactionKind.SWEEP, 0, 0),
        (TransactionKind.CHANGES, 1, 1001),
    ]
    pending = [
        RecordedTransaction(number, kind, 0, size, records) for number, (kind, size, records) in enumerate(sizes, 1)
    ]
    assert [[each.tx_id for each in group] for group in group_transactions(pending)] == [[1], [2, 3], [4], [7]]
    assert list(group_transactions([])) == []
