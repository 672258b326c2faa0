"""The examples in docs/history.md run as they are written there, on a real broker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafka_replica import Position
from kafka_replica.embedded import LocalKafka
from kafka_replica.producer import TransactionalProducer
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.doc_blocks import programs


@pytest.mark.broker
@pytest.mark.runs("docs/history.md")
def test_the_examples_run(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The present version is found by its instant, and the differences between versions are those of the topic."""
    topic = kafka_topic("terminals")
    producer = TransactionalProducer(
        {"bootstrap.servers": local_kafka.bootstrap_servers}, topic, transactional_id=topic
    )

    def put(value: bytes) -> Position:
        with producer.transaction() as transaction:
            transaction.put("T1", value)
        producer.wait_visible(transaction.committed, 60)
        return transaction.committed.position

    follow, questions, stats = programs("docs/history.md")
    follow = follow.replace("localhost:9092", local_kafka.bootstrap_servers).replace('"terminals"', f'"{topic}"')
    names: dict[str, Any] = {}
    put(b"1")
    exec(follow.replace('History("', f'History("{tmp_path}/').replace('Store("', f'Store("{tmp_path}/'), names)
    with names["replica"] as replica, names["history"]:
        replica.wait_for(put(b"2"), timeout_s=60)
        exec(questions, names)
        assert names["then"].version == replica.snapshot().version
        assert names["record"].value == b"2"
        assert names["difference"].changed == (b"T1",)
        assert capsys.readouterr().out.startswith(f"{names['then'].version} {names['then'].position} 1\n")
        exec(stats, names)
        versions, keys, *_ = capsys.readouterr().out.split()
        assert (int(versions), keys) == (len(names["older"]) + 1, "1")
