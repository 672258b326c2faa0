"""The file of a client of a schema registry: no answer of the registry is lost, and an outage is recognized."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.error import SchemaRegistryError

from kafka_replica.errors import StoreError
from kafka_replica.headers import ServiceUnavailableError
from kafka_replica.headers.pieces import CachedRegistryClient

SCHEMA = Schema('"string"', "AVRO")


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
    with pytest.raises(ServiceUnavailableError, match="the schema registry refused a request"):
        client(tmp_path / "schemas.jsonl").get_schema(1)


@pytest.mark.parametrize("status", [404, 422])
def test_a_schema_that_does_not_exist(
    tmp_path: Path, answer: Callable[[Callable[[int], Schema]], None], status: int
) -> None:
    """An id that the registry does not know is an error of the record."""

    def refuse(_: int) -> Schema:
        raise SchemaRegistryError(status, 40403, "Schema not found")

    answer(refuse)
    with pytest.raises(SchemaRegistryError, match="Schema not found"):
        client(tmp_path / "schemas.jsonl").get_schema(1)
