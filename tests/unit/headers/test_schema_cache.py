"""The file of a client of a schema registry: no answer of the registry is lost, and an outage is recognized."""

from __future__ import annotations

import json
import os
import pickle
import ssl
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import UUID

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.schema_registry.error import OAuthTokenError, SchemaRegistryError

from kafka_replica.errors import StoreError
from kafka_replica.headers import ServiceUnavailableError, Stack
from kafka_replica.headers.pieces import CachedRegistryClient, RegistrySchemas
from kafka_replica.publication.status import State
from kafka_replica.records import Headers
from kafka_replica.testing import FakeTopic
from support.closed_port import closed_port
from support.waiting import wait_until

pytestmark = pytest.mark.thorough

SCHEMA = Schema('"string"', "AVRO")


def caused(error: Exception, *, by: Exception) -> Exception:
    """Return an error that was raised while another one was being handled, as HTTP libraries raise their errors."""
    error.__context__ = by
    return error


def client(file: Path) -> CachedRegistryClient:
    """Return a client of a registry that is never reached."""
    return CachedRegistryClient({"url": "http://localhost:1", "max.retries": 0, "timeout": 5}, file)


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[int], Schema]], None]:
    """Return a function that determines the registry's answers."""

    def determine(answers: Callable[[int], Schema]) -> None:
        def get_schema(client: Any, schema_id: int, *options: Any) -> Schema:
            del client, options
            return answers(schema_id)

        monkeypatch.setattr(SchemaRegistryClient, "get_schema", get_schema)

    return determine


def unexpected(schema_id: int) -> Schema:
    """Refuse any request."""
    raise AssertionError(f"schema {schema_id} was requested from the registry")


@pytest.mark.parametrize("removed_bytes", [1, 2, 30])
def test_an_interrupted_write_costs_no_other_answer(
    tmp_path: Path, answer: Callable[[Callable[[int], Schema]], None], removed_bytes: int
) -> None:
    """A process that is killed while it writes a line leaves the lines before and after it readable."""
    file = tmp_path / "schemas.jsonl"
    answer(lambda _: SCHEMA)
    for schema_id in (1, 2):
        client(file).get_schema(schema_id)
    os.truncate(file, file.stat().st_size - removed_bytes)
    client(file).get_schema(3)
    client(file).get_schema(4)
    answer(unexpected)
    for schema_id in (1, 3, 4):
        assert client(file).get_schema(schema_id).schema_str == '"string"'


def test_an_answer_that_was_not_written_is_written_later(
    tmp_path: Path, answer: Callable[[Callable[[int], Schema]], None]
) -> None:
    """Each call fails until the file can be written, since a restart would need the registry otherwise."""
    answer(lambda _: SCHEMA)
    folder = tmp_path / "later"
    reader = client(folder / "schemas.jsonl")
    for _ in range(2):
        with pytest.raises(StoreError, match="writing schemas to"):
            reader.get_schema(1)
    folder.mkdir()
    reader.get_schema(1)
    answer(unexpected)
    assert client(folder / "schemas.jsonl").get_schema(1).schema_str == '"string"'


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's device that is always full")
def test_a_full_disk(tmp_path: Path, answer: Callable[[Callable[[int], Schema]], None]) -> None:
    """The error says what is wrong and what to do."""
    answer(lambda _: SCHEMA)
    file = tmp_path / "schemas.jsonl"
    reader = client(file)
    file.symlink_to("/dev/full")  # only now, because reading it would never end
    with pytest.raises(StoreError, match="No space left on device; make it writable, or free some space"):
        reader.get_schema(1)


@pytest.mark.parametrize("status", [301, 401, 403, 407, 408, 429, 500, 503])
def test_an_outage_is_no_bad_record(
    tmp_path: Path, answer: Callable[[Callable[[int], Schema]], None], status: int
) -> None:
    """Whatever a proxy or an overloaded registry answers, the record is not the cause."""

    def refuse(_: int) -> Schema:
        raise SchemaRegistryError(status, -1, "refused")

    answer(refuse)
    with pytest.raises(ServiceUnavailableError, match=r"schema 1 from .* at http://localhost:1: it refused: .*; check"):
        client(tmp_path / "schemas.jsonl").get_schema(1)


@pytest.mark.parametrize(
    ("error", "is_refusal"),
    [
        *((SchemaRegistryError(status, -1, "refused"), True) for status in (301, 400, 401, 403, 405, 407)),
        *((SchemaRegistryError(status, -1, "busy"), False) for status in (408, 425, 429, 500, 503)),
        (caused(OSError("failed"), by=ssl.SSLCertVerificationError("certificate verify failed")), True),
        (caused(OSError("failed"), by=ssl.SSLEOFError("EOF occurred in violation of protocol")), False),
        (caused(OAuthTokenError("no token"), by=type("OAuthError", (Exception,), {})("invalid_client")), True),
        (caused(OAuthTokenError("no token"), by=ConnectionRefusedError("refused")), False),
        (TimeoutError("timed out"), False),
    ],
)
def test_a_refusal_differs_from_an_outage(
    tmp_path: Path, answer: Callable[[Callable[[int], Schema]], None], error: Exception, is_refusal: bool
) -> None:
    """Waiting does not help against wrong credentials; the piece keeps the difference."""

    def fail(_: int) -> Schema:
        raise error

    answer(fail)
    reader = client(tmp_path / "schemas.jsonl")
    stack = Stack([RegistrySchemas(lambda _value, _context: reader.get_schema(1), bytes)])
    with pytest.raises(ServiceUnavailableError) as failed:
        stack.incoming("k", b"\0\0\0\0\1x", topic="t")
    assert failed.value.is_refusal is is_refusal
    assert pickle.loads(pickle.dumps(failed.value)).is_refusal is is_refusal


@pytest.mark.parametrize(("count", "timeout_s"), [(1, 3.0), (2, 1.5), (5, 1.0)])
def test_a_request_ends_soon_by_default(tmp_path: Path, count: int, timeout_s: float) -> None:
    """All URLs together take 3 s, and no request is repeated, because the closing of a replica waits for a request."""
    urls = ",".join(["http://localhost:1"] * count)
    requests = CachedRegistryClient({"url": urls}, tmp_path / "a")._rest_client
    assert (requests.timeout, requests.max_retries) == (timeout_s, 0)
    requests = CachedRegistryClient({"url": urls, "timeout": 30, "max.retries": 2}, tmp_path / "b")._rest_client
    assert (requests.timeout, requests.max_retries) == (30, 2)


@pytest.mark.parametrize("status", [404, 422])
def test_a_schema_that_does_not_exist(
    tmp_path: Path, answer: Callable[[Callable[[int], Schema]], None], status: int
) -> None:
    """An id that the registry does not know is an error of the record."""

    def refuse(_: int) -> Schema:
        raise SchemaRegistryError(status, 40403, "Schema not found")

    answer(refuse)
    says = "requesting schema 1 from the schema registry at http://localhost:1: Schema not found .*HTTP status code"
    with pytest.raises(SchemaRegistryError, match=says) as refused:
        client(tmp_path / "schemas.jsonl").get_schema(1)
    assert (refused.value.http_status_code, refused.value.error_code) == (status, 40403)


@pytest.mark.parametrize(
    ("headers", "value", "schema"),
    [
        ((), b"\0\0\0\1\x02rest", "schema 258"),
        ((("__value_schema_id", b"\0\0\0\0\7"),), b"rest", "schema 7"),
        ((("__value_schema_id", b"\1" + bytes(15) + b"\1"),), b"rest", f"the schema {UUID(int=1)}"),
    ],
)
def test_the_schema_of_a_value_that_cannot_be_decoded_now_is_named(headers: Headers, value: bytes, schema: str) -> None:
    """The request that was not answered may concern another object, such as the subjects of the topic."""

    def fail(*_value: object) -> object:
        raise ServiceUnavailableError("requesting the subjects of t: it does not answer")

    with pytest.raises(
        ServiceUnavailableError, match=f"^decoding a value with {schema}: requesting the subjects of t: "
    ):
        Stack([RegistrySchemas(fail, bytes)]).incoming("k", value, headers, topic="t")


REQUESTS: dict[str, Callable[[CachedRegistryClient], object]] = {
    "schema 7": lambda registry: registry.get_schema(7),
    "the schema with GUID a-b": lambda registry: registry.get_schema_by_guid("a-b"),
    "version 3 of subject s": lambda registry: registry.get_version("s", 3),
    "version latest of subject s": lambda registry: registry.get_version("s"),
    "the newest version of subject s": lambda registry: registry.get_latest_version("s"),
    "the newest version of subject s with": lambda registry: registry.get_latest_with_metadata("s", {"a": "b"}),
    "the id of the schema under subject s": lambda registry: registry.lookup_schema("s", SCHEMA),
    "the registration of a schema under subject s": lambda registry: registry.register_schema("s", SCHEMA),
    "the subjects of t": lambda registry: registry.get_associations_by_resource_name("t", "-"),
}


@pytest.mark.parametrize("what", REQUESTS)
def test_a_registry_that_does_not_answer_is_named_with_the_request(tmp_path: Path, what: str) -> None:
    """The error has the object that was requested and the URL, but no password."""
    settings = {"url": f"http://user:hidden@127.0.0.1:{closed_port()}", "max.retries": 0, "timeout": 5}
    registry = CachedRegistryClient(settings, tmp_path / "schemas.jsonl")
    says = rf"requesting {what}.* at http://user:\*\*\*@127.0.0.1:\d+: it does not answer \(.*refused"
    with pytest.raises(ServiceUnavailableError, match=says) as failed:
        REQUESTS[what](registry)
    assert "hidden" not in str(failed.value)


def test_each_of_several_urls_is_shown_without_its_password(tmp_path: Path) -> None:
    """The message names registries that exist."""
    port = closed_port()
    urls = f"http://127.0.0.1:{port}, http://user:hidden@127.0.0.1:{port}/b"
    with pytest.raises(ServiceUnavailableError) as failed:
        CachedRegistryClient({"url": urls}, tmp_path / "schemas.jsonl").get_schema(1)
    assert f" at http://127.0.0.1:{port},http://user:***@127.0.0.1:{port}/b: it does" in str(failed.value)


class Address:
    """An address with a registry, or with a proxy whose registry is away."""

    def __init__(self) -> None:
        self.answers: dict[str, object] = {}
        """The registry's answers by the beginning of the path; other paths are unknown to it."""
        self.unknown: tuple[str, bytes] = "text/plain", b"404 page not found\n"
        self.is_there = False
        address = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                found = [answer for path, answer in address.answers.items() if self.path.startswith(path)]
                kind, body = address.unknown
                if address.is_there and found:
                    kind, body = "application/vnd.schemaregistry.v1+json", json.dumps(found[0]).encode()
                is_error = body == address.unknown[1] or b"error_code" in body
                self.send_response(403 if b"40301" in body else 404 if is_error else 200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def address() -> Iterator[Address]:
    """Return an address that answers requests."""
    made = Address()
    thread = Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


SUBJECTS: dict[str, object] = {"/subjects": ["t-value"]}
UNKNOWN: dict[str, tuple[str, bytes]] = {
    "Traefik": ("text/plain; charset=utf-8", b"404 page not found\n"),
    "nginx": ("text/html", b"<html><body>404 Not Found</body></html>"),
    "a gateway": ("application/json", b'{"message": "no Route matched with those values"}'),
    "Karapace": ("application/json", b'"Not Found"'),
    "Apicurio": ("application/json", b'{"error_code": 0, "message": "RESTEASY003210: Could not find resource"}'),
    "Confluent": ("application/json", b'{"error_code": 404, "message": "HTTP 404 Not Found"}'),
}


@pytest.mark.parametrize(("by", "on_bad_record"), [("Traefik", "stop"), ("Confluent", "skip")])
def test_the_404_of_a_proxy_is_no_bad_record(tmp_path: Path, address: Address, by: str, on_bad_record: str) -> None:
    """The record waits until the registry is there; a record whose schema the registry does not have is bad."""
    address.unknown = UNKNOWN[by]
    schema = json.dumps({"type": "record", "name": "R", "fields": [{"name": "a", "type": "long"}]})
    missing = {"error_code": 40403, "message": "Schema 2 not found"}
    address.answers = SUBJECTS | {"/schemas/ids/1": {"schema": schema}, "/schemas/ids/2": missing}
    registry = CachedRegistryClient({"url": address.url}, tmp_path / "schemas.jsonl")
    stack = Stack([RegistrySchemas(AvroDeserializer(registry), lambda value: json.dumps(value).encode())])
    topic = FakeTopic("t")
    topic.put("k", b"\0\0\0\0\1\x0a\x00")
    with topic.replica(header_stack=stack, on_bad_record=on_bad_record) as replica:
        wait_until(lambda: replica.status().last_error is not None)
        text = str(replica.status().last_error)
        assert "decoding a value with schema 1: requesting the subjects of t from" in text
        assert "the answer is not about it" in text
        assert "check the registry's URL" in text
        assert replica.state is not State.FAILED
        address.is_there = True
        value = replica.wait_for(topic.end(), 60)["k"].value
        assert value is not None
        assert json.loads(value) == {"a": 5}
        assert list(replica.bad_records) == []
        topic.put("k", b"\0\0\0\0\2\x0a\x00")
        if on_bad_record == "stop":
            wait_until(lambda: replica.state is State.FAILED)
            assert "Schema 2 not found" in str(replica.status().last_error)
        else:
            assert "k" not in replica.wait_for(topic.end(), 60)
            assert "Schema 2 not found" in replica.bad_records[0].reason
    registry.close()


@pytest.mark.parametrize("by", UNKNOWN)
def test_the_404_of_a_proxy_does_not_replace_the_subjects_of_a_topic(tmp_path: Path, address: Address, by: str) -> None:
    """The last answer of the registry counts. One that says that there is no subject is saved, as others are."""

    def subjects(registry: CachedRegistryClient) -> list[str | None]:
        return [each.subject for each in registry.get_associations_by_resource_name("t", "-", "topic", ["value"])]

    address.unknown = UNKNOWN[by]
    file = tmp_path / "schemas.jsonl"
    registry = CachedRegistryClient({"url": address.url}, file)
    with pytest.raises(ServiceUnavailableError, match=r"the subjects of t from .*: the answer is not about it"):
        subjects(registry)
    assert not file.exists()
    address.is_there, address.answers = True, SUBJECTS
    assert subjects(registry) == []  # a registry without support for associations
    assert subjects(client(file)) == []  # in a new process, whose registry is away
    refused = {"error_code": 40301, "message": "User is denied operation Global Read"}
    address.answers = {"/subjects": refused}
    other = CachedRegistryClient({"url": address.url}, tmp_path / "other.jsonl")
    assert subjects(other) == []  # a registry that does not list its subjects for this user
    associated = {"subject": "s", "guid": "g", "resourceName": "t", "resourceNamespace": "-", "resourceId": "r"}
    kinds = {"resourceType": "topic", "associationType": "value", "frozen": False}
    address.answers = {"/associations": [associated | kinds]}
    assert subjects(registry) == ["s"]
    address.is_there = False
    assert subjects(registry) == ["s"]
    assert subjects(client(file)) == ["s"]
    address.is_there, address.answers = True, {"/associations": {"error_code": 40401, "message": "no such resource"}}
    assert subjects(registry) == []
    assert subjects(client(file)) == []
    registry.close()
