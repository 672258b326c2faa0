"""Records that were read are returned, even if an error is raised during the next fetch."""

from __future__ import annotations

import time
from typing import Any

import pytest

from kafka_replica import Partition, Replica
from kafka_replica.broker.reading.fetches import Fetches
from kafka_replica.embedded import LocalKafka
from kafka_replica.errors import AuthenticationError
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.broker.kafka_tools import producer, write


def test_a_refusal_that_passes_loses_no_batch(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A temporary rejection between two fetches, as by a broker that has just started, loses no batch."""
    topic = kafka_topic("refused")
    writer = producer(local_kafka.bootstrap_servers, topic)
    send = Fetches.send
    refused: list[Any] = []

    def refused_once(fetches: Fetches) -> object:
        place = next(iter(fetches._fetch_positions))
        if place.position > 2 and not refused and not fetches._under_way:
            refused.append(place.position)
            raise AuthenticationError("planned")
        return send(fetches)

    write(writer, topic, {"a": "1"})
    with Replica({"bootstrap.servers": local_kafka.bootstrap_servers}, topic, boundaries="markers") as replica:
        replica.wait_ready(timeout_s=60)
        monkeypatch.setattr(Fetches, "send", refused_once)
        write(writer, topic, {"b": "1"})
        give_up_s = time.monotonic() + 20
        while not refused and time.monotonic() < give_up_s:
            time.sleep(0.02)
        write(writer, topic, {"c": "1"})
        assert set(replica.wait_for({Partition(topic, 0): 6}, timeout_s=20)) == {b"a", b"b", b"c"}
