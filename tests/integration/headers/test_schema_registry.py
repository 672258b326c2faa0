"""Values that are serialised by the schemas of a registry: over HTTP, from a file, and on a real broker."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.schema_registry import (
    SchemaRegistryClient,
    header_schema_id_serializer,
    record_subject_name_strategy,
)
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message_factory import GetMessageClass

from kafka_replica import BadRecordError, ConfigurationError, Replica
from kafka_replica.embedded import LocalKafka
from kafka_replica.headers import PieceError, ServiceUnavailableError, Stack
from kafka_replica.headers.pieces import CachedRegistryClient, Compression, HmacKey, RegistrySchemas, Signing
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.broker.durable_tools import config, durable
from support.headers.schema_registry import running_registry
from support.parallel import folder_of_all_processes

AVRO = json.dumps({"type": "record", "name": "Terminal", "fields": [{"name": "acquirer", "type": "string"}]})
JSON_SCHEMA = json.dumps({"title": "Terminal", "type": "object", "properties": {"acquirer": {"type": "string"}}})
VALUE = {"acquirer": "A7 in Linz"}
_ONCE = {"max.retries": 0, "timeout": 5}


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the registry is built once for all processes."""
    return folder_of_all_processes(tmp_path_factory, "registry")


def encode(value: Any) -> bytes:
    """Return JSON without white space."""
    return json.dumps(value, separators=(",", ":")).encode()


_clients: list[SchemaRegistryClient] = []


@pytest.fixture(autouse=True)
def _closed_clients() -> Iterator[None]:
    yield
    while _clients:
        _clients.pop().close()


def client(url: str, file: Path | None = None) -> SchemaRegistryClient:
    """Return a client of a registry that does not repeat requests; it is closed at the end of the test."""
    settings = {"url": url, **_ONCE}
    _clients.append(SchemaRegistryClient(settings) if file is None else CachedRegistryClient(settings, file))
    return _clients[-1]


def avro(url: str, file: Path, **conf: Any) -> RegistrySchemas:
    """Return a piece for Avro."""
    registry = client(url, file)
    serializer = AvroSerializer(registry, AVRO, conf=conf)
    return RegistrySchemas(AvroDeserializer(registry), encode, serializer=serializer, decode=json.loads)


def json_schema(url: str, file: Path) -> RegistrySchemas:
    """Return a piece for JSON Schema."""
    registry = client(url, file)
    deserializer, serializer = (
        JSONDeserializer(None, schema_registry_client=registry),
        JSONSerializer(JSON_SCHEMA, registry),
    )
    return RegistrySchemas(deserializer, encode, serializer=serializer, decode=json.loads)


def protobuf(url: str, file: Path) -> RegistrySchemas:
    """Return a piece for Protobuf."""
    made = FileDescriptorProto(name="terminal.proto", package="test", syntax="proto3")
    field = made.message_type.add(name="Terminal").field.add(name="acquirer", number=1)
    field.type, field.label = FieldDescriptorProto.TYPE_STRING, FieldDescriptorProto.LABEL_OPTIONAL
    pool = DescriptorPool()
    pool.Add(made)
    terminal, registry = GetMessageClass(pool.FindMessageTypeByName("test.Terminal")), client(url, file)
    conf = {"use.deprecated.format": False}
    return RegistrySchemas(
        ProtobufDeserializer(terminal, conf, registry),
        lambda message: encode(MessageToDict(message)),
        serializer=ProtobufSerializer(terminal, registry, conf),
        decode=lambda value: ParseDict(json.loads(value), terminal()),
    )


@pytest.mark.parametrize("make", [avro, json_schema, protobuf])
def test_each_schema_format_is_written_and_read_as_json(
    build: Path, tmp_path: Path, make: Callable[[str, Path], RegistrySchemas]
) -> None:
    """A value goes to the log in the format of its schema, and readers get JSON; tombstones pass."""
    with running_registry(build) as url:
        stack = Stack([make(url, tmp_path / "writer")])
        sent = stack.outgoing("T1", encode(VALUE), [("mine", b"1")], topic="terminals")
        assert (sent.value or b"").startswith(b"\0\0\0\0\1")  # the first schema of the registry
        assert sent.headers == (("mine", b"1"),)
        assert client(url).get_subjects() == ["terminals-value"]
        reader = Stack([make(url, tmp_path / "reader")])
        assert reader.incoming("T1", *sent, topic="terminals") == (encode(VALUE), (("mine", b"1"),))
        assert reader.incoming("T1", *stack.outgoing("T1", None, topic="terminals"), topic="terminals").value is None


def test_confluents_options_decide_the_subject_of_a_schema(build: Path, tmp_path: Path) -> None:
    """The options of Confluent's serializers decide the subject of a schema."""
    with running_registry(build) as url:
        piece = avro(url, tmp_path / "file", **{"subject.name.strategy": record_subject_name_strategy})
        Stack([piece]).outgoing("T1", encode(VALUE), topic="terminals")
        assert client(url).get_subjects() == ["Terminal"]


def test_the_id_in_a_header(tmp_path: Path) -> None:
    """The id of the schema may be in a header, which the piece owns; Confluent's own registry in memory knows GUIDs."""
    registry = SchemaRegistryClient.new_client({"url": "mock://header"})
    serializer = AvroSerializer(registry, AVRO, conf={"schema.id.serializer": header_schema_id_serializer})
    piece = RegistrySchemas(AvroDeserializer(registry), encode, serializer=serializer, decode=json.loads)
    sent = Stack([piece]).outgoing("T1", encode(VALUE), [("mine", b"1")], topic="t")
    assert [name for name, _ in sent.headers] == ["mine", "__value_schema_id"]
    assert sent.value == b"\x14A7 in Linz"
    assert Stack([piece]).incoming("T1", *sent, topic="t") == (encode(VALUE), (("mine", b"1"),))
    with pytest.raises(PieceError, match="already has a header __value_schema_id"):
        Stack([piece]).outgoing("T1", encode(VALUE), sent.headers, topic="t")
    signed = Stack([piece, Compression(min_bytes=0), Signing(HmacKey("k", bytes(32)))])
    value, headers = signed.outgoing("T1", encode(VALUE), topic="t")
    assert signed.incoming("T1", value, headers, topic="t") == (encode(VALUE), ())
    without_id = tuple(header for header in headers if header[0] != "__value_schema_id")
    with pytest.raises(PieceError, match="'signing' refused it"):
        signed.incoming("T1", value, without_id, topic="t")


def test_the_file_survives_the_registry(build: Path, tmp_path: Path) -> None:
    """A new process reads known schemas while the registry is away; an unknown one is not a bad record then."""
    file = tmp_path / "schemas"
    with running_registry(build) as url:
        sent = Stack([avro(url, tmp_path / "writer")]).outgoing("T1", encode(VALUE), topic="t")
        assert Stack([avro(url, file)]).incoming("T1", *sent, topic="t").value == encode(VALUE)
        unknown = (sent.value or b"").replace(b"\0\0\0\1", b"\0\0\0\7")
        with pytest.raises(PieceError, match="'registry schemas' refused it"):  # the registry says so
            Stack([avro(url, file)]).incoming("T1", unknown, topic="t")
    with file.open("a") as end:
        end.write('["a line that was cut')
    away = Stack([avro(url, file)])
    assert away.incoming("T1", *sent, topic="t").value == encode(VALUE)
    with pytest.raises(ServiceUnavailableError, match="does not answer"):
        away.incoming("T1", unknown, topic="t")
    with pytest.raises(ServiceUnavailableError, match="does not answer"):
        Stack([avro(url, tmp_path / "empty")]).incoming("T1", *sent, topic="t")


@pytest.mark.broker
def test_a_topic_of_confluents_serializers(
    build: Path, tmp_path: Path, local_kafka: LocalKafka, kafka_topic: TopicMaker
) -> None:
    """A replica reads what Confluent's client wrote, restarts without the registry, and reports a damaged record."""
    topic, file = kafka_topic("avro"), tmp_path / "schemas"
    with running_registry(build) as url:
        serializer = AvroSerializer(client(url), AVRO)
        value = serializer(VALUE, SerializationContext(topic, MessageField.VALUE))
        writer = Producer(config(local_kafka))
        writer.produce(topic, key="T1", value=value)
        writer.flush(30)
        stack = Stack([avro(url, file)])
        with durable(local_kafka, topic, tmp_path / "store", header_stack=stack) as replica:
            assert replica.snapshot()["T1"].value == encode(VALUE)
    with Replica(config(local_kafka), topic, header_stack=Stack([avro(url, file)])) as replica:  # reads from the start
        assert replica.wait_ready(60)["T1"].value == encode(VALUE)
    writer.produce(topic, key="T2", value=b"no Avro")
    writer.flush(30)
    with (
        Replica(config(local_kafka), topic, header_stack=Stack([avro(url, file)])) as replica,
        pytest.raises(BadRecordError, match=r"key 'T2': the header piece 'registry schemas' refused it"),
    ):
        replica.wait_ready(60)


def test_values_without_a_schema(tmp_path: Path) -> None:
    """Values without the id of a schema are refused, or pass as they are."""
    registry = SchemaRegistryClient.new_client({"url": "mock://plain"})
    lenient = RegistrySchemas(AvroDeserializer(registry), encode, unframed="accept")
    assert Stack([lenient]).incoming("k", b'{"a":1}', topic="t").value == b'{"a":1}'
    with pytest.raises(PieceError, match="'registry schemas' refused it"):
        Stack([RegistrySchemas(AvroDeserializer(registry), encode)]).incoming("k", b'{"a":1}', topic="t")
    for use in (
        lambda: Stack([lenient]).outgoing("k", b"{}", topic="t"),
        lambda: Stack([lenient]).incoming("k", b"\0"),
    ):
        with pytest.raises(ConfigurationError):
            use()
    with pytest.raises(ConfigurationError, match="cannot come after 'signing'"):
        Stack([Signing(HmacKey("k", bytes(32))), lenient])
    with pytest.raises(ConfigurationError, match="cannot be read"):
        CachedRegistryClient({"url": "http://127.0.0.1:1"}, tmp_path)
