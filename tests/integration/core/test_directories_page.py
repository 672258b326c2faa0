"""The examples in docs/directories.md run as they are written there, on a real broker."""

from __future__ import annotations

import datetime as dt
import json
from datetime import date
from typing import Any

import msgspec
import pytest

from kafka_replica import Replica, directories
from kafka_replica.embedded import LocalKafka
from kafka_replica.producer import TransactionalProducer
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.doc_blocks import programs


class Terminal(msgspec.Struct):
    """A terminal with everything that the page indexes."""

    terminal_id: str
    acquirer_id: str
    serial_number: str = "S-0815"
    name: str = "Linz, Hauptplatz"
    installed: dt.date = date(2026, 5, 1)


@pytest.mark.broker
@pytest.mark.runs("docs/directories.md")
def test_the_examples_run(local_kafka: LocalKafka, kafka_topic: TopicMaker, capsys: pytest.CaptureFixture[str]) -> None:
    """The service prints the acquirer; indexes, views and listeners find what the page says."""
    topic = kafka_topic("terminals")
    config = {"bootstrap.servers": local_kafka.bootstrap_servers}
    producer = TransactionalProducer(config, topic, transactional_id=topic)
    with producer.transaction() as transaction:
        transaction.put("T1", json.dumps({"terminal_id": "T1", "acquirer_id": "A7"}).encode())
    producer.wait_visible(transaction.committed, 60)
    service, indexes, views, changes = programs("docs/directories.md")
    names: dict[str, Any] = {}
    exec(service.replace("localhost:9092", local_kafka.bootstrap_servers).replace('"terminals"', f'"{topic}"'), names)
    assert capsys.readouterr().out == "A7\n"
    assert len([line for line in service.splitlines() if line.strip()]) < 15
    with Replica(config, topic) as replica:
        replica.wait_ready(60)
        names = {**vars(directories), "replica": replica, "Terminal": Terminal, "date": date}
        made, look_ups = indexes.split('terminals.index("serial")')
        exec(made, names)
        names["terminals"].wait_ready(60)
        exec('terminals.index("serial")' + look_ups, names)
        terminals = names["terminals"]
        assert terminals.index("serial")["S-0815"].terminal_id == "T1"
        assert [found.terminal_id for found in terminals.index("name").starting_with("linz")] == ["T1"]
        exec(views.replace('["A7"]', ".get('A7')"), {**names, "acquirers": terminals})
        exec(changes, names)
        with producer.transaction() as transaction:
            transaction.put("T1", json.dumps({"terminal_id": "T1", "acquirer_id": "A8"}).encode())
        assert terminals.wait_for(transaction.committed.position, 60)["T1"].acquirer_id == "A8"
        terminals.close()
