"""The examples in docs/interpreters.md run as they are written there, on a real broker and next to RocksDB."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from kafka_replica import MemoryStore, Partition, Replica, Store
from kafka_replica.directories import Directory
from kafka_replica.doctor import Severity, examine
from kafka_replica.embedded import LocalKafka
from kafka_replica.errors import BadRecordError
from kafka_replica.producer import TransactionalProducer
from kafka_replica.stores.rocks import RocksStore
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.doc_blocks import programs

pytestmark = pytest.mark.broker

INSTANCE = "5bf370e0-8cca-4d9c-82e4-5170ab2a0a39"
WAIT_S = 60.0


def example(containing: str) -> str:
    """Return the example that contains a text; test_database_transactions_of_debezium.py runs one more."""
    [found] = programs("docs/interpreters.md", containing=containing)
    return found


class Terminal(msgspec.Struct):
    """A row of the examples."""

    acquirer_id: str


class Acquired(msgspec.Struct, rename="camel"):
    """A row with fields in camel case."""

    terminal_id: str
    acquirer_id: str


class Instance(msgspec.Struct):
    """An instance of FOLIO."""

    id: str
    title: str


class Topic:
    """A topic with a replica on RocksDB that can be restarted, and an example that runs on both."""

    def __init__(self, kafka: LocalKafka, name: str, folder: Path, example: str, made: str, **names: Any) -> None:
        self.config = {"bootstrap.servers": kafka.bootstrap_servers}
        self.name, self.folder, self.example, self.made, self.names = name, folder, example, made, names
        self.producer = TransactionalProducer(self.config, name, transactional_id=name)

    def write(self, *events: tuple[str, Any]) -> dict[str, Any]:
        """Write events in one transaction; return what the directory of the example holds, the same in three ways."""
        with self.producer.transaction() as transaction:
            for key, event in events:
                if event is None:
                    transaction.delete(key)
                else:
                    transaction.put(key, json.dumps(event).encode())
        found = []
        for make_store in (lambda: RocksStore(self.folder), lambda: RocksStore(self.folder), MemoryStore):
            with Replica(self.config, self.name, store=make_store()) as replica:
                names = {**self.names, "Directory": Directory, "replica": replica}
                replica.wait_ready(WAIT_S)
                exec(self.example, names)
                found.append(dict(names[self.made].wait_for(transaction.committed.position, WAIT_S)))
                names[self.made].close()
        assert found[0] == found[1] == found[2]
        return found[0]


@pytest.mark.runs("docs/interpreters.md", containing="primary key 7")
def test_a_debezium_row_is_found_by_its_primary_key(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """The row is found by its primary key."""
    topic = Topic(
        local_kafka, kafka_topic("terminals"), tmp_path, example("primary key 7"), "terminals", Terminal=Terminal
    )
    event = {"before": None, "after": {"id": 7, "acquirer_id": "A"}, "source": {"table": "terminals"}, "op": "r"}
    row = ('{"id":7}', event)
    assert topic.write(row)["7"].acquirer_id == "A"
    with pytest.raises(KeyError, match="'7'"):
        topic.write(('{"id":7}', {**event, "after": None, "op": "d"}))


@pytest.mark.runs("docs/interpreters.md", containing="ActiveRows(")
def test_the_active_row_of_a_terminal_counts_in_any_order(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """The active one of a terminal's rows counts, whichever comes first."""
    topic = Topic(
        local_kafka, kafka_topic("rows", partitions=3), tmp_path, example("ActiveRows("), "terminals", Terminal=Acquired
    )
    old, new = ({"terminalId": "T1", "acquirerId": acquirer, "isActive": True} for acquirer in "AB")
    assert topic.write(("1", old))["T1"].acquirer_id == "A"
    assert topic.write(("2", new), ("1", {**old, "isActive": False}))["T1"].acquirer_id == "B"
    assert topic.write(("2", {**new, "isActive": False}), ("1", old))["T1"].acquirer_id == "A"
    assert topic.write(("1", {**old, "isActive": False})) == {}


@pytest.mark.runs("docs/interpreters.md", containing="FolioEvents(")
def test_folio_entities_appear_and_disappear(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """Entities come and go, and all at once; a topic that is not compacted is a fault that the doctor reports."""
    name = kafka_topic("instances", partitions=2, config={"cleanup.policy": "delete"})
    topic = Topic(local_kafka, name, tmp_path, example("FolioEvents("), "instances", Instance=Instance)

    def event(kind: str, key: str = INSTANCE, **more: Any) -> tuple[str, Any]:
        return key, {"type": kind, "tenant": "diku", "new": {"id": key, "title": kind}, **more}

    assert topic.write(event("CREATE", ts="5"))[INSTANCE].title == "CREATE"
    other = "0e3f5ab2-1111-4d9c-82e4-5170ab2a0a39"
    both = topic.write(event("UPDATE", ts="6"), event("CREATE", other, ts="7"))
    assert {key: found.title for key, found in both.items()} == {INSTANCE: "UPDATE", other: "CREATE"}
    everything = "00000000-0000-0000-0000-000000000000", {"type": "DELETE_ALL", "tenant": "diku", "ts": "7"}
    left = topic.write(everything)
    assert set(left) <= {other}  # of the same time, and perhaps in another partition
    assert topic.write(event("CREATE", other, ts="9"))[other].title == "CREATE"
    assert topic.write(event("REINDEX", other)) == {}
    assert topic.write(event("DELETE", other)) == {}
    found = {finding.check: finding for finding in examine(topic.config, name, timeout_s=30)}
    assert found["topic cleanup.policy"].severity is Severity.FAULT


@pytest.mark.runs("docs/interpreters.md", containing="FolioEvents(")
@pytest.mark.runs("docs/interpreters.md", containing="initial_records")
def test_folio_with_initial_records(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """Entities whose events Kafka has deleted come from the database; later events replace and delete them.

    A replica that follows, one that is restarted and one that starts later hold the same.
    """
    name = kafka_topic("loaded", partitions=2, config={"cleanup.policy": "delete"})
    topic = Topic(local_kafka, name, tmp_path, example("FolioEvents("), "instances", Instance=Instance)
    database = {f"{number}e3f5ab2-1111-4d9c-82e4-5170ab2a0a39": "old" for number in range(4)}

    def write(*events: tuple[str, str, str | None]) -> Mapping[Partition, int]:
        with topic.producer.transaction() as transaction:
            for kind, key, title in events:
                event = {"type": kind, "tenant": "diku", "new": title and {"id": key, "title": title}}
                transaction.put(key, json.dumps(event).encode())
                database.pop(key, None) if title is None else database.update({key: title})
        return transaction.committed.position

    def shown(replica: Replica, position: Mapping[Partition, int]) -> dict[str, str]:
        names = {**topic.names, "Directory": Directory, "replica": replica}
        exec(example("FolioEvents("), names)
        return {key: found.title for key, found in names["instances"].wait_for(position, WAIT_S).items()}

    def started(store: Store) -> Replica:
        made: dict[str, Any] = {
            "config": topic.config, "store": store,
            "read_instances": lambda: [{"id": key, "title": title} for key, title in database.items()],
        }  # fmt: skip
        exec(example("initial_records").replace("folio.diku.inventory.instance", name), made)
        return made["replica"]

    first, second, third, fourth = database
    old = write(("CREATE", fourth, "old"))
    admin = AdminClient(dict[str, Any](topic.config))
    ends = [TopicPartition(*partition, offset) for partition, offset in old.items()]
    for answer in admin.delete_records(ends).values():
        answer.result(10)
    with started(MemoryStore()) as following:
        with started(RocksStore(tmp_path)) as replica:
            assert shown(replica, {}) == shown(following, {}) == dict.fromkeys(database, "old")
        position = write(("UPDATE", first, "new"), ("DELETE", second, None), ("CREATE", "5" + fourth[1:], "new"))
        with started(RocksStore(tmp_path)) as replica:
            assert shown(replica, position) == shown(following, position) == database
    database[third] = "a change of which the topic tells later"
    position = write(("UPDATE", third, "newer"))
    with started(MemoryStore()) as replica:
        assert shown(replica, position) == database


@pytest.mark.runs("docs/interpreters.md", containing="interpreter=prices")
def test_your_own_function(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """A record puts several keys, a later one removes them; a shop that closes hides its articles only."""
    topic = Topic(local_kafka, kafka_topic("prices"), tmp_path, example("interpreter=prices"), "articles")
    linz = {"shop": "Linz", "prices": {"apple": 1.5, "pear": 2.0}}
    assert topic.write(("L", linz), ("W", {"shop": "Wels", "prices": {"plum": 3}})) == {
        "apple": 1.5,
        "pear": 2.0,
        "plum": 3.0,
    }
    assert topic.write(("L", {"shop": "Linz", "prices": {"pear": 2.5}})) == {"pear": 2.5, "plum": 3.0}
    assert topic.write(("closing", {"shop": "Linz", "closed": True})) == {"plum": 3.0}
    assert topic.write(("closing", None)) == {"pear": 2.5, "plum": 3.0}
    with pytest.raises(BadRecordError, match="interpreting it: KeyError: 'prices'"):
        topic.write(("W", {"shop": "Wels"}))
