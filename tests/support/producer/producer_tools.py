"""Shared tools of the tests of the whole producer: processes to be killed, the content of a topic, waiting."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from confluent_kafka import Consumer, KafkaError, TopicPartition
from sqlalchemy import Engine, select, update

from kafka_replica import Change, Partition, Record, Replica
from kafka_replica.headers.transactions import TransactionHeaders, read_transaction_headers
from kafka_replica.producer.outbox.lease import LeaseHolder
from kafka_replica.producer.outbox.queue import Queue
from kafka_replica.producer.outbox.tables import lease
from kafka_replica.producer.service.structure_producer import ProducerSettings
from kafka_replica.records import Headers
from support.broker.kafka_tools import quiet, wait_decided

PATIENCE_S = 60.0
EVERY_COMMIT_IS_SLOW = {"retry.backoff.ms": 1, "retry.backoff.max.ms": 1}
"""Properties with which each commit takes so long that librdkafka may have repeated it."""
_NOBODY = "nobody"
PROGRAM = Path(__file__).parent / "relay_process.py"


def settings_of(bootstrap: str, topic: str, database: str | Engine, **more: Any) -> ProducerSettings:
    """Return settings for tests: a fast takeover, running from the start."""
    kafka = {"bootstrap.servers": bootstrap, "log_level": 0, **more.pop("kafka", {})}
    quick: dict[str, Any] = {"id": "structures", "first_start": "resume", "lease_s": 2.0, "poll_s": 0.02}
    return ProducerSettings(topic, kafka, database, **{**quick, **more})


@contextmanager
def process(settings: ProducerSettings, die_at: str = "", **variables: str) -> Iterator[subprocess.Popen[str]]:
    """A producer in a separate process; killed at the end, if it is still alive."""
    names = ("topic", "database", "id", "prefix", "first_start", "lease_s", "poll_s", "retries", "timeout_s")
    stated = {"kafka": dict(settings.kafka), **{name: getattr(settings, name) for name in names}}
    environment = {**os.environ, "DIE_AT": die_at, **variables}
    started = subprocess.Popen(
        [sys.executable, str(PROGRAM), json.dumps(stated)], env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        yield started
    finally:
        started.kill()
        started.wait()
        if started.stdout is not None:
            started.stdout.close()


def lease_holder(engine: Engine, producer_id: str = "structures") -> LeaseHolder:
    """Return the holder of a producer's lease; a name of its own for a lease that is free."""
    with engine.connect() as connection:
        query = select(lease.c.owner, lease.c.term).where(lease.c.producer_id == producer_id)
        owner, term = connection.execute(query).one()
    return LeaseHolder(owner or _NOBODY, term)


def mark_sent(queue: Queue, up_to: int, offset: int | None = None) -> None:
    """Mark transactions of the current incarnation as sent, as the owner of the lease does."""
    engine, holder = queue._engine, lease_holder(queue._engine)
    _set_owner(engine, None, holder.owner)
    assert queue.mark_sent(holder, up_to, offset, incarnation=queue.view().intent.incarnation)
    _set_owner(engine, _NOBODY, None)


def _set_owner(engine: Engine, before: str | None, now: str | None) -> None:
    with engine.begin() as connection:
        connection.execute(update(lease).where(lease.c.owner.is_not_distinct_from(before)).values(owner=now))


def log_of(bootstrap: str, topic: str) -> list[tuple[Record, TransactionHeaders | None]]:
    """Return every committed record of a topic of one partition, in order, as a plain consumer sees it."""
    return [(record, read_transaction_headers(record.headers)) for record in records_of(bootstrap, Partition(topic, 0))]


def records_of(bootstrap: str, place: Partition) -> list[Record]:
    """Return every committed record of a partition, in order, as a plain consumer sees it."""
    wait_decided(bootstrap, place.topic, partition=place.partition)
    group: dict[str, Any] = {"group.id": "log", "isolation.level": "read_committed", "enable.partition.eof": True}
    reader = Consumer(
        quiet({"bootstrap.servers": bootstrap, "auto.offset.reset": "earliest", "enable.auto.commit": False, **group})
    )
    reader.assign([TopicPartition(*place, 0)])
    found: list[Record] = []
    while True:
        message = reader.poll(20)
        assert message is not None
        error = message.error()
        if error is not None:
            assert error.code() == KafkaError._PARTITION_EOF, error
            reader.close()
            return found
        key, offset, headers = message.key(), message.offset(), cast("Headers", tuple(message.headers() or ()))
        assert key is not None
        assert offset is not None
        stamp = message.timestamp()[1]
        found.append(Record(key, message.value(), offset, stamp, headers, place))


def transactions_of(bootstrap: str, topic: str) -> list[tuple[int, int]]:
    """Return (number of the transaction, number of its records that were found) in the order of the log."""
    found: list[tuple[int, int]] = []
    for _, stated in log_of(bootstrap, topic):
        assert stated is not None
        number = int(stated.transaction.rpartition("/")[2])
        again = found and found[-1][0] == number and stated.number > 1
        if again:
            found[-1] = number, found[-1][1] + 1
        else:
            found.append((number, 1))
    return found


class Watched:
    """A replica, and the transaction of each of its versions."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.versions: list[set[str]] = []
        self.replica = Replica({"bootstrap.servers": bootstrap, "log_level": 0}, topic)
        self.replica.start()
        self.replica.wait_ready(timeout_s=PATIENCE_S)
        self.replica.subscribe(self._take, max_pending=100_000)

    def _take(self, change: Change) -> None:
        if change.initial:
            return
        found = [change.snapshot.get(key) for key in change.changed]
        stated = [read_transaction_headers(record.headers) for record in found if record is not None]
        self.versions.append({each.transaction for each in stated if each is not None})

    def close(self) -> None:
        """End the replica."""
        self.replica.close()


def producer_command(*arguments: str) -> list[str]:
    """Return the command line of ``kafka-replica producer``."""
    return [str(Path(sys.executable).with_name("kafka-replica")), "producer", *arguments]
