"""A topic with the samples for all pages."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_replica import Replica
from kafka_replica.embedded import LocalKafka
from support.docs.page_world import PageWorld, copy_samples, publish_samples


@pytest.fixture(scope="session")
def replica(local_kafka: LocalKafka) -> Iterator[Replica]:
    """A replica of a topic with all samples."""
    topic = f"pages-{uuid.uuid4().hex[:12]}"
    local_kafka.create_topic(topic, 1, {"cleanup.policy": "compact"})
    publish_samples(local_kafka, topic)
    with Replica({"bootstrap.servers": local_kafka.bootstrap_servers}, topic) as made:
        made.wait_ready(60)
        yield made


@pytest.fixture
def world(local_kafka: LocalKafka, replica: Replica, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PageWorld:
    """The topic, and a folder with the sample files, which is the current one."""
    copy_samples(tmp_path / "samples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KAFKA_REPLICA_STATE", str(tmp_path / "state"))
    return PageWorld(local_kafka.bootstrap_servers, replica.topics[0], tmp_path, replica)
