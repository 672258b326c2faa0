"""kill -9 at every step, of every process: the sequence of versions is the sequence in the database.

By default at the most important steps; at all of them, and more often, in `make long`. `make chaos` does this at
random, for any time.
"""

from __future__ import annotations

import random
import signal
import subprocess
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import select

from kafka_replica.embedded import LocalKafka
from kafka_replica.producer.changes.changes import Delete, Put
from kafka_replica.producer.errors import OutboxError
from kafka_replica.producer.outbox.tables import tx
from kafka_replica.producer.service.structure_producer import StructureProducer
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.broker.kafka_tools import AGGRESSIVE, ends
from support.effort import IS_LONG, usual_or_long
from support.producer.postgres_tools import LocalPostgres
from support.producer.producer_tools import Watched, log_of, process, settings_of, transactions_of
from support.waiting import wait_until

STEPS = ["taken up", "handed over", "committed"]
if IS_LONG:
    STEPS += ["record:2", "marking", "leased", "queried", "begun", "marked"]
TROUBLES = ["kill", "stop", "postgres"] * usual_or_long(1, 2, 4)
RECORDS = 5


def record(producer: StructureProducer, count: int) -> None:
    """Record some transactions of some records each."""
    for _ in range(count):
        with producer.engine.begin() as connection:
            number = producer.status().recorded + 1
            producer.record(connection, [Put(f"key {i}", b"%d" % number) for i in range(RECORDS)])


def all_sent(producer: StructureProducer) -> bool:
    """Return True if everything is marked as sent."""
    try:
        return producer.status().pending == 0
    except OutboxError:
        return False


@pytest.mark.long
@pytest.mark.scaled
def test_killed_at_every_step(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """Each process ends at another step; nothing is lost, repeated, reordered or torn."""
    topic = kafka_topic(config={"min.compaction.lag.ms": "600000"})
    settings = settings_of(local_kafka.bootstrap_servers, topic, f"sqlite:///{tmp_path / 'o.db'}", lease_s=2.0)
    producer = StructureProducer(settings)  # records, and never publishes
    watched = Watched(local_kafka.bootstrap_servers, topic)
    ending, recorder = _recording(producer)
    for group in (STEPS[:2], STEPS[2:5], STEPS[5:]):  # later instances stand by until the earlier ones are dead
        with ExitStack() as stack:
            lives = {step: stack.enter_context(process(settings, step)) for step in group}
            for step, life in lives.items():
                assert life.wait(90) == -signal.SIGKILL, step
    ending.set()
    recorder.join()
    with process(settings):
        wait_until(lambda: all_sent(producer), "all are sent", 240)
    expected = producer.status().recorded
    assert expected > len(STEPS)
    found = transactions_of(local_kafka.bootstrap_servers, topic)
    assert found == [(number, RECORDS) for number in range(1, expected + 1)]
    wait_until(lambda: len(watched.versions) >= expected, "a version for each", 240)
    watched.close()
    assert watched.versions == [{f"structures/{number}"} for number in range(1, expected + 1)]
    with producer.engine.connect() as connection:
        assert set(connection.execute(select(tx.c.tx_status)).scalars()) == {1}
    producer.close()


@pytest.mark.long
def test_an_arrived_transaction_is_known_after_compaction_removed_it(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """A producer killed before it notes arrived tombstones, which then expire, sends nothing a second time."""
    topic, progress = kafka_topic(config=AGGRESSIVE), kafka_topic("progress", config=AGGRESSIVE)
    bootstrap = local_kafka.bootstrap_servers
    database = f"sqlite:///{tmp_path / 'o.db'}"
    settings = settings_of(bootstrap, topic, database, lease_s=2.0, progress_topic=progress)
    producer = StructureProducer(settings)
    with producer.engine.begin() as connection:
        producer.record(connection, [Put("a", b"1"), Delete("b")])
    with process(settings, "committed:2") as life:
        assert life.wait(60) == -signal.SIGKILL
    assert producer.status().sent < 2
    fill = StructureProducer(settings_of(bootstrap, topic, f"sqlite:///{tmp_path / 'fill.db'}", id="filler"))
    with fill:

        def gone() -> bool:
            with fill.engine.begin() as connection:  # the next record closes a segment
                fill.record(connection, [Put("filler", time.monotonic_ns().to_bytes(8))])
            return not any(each.key == b"b" for each, _ in log_of(bootstrap, topic))

        wait_until(gone, "the tombstone is compacted away", 120)
        wait_until(lambda: all_sent(fill), "the filler is done")
    end = ends(bootstrap, topic)[1]
    with process(settings):
        wait_until(lambda: all_sent(producer), "it finds out")
    assert ends(bootstrap, topic)[1] == end, "nothing more was written"
    assert producer.status().sent == 2
    producer.close()


@pytest.mark.long
def test_three_fight_and_everything_is_killed(
    own_postgres: LocalPostgres, kafka_topic: TopicMaker, local_kafka: LocalKafka
) -> None:
    """Three instances are killed or stopped in turn, and PostgreSQL too, during recording; the order is kept."""
    topic = kafka_topic(config={"min.compaction.lag.ms": "600000"})
    bootstrap = local_kafka.bootstrap_servers
    settings = settings_of(bootstrap, topic, own_postgres.url("fight"), lease_s=2.0)
    producer = StructureProducer(settings)
    watched = Watched(bootstrap, topic)
    ending, recorder = _recording(producer)
    dice = random.Random(1)
    with ExitStack() as stack:
        stack.callback(ending.set)
        lives = [stack.enter_context(process(settings)) for _ in range(3)]
        for trouble in TROUBLES:
            before = _sent(producer)
            wait_until(lambda before=before: _sent(producer) > before + 3, "the producer continues")  # type: ignore[misc]
            if trouble == "postgres":
                own_postgres.kill()
                own_postgres.start()
                continue
            place = dice.randrange(3)
            if trouble == "kill":
                lives[place].kill()
                lives[place] = stack.enter_context(process(settings))
            else:
                _pause(lives[place], 2.0)
        before = _sent(producer)
        wait_until(lambda: _sent(producer) > before + 3, "the producer continues")
        ending.set()
        recorder.join()
        wait_until(lambda: all_sent(producer), "all are sent", 240)
    expected = producer.status().recorded
    found = transactions_of(bootstrap, topic)
    assert found == [(number, RECORDS) for number in range(1, expected + 1)]
    wait_until(lambda: len(watched.versions) >= expected, "a version for each", 240)
    watched.close()
    assert watched.versions == [{f"structures/{number}"} for number in range(1, expected + 1)]
    producer.close()


def _recording(producer: StructureProducer) -> tuple[threading.Event, threading.Thread]:
    ending = threading.Event()
    recorder = threading.Thread(target=_record_until, args=(producer, ending), daemon=True)
    recorder.start()
    return ending, recorder


def _record_until(producer: StructureProducer, ending: threading.Event) -> None:
    while not ending.wait(0.2):
        try:
            record(producer, 1)
        except OutboxError:
            continue  # PostgreSQL was killed: its state after the restart decides
        except Exception as error:  # the user's own part of the transaction gets the driver's errors
            if not type(error).__module__.startswith("sqlalchemy"):
                raise


def _sent(producer: StructureProducer) -> int:
    try:
        return producer.status().sent
    except OutboxError:
        return -1


def _pause(life: subprocess.Popen[str], seconds: float) -> None:
    """Stop an instance for longer than its lease: it resumes in the belief that it publishes."""
    life.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    life.send_signal(signal.SIGCONT)
