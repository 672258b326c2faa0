"""The reason why the lease is not sufficient: an instance that stalls after its check of the lease, and resumes.

The lease says who should publish, and is checked before each transaction. Between that check and the first record
anything may happen to a process. So this instance is stopped there; another takes over, publishes the pending
transaction, and more; then the first continues. With fencing Kafka rejects it. Without, an old transaction follows
newer ones.
"""

from __future__ import annotations

import signal
import subprocess
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest
from sqlalchemy import Engine, update
from sqlalchemy.exc import DBAPIError

from kafka_replica.embedded import LocalKafka
from kafka_replica.producer import Put, StructureProducer
from kafka_replica.producer.outbox.database import short_transaction
from kafka_replica.producer.outbox.lease import Lease
from kafka_replica.producer.outbox.tables import lease
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.effort import first_in_usual
from support.producer.postgres_tools import LocalPostgres
from support.producer.producer_tools import log_of, process, settings_of, transactions_of
from support.waiting import wait_until

RECORDS = 3


@pytest.mark.long
@pytest.mark.parametrize(
    ("stop_at", "fencing"), first_in_usual([("handed over", "yes"), ("begun", "yes"), ("begun", "no")], 1)
)
def test_an_instance_that_wakes_up_late(
    stop_at: str, fencing: str, postgres: LocalPostgres, kafka_topic: TopicMaker, local_kafka: LocalKafka
) -> None:
    """A late instance's transaction is in the topic once, and in order, with fencing.

    This is not tested on SQLite: a stopped process may keep its one lock, and no instance can take over meanwhile.
    """
    topic, bootstrap = kafka_topic(config={"min.compaction.lag.ms": "600000"}), local_kafka.bootstrap_servers
    settings = settings_of(bootstrap, topic, postgres.url(f"fencing_{uuid.uuid4().hex[:8]}"), lease_s=2.0)
    producer = StructureProducer(settings)  # records, and never publishes
    _record(producer, 2)
    with process(settings, STOP_AT=f"{stop_at}:2", FENCING=fencing) as first:
        wait_until(lambda: psutil.Process(first.pid).status() == psutil.STATUS_STOPPED, "the first one stands still")
        assert producer.status().recorded == 2
        with process(settings, FENCING=fencing) as second:
            _record(producer, 3)
            wait_until(lambda: producer.status().sent == 3, "the second one takes over")
            first.send_signal(signal.SIGCONT)
            _wait_for(first, "StandBy")
            _record(producer, 4)
            wait_until(lambda: producer.status().sent == 4, "the second one goes on")
            assert second.poll() is None
    found = [number for number, _ in transactions_of(bootstrap, topic)]
    contents = [record.value for record, _ in log_of(bootstrap, topic)]
    producer.close()
    if fencing == "yes":
        assert found == [1, 2, 3, 4]
    else:
        assert found == [1, 2, 3, 2, 4], "the schedule does not show any more that fencing is needed"
        assert contents[-2 * RECORDS] == b"2", "old content has replaced what is newer, until the next change"


@pytest.mark.long
def test_an_instance_that_was_frozen_within_a_commit(
    postgres: LocalPostgres, kafka_topic: TopicMaker, local_kafka: LocalKafka
) -> None:
    """The instance needs a new producer, because the commit was slow; it reads what has arrived before it sends again.

    Otherwise the new producer would fence the other instance, and send transaction 2 once more, after 3.
    """
    topic, bootstrap = kafka_topic(config={"min.compaction.lag.ms": "600000"}), local_kafka.bootstrap_servers
    settings = settings_of(bootstrap, topic, postgres.url(f"frozen_{uuid.uuid4().hex[:8]}"), lease_s=2.0)
    producer = StructureProducer(settings)  # records, and never publishes
    _record(producer, 3)
    with process(settings, STOP_AT="answered:1") as first:
        wait_until(lambda: psutil.Process(first.pid).status() == psutil.STATUS_STOPPED, "the first one is frozen")
        with process(settings) as second:
            wait_until(lambda: producer.status().sent == 3, "the second one takes over")
            first.send_signal(signal.SIGCONT)
            _wait_for(first, "StandBy")
            _record(producer, 4)
            wait_until(lambda: producer.status().sent == 4, f"the second one goes on: {producer.status()}")
            assert second.poll() is None
    assert [number for number, _ in transactions_of(bootstrap, topic)] == [1, 2, 3, 4]
    producer.close()


def _record(producer: StructureProducer, up_to: int) -> None:
    """Return transactions up to that number, all of the same keys."""
    for number in range(producer.status().recorded + 1, up_to + 1):
        with producer.engine.begin() as connection:
            producer.record(connection, [Put(f"key {place}", b"%d" % number) for place in range(RECORDS)])


def _wait_for(life: subprocess.Popen[str], notice: str) -> None:
    """Read a producer's notices until this one."""
    assert life.stdout is not None
    output = []
    for line in life.stdout:
        output.append(line)
        if line.startswith(notice):
            return
    raise AssertionError(f"it ended, and said {output}")


def test_a_stalled_transaction_that_locks_the_lease_is_ended(postgres: LocalPostgres) -> None:
    """PostgreSQL ends a stalled transaction that locks the lease, so that another instance can take over."""
    settings = settings_of("localhost:1", "FOO", postgres.url(f"locked_{uuid.uuid4().hex[:8]}"))
    producer = StructureProducer(settings)
    assert settings.id is not None
    id_ = settings.id
    first, second = (Lease(producer.engine, id_, name, 0.2) for name in ("first", "second"))
    assert first.hold()
    with pytest.raises(DBAPIError):
        _stand_still_until(producer.engine, second.hold)
    assert not first.renew()
    producer.close()


def _stand_still_until(engine: Engine, taken: Callable[[], bool]) -> None:
    """Lock the row of the lease, and stall until another instance has it."""
    with ThreadPoolExecutor(1) as thread, short_transaction(engine) as connection:
        connection.execute(update(lease).values(beat=lease.c.beat + 1))
        thread.submit(wait_until, taken, "the lease is taken").result(120)
        connection.execute(update(lease).values(beat=lease.c.beat + 1))
