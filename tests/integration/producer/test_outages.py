"""A producer waits for the end of temporary failures, visibly, and suspends itself soon for permanent ones."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kafka_replica.broker.writing.faults import Fault, fault_of
from kafka_replica.broker.writing.writer import TransactionalWriter
from kafka_replica.embedded import LocalKafka
from kafka_replica.errors import PublishError
from kafka_replica.producer import Put, StructureProducer
from kafka_replica.producer.notices.notices import Notice, Retry, Suspension
from kafka_replica.producer.outbox import Mode
from kafka_replica.producer.settings.producer_settings import ProducerSettings
from support.broker.secured_kafka import Secured
from support.producer.producer_tools import settings_of, transactions_of
from support.waiting import wait_until

KEEP = {"cleanup.policy": "compact", "min.compaction.lag.ms": "600000"}
LONG_S = 180.0
# All timeouts of Kafka and the client end long before the outage.
SHORT = {
    "transaction.timeout.ms": 2_000, "socket.timeout.ms": 1_000, "message.timeout.ms": 2_000,
    "reconnect.backoff.max.ms": 500,
}  # fmt: skip
BEYOND_TIMEOUTS_S = 6.0


def record(producer: StructureProducer, key: str) -> None:
    """Record a transaction of one record."""
    with producer.engine.begin() as connection:
        producer.record(connection, [Put(key, b"1")])


def failing_s(reason: str | None) -> float:
    """Return for how long nothing could be sent, as the reason of a retry has it."""
    found = re.match(r"sending has failed for (\d+) s, in \d+ attempts?; retrying until Kafka", reason or "")
    assert found is not None, reason
    return float(found[1])


class Stopping(StructureProducer):
    """A handler that kills the broker when a transaction has arrived there, just before its commit request."""

    kafka: LocalKafka
    killed = False

    def _step(self, name: str) -> None:
        if name == "handed over" and not self.killed and self.status().sent:
            assert self._runner is not None
            assert self._runner._session is not None
            assert self._runner._session._writer is not None
            self._runner._session._writer._producer.flush(20)
            self.killed = True
            self.kafka.kill()


@pytest.mark.long
def test_an_outage_longer_than_all_timeouts(tmp_path: Path) -> None:
    """After a long outage each transaction arrives once, without a resume, and also after a restart of the producer."""
    received: list[Notice] = []
    with LocalKafka(settings={"transaction.abort.timed.out.transaction.cleanup.interval.ms": 500}) as kafka:
        kafka.create_topic("t", config=KEEP)
        settings = settings_of(kafka.bootstrap_servers, "t", f"sqlite:///{tmp_path / 'o.db'}", timeout_s=1.0)
        settings.kafka.update(SHORT)  # type: ignore[attr-defined]
        producer = Stopping(settings, observers=[received.append])
        producer.kafka = kafka
        with producer:
            record(producer, "a")
            wait_until(lambda: producer.status().pending == 0, "1 is sent", LONG_S)
            assert producer.status(watch_s=30).running
            record(producer, "b")
            wait_until(lambda: producer.status().retrying, "the status says so", LONG_S)
            began_s = time.monotonic()
            record(producer, "c")
            wait_until(lambda: time.monotonic() - began_s > BEYOND_TIMEOUTS_S, "it is a long outage")
            status = producer.status()
            assert (status.mode, status.running, status.failed, status.pending) == (Mode.RUNNING, False, None, 2)
            assert failing_s(status.reason) >= BEYOND_TIMEOUTS_S / 2  # the last text is as old as the last attempt
            assert status.as_json()["retrying"]
        with StructureProducer(settings, observers=[received.append]) as again:
            wait_until(lambda: isinstance(received[-1], Retry), "it tries again after a start, too", LONG_S)
            kafka.start()
            wait_until(lambda: again.status().pending == 0, f"all are sent: {again.status()}", LONG_S)
            wait_until(lambda: again.status(watch_s=5).running, "the status says that it is over", LONG_S)
            kafka.kill()
            record(again, "d")
            wait_until(lambda: again.status().retrying, "the next outage is seen", LONG_S)
            next_one = failing_s(next(notice.reason for notice in received[::-1] if isinstance(notice, Retry)))
            assert next_one < time.monotonic() - began_s - BEYOND_TIMEOUTS_S, "it is not counted from the first outage"
            kafka.start()
            wait_until(lambda: again.status().pending == 0, f"all are sent: {again.status()}", LONG_S)
        assert not any(isinstance(notice, Suspension) for notice in received)
        assert transactions_of(kafka.bootstrap_servers, "t") == [(1, 1), (2, 1), (3, 1), (4, 1)]


@pytest.mark.long
def test_records_that_time_out_during_the_commit() -> None:
    """Records that are not delivered in message.timeout.ms are a temporary failure, also when the commit finds it."""
    timeout_s = 5.0
    with LocalKafka() as kafka:
        kafka.create_topic("t", config=KEEP)
        # Later than the wait for the records ends, and before the wait for the commit ends.
        config = {"bootstrap.servers": kafka.bootstrap_servers, "message.timeout.ms": int(1500 * timeout_s)}
        first = TransactionalWriter(config, "first", 60.0)  # the first one of a broker takes longer than others
        first.begin()
        first.send("t", b"a", b"0", ())
        first.commit()
        first.close()
        writer = TransactionalWriter(config, "tx", timeout_s)
        writer.begin()
        kafka.kill()
        writer.send("t", b"a", b"1", ())
        with pytest.raises(PublishError) as raised:
            writer.commit()
        assert fault_of(raised.value) is Fault.TRANSITORY, raised.value
        writer.close()


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """A broker with SASL; authenticated users may do everything."""
    made = Secured(tmp_path_factory.mktemp("secured"))
    yield made
    made.kafka.stop()


@pytest.mark.long
def test_a_wrong_password_is_reported_long_before_a_timeout(secured: Secured, tmp_path: Path) -> None:
    """A wrong password gives status 3 with the reason long before any timeout, at every start."""
    topic = secured.kafka.create_topic("passwords", config=KEEP)
    settings = settings_of("", topic, f"sqlite:///{tmp_path / 'o.db'}", timeout_s=120.0)
    sasl = secured.config("PLAIN", sasl__mechanism="PLAIN", sasl__username="me", sasl__password="wrong")
    settings.kafka.update(sasl)  # type: ignore[attr-defined]
    with closing(StructureProducer(settings)) as producer:
        record(producer, "a")
    for _ in range(2):
        _is_refused(settings)


def _is_refused(settings: ProducerSettings) -> None:
    received: list[Notice] = []
    with StructureProducer(settings, observers=[received.append]) as producer:
        began_s = time.monotonic()
        wait_until(lambda: any(isinstance(notice, Suspension) for notice in received), "it suspends itself")
        took_s = time.monotonic() - began_s
        status = producer.status()
    assert took_s < settings.timeout_s / 2, "not by a timeout"
    assert status.mode is Mode.FAILED
    assert status.failed is not None
    assert (status.failed.tx_id, status.failed.status) == (1, 3)
    assert "_AUTHENTICATION" in (status.failed.error or "")
    assert "Invalid username or password" in (status.failed.error or "")
    assert not any(isinstance(notice, Retry) for notice in received)


def test_a_topic_that_is_not_there(local_kafka: LocalKafka, tmp_path: Path) -> None:
    """A missing topic, maybe unknown to a starting broker, is retried a few times, then status 3; a start retries."""
    received: list[Notice] = []
    topic = f"created-later-{uuid.uuid4().hex}"  # no other test may find it in the shared broker
    settings = settings_of(local_kafka.bootstrap_servers, topic, f"sqlite:///{tmp_path / 'o.db'}", retries=2)
    with StructureProducer(settings, observers=[received.append]) as producer:
        record(producer, "a")
        wait_until(lambda: producer.status().mode is Mode.FAILED, f"it suspends itself: {producer.status()}", LONG_S)
        failed = producer.status().failed
        assert failed is not None
        assert failed.status == 3
        assert topic in (failed.error or "")
        assert [notice.attempt for notice in received if isinstance(notice, Retry)] == [1, 2]
    local_kafka.create_topic(topic, config=KEEP)
    with StructureProducer(settings) as producer:
        wait_until(lambda: producer.status().pending == 0, f"it is sent: {producer.status()}", LONG_S)
    assert transactions_of(local_kafka.bootstrap_servers, topic) == [(1, 1)]
