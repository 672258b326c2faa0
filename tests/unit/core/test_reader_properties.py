"""The reader of batches honours time limits, checksums and names of properties as librdkafka does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from types import SimpleNamespace
from typing import Any, Literal

import pytest
from confluent_kafka import KafkaError

from kafka_replica import Replica
from kafka_replica.broker.admin.topics import Topics
from kafka_replica.broker.connection.security import ConnectionSettings
from kafka_replica.broker.connection.settings import common_settings, error_callback
from kafka_replica.broker.reading.marker_reader import MarkerReader
from kafka_replica.broker.wire import cluster
from kafka_replica.broker.wire.cluster import Purpose
from kafka_replica.errors import BrokerUnavailableError, ConfigurationError
from kafka_replica.producer import DeadLetterTopic, TransactionalProducer

_BOTH = {"socket.connection.setup.timeout.ms": 20_000, "socket.timeout.ms": "10"}


@contextmanager
def reader_of(**given: Any) -> Iterator[MarkerReader]:
    """Return a reader with these properties."""
    with closing(MarkerReader({"bootstrap.servers": "b:1", **given}, ["t"])) as reader:
        yield reader


@pytest.mark.parametrize("name", ["fetch.max.wait.ms", "fetch.wait.max.ms"])
def test_the_time_of_a_fetch_has_two_names(name: str) -> None:
    """Java's name is translated."""
    with reader_of(**{name: "77"}) as reader:
        assert reader._fetches._limits.wait_ms == 77


@pytest.mark.parametrize(
    ("given", "expected"),
    [("true", True), ("1", True), ("t", True), (True, True), ("False", False), ("0", False), ("f", False), ("", False)],
)
def test_checksums_are_checked_on_request(given: object, expected: bool) -> None:
    """All values that librdkafka accepts are accepted."""
    with reader_of(**{"check.crcs": given}) as reader:
        assert reader._spill_buffer.check_crcs is expected


def test_a_wrong_flag_is_refused() -> None:
    """A value that is not a boolean is an error, and does not switch the check off."""
    with pytest.raises(ConfigurationError, match=r"check\.crcs has to be true or false"):
        MarkerReader({"bootstrap.servers": "b:1", "check.crcs": "on"}, ["t"])


@pytest.mark.parametrize(
    ("given", "any_broker_s", "broker_s"),
    [({}, 3.0, 5.0), (_BOTH, None, None), ({"socket.timeout.ms": 10}, 3.0, 5.0)],
)
def test_the_given_time_limits_a_connection(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], any_broker_s: float | None, broker_s: float | None
) -> None:
    """The user's limit for setting up a connection is the only one, for the bootstrap servers as for each leader."""
    limits_s: list[float | None] = []

    async def refuse(_settings: ConnectionSettings, _host: str, _port: int, timeout_s: float | None) -> None:
        limits_s.append(timeout_s)
        raise BrokerUnavailableError("refused")

    monkeypatch.setattr(cluster, "connect", refuse)
    with reader_of(**given) as reader:
        reader._cluster._brokers[7] = ("b", 1)
        for request in (reader._cluster.metadata(["t"]), reader._cluster.link(7, Purpose.ASK)):
            with pytest.raises(BrokerUnavailableError, match="refused"):
                reader._loop.run_until_complete(request)
        assert reader._cluster._settings.setup_timeout_s == (20.0 if any_broker_s is None else 30.0)
    assert limits_s[0] == any_broker_s
    assert limits_s[-1] == broker_s


@pytest.mark.parametrize("nodes", [(), (7,)])
def test_the_given_time_limits_a_query(monkeypatch: pytest.MonkeyPatch, nodes: tuple[int, ...]) -> None:
    """The limit for a query is the user's, for one that any broker can answer as for one to a leader."""

    async def connect_to_silence(*_: object, **__: object) -> Any:
        loop = asyncio.get_running_loop()
        return SimpleNamespace(usable=True, send=lambda *_: loop.create_future(), close=lambda: None, broker="b:1")

    monkeypatch.setattr(cluster, "connect", connect_to_silence)
    with reader_of(**_BOTH) as reader:
        reader._cluster._brokers[7] = ("b", 1)
        with pytest.raises(BrokerUnavailableError, match=r"leaders: broker b:1 did not answer in 0\.01 s"):
            reader._loop.run_until_complete(reader._cluster.metadata(["t"], nodes))


def ready(config: dict[str, Any], boundaries: Literal["markers", "quiescence"]) -> None:
    """Wait for a replica."""
    with Replica(config, "t", boundaries=boundaries) as replica:
        replica.wait_ready(timeout_s=30)


@pytest.mark.parametrize(
    "make",
    [
        lambda config: ready(config, "markers"),
        lambda config: ready(config, "quiescence"),
        lambda config: TransactionalProducer(config, "t", "p"),
        lambda config: DeadLetterTopic(config, "t"),
        Topics,
    ],
)
def test_a_misspelt_property_is_refused_with_the_likely_name(make: Callable[[dict[str, Any]], Any]) -> None:
    """Python's callers get the same suggestion as the commands."""
    config = {"bootstrap.servers": "localhost:1", "session.timeout": 5}
    with pytest.raises(ConfigurationError, match=r"no property 'session.timeout'; did you mean 'session.timeout.ms'\?"):
        make(config)


def test_properties_that_only_this_librdkafka_knows_and_callbacks_are_accepted() -> None:
    """The list of names may be older than librdkafka, which decides."""
    config = {"bootstrap.servers": "localhost:1", "builtin.features": "", "error_cb": print, "key.deserializer": "x"}
    assert common_settings(config)["bootstrap.servers"] == "localhost:1"


def test_properties_of_a_plugin_are_left_to_librdkafka() -> None:
    """Only the plugin knows them, and librdkafka loads it when it creates the client."""
    own = "confluent.monitoring.interceptor.topic"
    config = {"bootstrap.servers": "localhost:1", "plugin.library.paths": "monitoring-interceptor", own: "x"}
    assert common_settings(config)[own] == "x"
    with pytest.raises(ConfigurationError, match=f"no property '{own}'"):
        common_settings({"bootstrap.servers": "localhost:1", own: "x"})


def test_a_refusal_is_reported_although_a_store_is_gone() -> None:
    """A callback of librdkafka reads no file: its error would come out of any call, and hide the refusal."""
    given, trouble = list[KafkaError](), list[KafkaError]()
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    config = {
        "ssl.truststore.location": "/missing.jks", "ssl.truststore.password": "p", "error_cb": given.append,
        "sasl.mechanism": "PLAIN", "sasl.jaas.config": f'{module} required username="me" password="p";',
    }  # fmt: skip
    refusal = KafkaError(KafkaError._AUTHENTICATION, "refused")
    error_callback(config, trouble)(refusal)
    assert [each.str() for each in trouble] == ["refused, as user 'me' with PLAIN"]
    assert given == [refusal]
