"""The examples in docs/headers.md run as they are written there, on a real broker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from confluent_kafka import Consumer
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from kafka_replica import ConfigurationError, Replica
from kafka_replica.embedded import LocalKafka
from kafka_replica.headers import PieceError, Stack
from kafka_replica.headers.stacks.header_keys import ASSIGNED
from kafka_replica.producer import TransactionalProducer
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.doc_blocks import programs
from support.headers.sample_stacks import all_pieces
from support.headers.schema_registry import running_registry
from support.parallel import folder_of_all_processes
from support.paths import ROOT

_PAGE = (ROOT / "docs/headers.md").read_text()


@pytest.mark.broker
@pytest.mark.runs("docs/headers.md", without="RegistrySchemas")
def test_the_examples_run(local_kafka: LocalKafka, kafka_topic: TopicMaker, capsys: pytest.CaptureFixture[str]) -> None:
    """The replica shows what was written by both producers, a consumer can undo the stack, and all prints are right."""
    names: dict[str, Any] = {}
    topics = {'"terminals"': f'"{kafka_topic("terminals")}"', '"mixed"': f'"{kafka_topic("mixed")}"'}

    def run(block: str) -> str:
        for old, new in {"localhost:9092": local_kafka.bootstrap_servers, **topics}.items():
            block = block.replace(old, new)
        exec(block, names)
        return capsys.readouterr().out

    first, client, mixed, rotation, trail, own = programs("docs/headers.md", without="RegistrySchemas")
    assert run(first) == "b'{\"acquirer\": \"A7\"}' (('tenant', b'diku'),)\n"
    run(client)
    assert (names["plain"], names["others"]) == (b'{"acquirer": "B1"}', ())
    stack, topic = names["stack"], topics['"terminals"'].strip('"')
    with Replica(names["kafka"], topic, header_stack=stack) as replica:
        assert replica.wait_ready(60)["T2"].value == b'{"acquirer": "B1"}'
    consumer = Consumer({**names["kafka"], "group.id": topic, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    message = next(iter(consumer.consume(1, timeout=60)))
    read = stack.incoming(message.key(), message.value(), message.headers() or (), topic=message.topic())
    assert read == (b'{"acquirer": "A7"}', (("tenant", b"diku"),))
    consumer.close()
    assert run(mixed) == "B1\n"
    run(rotation)
    written = Stack([names["then_producers"]]).outgoing("k", b"v")
    assert Stack([names["readers_first"]]).incoming("k", *written).value == b"v"
    assert Stack([names["at_the_end"]]).incoming("k", *written).value == b"v"
    assert run(trail).startswith("registry-1 1\n| producer |")
    assert run(own) == "(('#80000001', b'diku'),)\n"
    with pytest.raises(PieceError, match="another tenant"):
        Stack([names["Tenant"]()]).incoming("k", b"v")


@pytest.mark.broker
@pytest.mark.runs("docs/headers.md", containing="RegistrySchemas")
def test_the_example_with_a_registry_runs(
    local_kafka: LocalKafka,
    kafka_topic: TopicMaker,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A replica shows values in JSON that Confluent's serializer wrote in Avro."""
    topic, kafka = kafka_topic("avro"), {"bootstrap.servers": local_kafka.bootstrap_servers}
    schema = '{"type": "record", "name": "Terminal", "fields": [{"name": "acquirer", "type": "string"}]}'
    with running_registry(folder_of_all_processes(tmp_path_factory, "registry")) as url:
        registry = SchemaRegistryClient({"url": url})
        value = AvroSerializer(registry, schema)({"acquirer": "A7"}, SerializationContext(topic, MessageField.VALUE))
        registry.close()
        producer = TransactionalProducer(kafka, topic, topic)
        with producer.transaction() as transaction:
            transaction.put("T1", value or b"")
        producer.wait_visible(transaction.committed, 60)
        [block] = programs("docs/headers.md", containing="RegistrySchemas")
        block = block.replace("http://localhost:8081", url).replace('"avro"', f'"{topic}"')
        names = {"kafka": kafka, "Replica": Replica, "Stack": Stack, "msgspec": msgspec}
        exec(block.replace("schemas.jsonl", str(tmp_path / "schemas.jsonl")), names)
        names["registry"].close()  # type: ignore[attr-defined]
    assert capsys.readouterr().out == 'b\'{"acquirer":"A7"}\'\n'


def test_the_page_names_all_assigned_identifiers() -> None:
    """The page's table of reserved identifiers has each name with its identifier."""
    for name, identifier in ASSIGNED.items():
        assert f"`{name}` {identifier}" in _PAGE


def test_the_page_recommends_a_valid_order() -> None:
    """The order that the page recommends can be made, and the orders that it calls impossible cannot."""
    pieces = {piece.name: piece for piece in all_pieces()}
    content, compression, encryption, signing = (
        pieces[name] for name in ("content type", "compression", "encryption", "signing")
    )
    assert Stack([content, compression, encryption, signing])
    for impossible in ([encryption, compression], [signing, content]):
        with pytest.raises(ConfigurationError):
            Stack(impossible)
