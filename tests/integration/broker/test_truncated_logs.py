"""G5 on a real broker that lost the end of a log, as after an unclean election: every replica detects it."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kafka_replica import Change, Replica, RocksStore
from kafka_replica.embedded import LocalKafka
from kafka_replica.transactions.resume_point import ResumePoint
from support.broker.durable_tools import assert_same_as_topic, config, decided, durable, values
from support.broker.kafka_tools import producer, write
from support.broker.log_tools import folder_of
from support.waiting import wait_until

pytestmark = [pytest.mark.long, pytest.mark.broker]

BOUNDARIES: Any = ("markers", "quiescence")
TOPICS = {"grows-beyond": 40, "stays-short": 5}
"""The numbers of other records that are written in place of twenty lost ones."""


@pytest.mark.long
def test_the_end_of_the_log_was_lost(own_kafka: LocalKafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lost end of the log is detected while down and while running, whether or not the log grew beyond it."""
    for topic in TOPICS:
        own_kafka.create_topic(topic, 1, {"cleanup.policy": "compact"})
        write(producer(own_kafka.bootstrap_servers, topic), topic, {"common": "1"})
    own_kafka.stop()
    for topic in TOPICS:
        shutil.copytree(folder_of(own_kafka, topic), tmp_path / f"{topic} before")
    own_kafka.start()
    with ExitStack() as stack:
        running = {(topic, kind): begin(own_kafka, topic, kind, tmp_path) for topic in TOPICS for kind in BOUNDARIES}
        heard: list[Change] = []
        for replica in running.values():
            stack.callback(replica.close)
            replica.subscribe(heard.append)
        own_kafka.stop()
        for topic in TOPICS:
            log = folder_of(own_kafka, topic)
            shutil.rmtree(log)
            shutil.copytree(tmp_path / f"{topic} before", log)
        own_kafka.start()
        for topic, count in TOPICS.items():
            other = {f"other{number}": "x" for number in range(count)}
            write(producer(own_kafka.bootstrap_servers, topic), topic, dict[str, str | None](other))
            for kind in BOUNDARIES:
                expect(own_kafka, topic, kind, running[topic, kind], tmp_path, {"common": "1", **other})
    kinds = [{key[:4] for key in change.snapshot} & {b"lost", b"othe"} for change in heard]
    assert all(len(kind) <= 1 for kind in kinds)

    # The switch: the leader of the last batch is not recorded.
    decode = ResumePoint.decode
    monkeypatch.setattr(ResumePoint, "decode", lambda data: replace(decode(data), leader_epochs={}))
    for kind in BOUNDARIES:
        with durable(own_kafka, "grows-beyond", tmp_path / f"blind {kind}", boundaries=kind) as blind:
            assert "lost1" in decided(blind, own_kafka, "grows-beyond"), "the test above cannot fail"


def begin(kafka: LocalKafka, topic: str, kind: Any, folder: Path) -> Replica:
    """Write the records that will be lost (once), and let a running and a closed replica read them."""
    if kind == BOUNDARIES[0]:
        write(producer(kafka.bootstrap_servers, topic), topic, {f"lost{number}": "x" for number in range(20)})
    replica = Replica(config(kafka), topic, RocksStore(folder / topic / f"{kind} running"), boundaries=kind).start()
    replica.wait_ready(timeout_s=60)
    assert len(decided(replica, kafka, topic)) == 21
    with durable(kafka, topic, folder / topic / kind, boundaries=kind) as closed:
        assert len(decided(closed, kafka, topic)) == 21
    if topic == "grows-beyond":
        shutil.copytree(folder / topic / kind, folder / f"blind {kind}")
    return replica


def expect(kafka: LocalKafka, topic: str, kind: str, running: Replica, folder: Path, expected: dict[str, str]) -> None:
    """Check that both reach the content of the log, with one rebuild."""
    wait_until(lambda: values(running.snapshot()) == expected)
    assert running.status().counts.rebuilds == 1, (topic, kind)
    with durable(kafka, topic, folder / topic / kind, boundaries=kind) as started:
        assert_same_as_topic(decided(started, kafka, topic), kafka, topic)
        assert started.status().counts.rebuilds == 1, (topic, kind)


@pytest.mark.parametrize("partitions", [2, 1])
def test_a_log_that_goes_on_in_a_newer_epoch_was_not_truncated(
    own_kafka: LocalKafka, tmp_path: Path, partitions: int
) -> None:
    """After a restart of the broker that was followed by an aborted transaction alone, a restart rebuilds nothing.

    The marker, which no message shows, is of a newer leader epoch than the last record.
    """
    topic = f"goes-on-{partitions}"
    own_kafka.create_topic(topic, partitions, {"cleanup.policy": "compact"})
    for number in range(6):
        write(producer(own_kafka.bootstrap_servers, topic), topic, {f"k{number}": "1"})
    with durable(own_kafka, topic, tmp_path, boundaries="quiescence") as replica:
        decided(replica, own_kafka, topic, partitions)
        incarnation = replica.incarnation
        own_kafka.stop()
        own_kafka.start()
        aborted: dict[str, str | None] = {f"k{number}": "2" for number in range(6)}
        write(producer(own_kafka.bootstrap_servers, topic), topic, aborted, commit=False)
        decided(replica, own_kafka, topic, partitions)
    with durable(own_kafka, topic, tmp_path, boundaries="quiescence") as replica:
        assert_same_as_topic(decided(replica, own_kafka, topic, partitions), own_kafka, topic, partitions)
        assert (replica.status().counts.rebuilds, replica.incarnation) == (0, incarnation)
