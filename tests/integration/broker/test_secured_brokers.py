"""Connections to real brokers with TLS and SASL, with librdkafka's properties and our own errors."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from dataclasses import replace
from typing import Any

import pytest
from aiokafka.conn import AIOKafkaConnection, create_conn
from aiokafka.protocol.metadata import MetadataRequest
from confluent_kafka.admin import (
    AclOperation,
)

from kafka_replica import Replica
from kafka_replica.broker.connection.security import (
    connection,
    connection_failed,
    connection_settings,
    open_connection,
)
from kafka_replica.errors import (
    AuthenticationError,
    AuthorizationError,
    BrokerError,
    BrokerUnavailableError,
    ConfigurationError,
)
from kafka_replica.producer import TransactionalProducer
from support.broker.kafka_tools import producer, quiet, write
from support.broker.secured_kafka import Secured, allow
from support.core.certificates import PASSWORD

pytestmark = pytest.mark.broker

_PATIENCE_S = 60.0
"""A timeout against hanging; a rejection takes some hundredths of a second, plus the broker's delay of 0.3 s."""


async def advertised_port(connection: AIOKafkaConnection) -> int:
    """Return the port that the broker reports for this listener, once connected."""
    try:
        answer = await connection.send(MetadataRequest([]))
        return int(answer.brokers[0][2])
    finally:
        await connection.close()


async def refusal(config: dict[str, Any]) -> Exception:
    """Return the exception that a connection raises."""
    settings = connection_settings(config)
    async with asyncio.timeout(_PATIENCE_S):
        with pytest.raises((BrokerError, ConfigurationError)) as caught:
            await open_connection(settings, *settings.servers[0])
    assert "my-secret" not in str(caught.value)
    return caught.value


CA = {"ssl__ca__location": "ours.crt"}
CERTIFICATE = {"ssl__certificate__location": "client.crt", "ssl__key__location": "client.key"}
STRANGER = {"ssl__certificate__location": "stranger.crt", "ssl__key__location": "stranger.key"}
ME = {"sasl__username": "me", "sasl__password": "my-secret"}
PLAIN, SCRAM = {**ME, "sasl__mechanism": "PLAIN"}, {**CA, **ME, "sasl__mechanism": "SCRAM-SHA-512"}
OAUTH = {"sasl__mechanism": "OAUTHBEARER"}
UNSECURED = {**OAUTH, "enable__sasl__oauthbearer__unsecure__jwt": "true"}


def wrong_token(_: str | None) -> tuple[str, float]:
    """Return an invalid token."""
    return "nonsense", time.time() + 60


@pytest.mark.parametrize(
    ("listener", "properties"),
    [
        ("PLAINTEXT", {}),
        ("SSL", CA),
        ("SSL", {"enable__ssl__certificate__verification": False}),
        ("ELSEWHERE", {**CA, "ssl__endpoint__identification__algorithm": "none"}),
        ("MTLS", {**CA, **CERTIFICATE}),
        ("MTLS", {**CA, **CERTIFICATE, "ssl__key__location": "client.locked.key", "ssl__key__password": PASSWORD}),
        ("PLAIN", PLAIN),
        ("SCRAM", SCRAM),
        ("OAUTH", {**UNSECURED, "sasl__oauthbearer__config": "principal=me lifeSeconds=60 extension_trace=1"}),
    ],
)
def test_a_secured_broker_accepts_the_client(secured: Secured, listener: str, properties: dict[str, Any]) -> None:
    """The broker accepts the client, and answers as the requested listener: through aiokafka and through our code."""
    settings = connection_settings(secured.config(listener, **properties))
    host, port = settings.servers[0]

    async def both() -> list[int]:
        async with asyncio.timeout(_PATIENCE_S):
            plainly = await advertised_port(await create_conn(host, port, **settings.kwargs))
            return [plainly, await advertised_port(await open_connection(settings, host, port))]

    assert asyncio.run(both()) == [port, port]


@pytest.mark.parametrize(
    ("listener", "properties", "kind", "reason"),
    [
        ("SSL", {"ssl__ca__location": "others.crt"}, AuthenticationError, "check that ssl.ca.location"),
        ("SSL", {}, AuthenticationError, "check that ssl.ca.location"),
        ("ELSEWHERE", CA, AuthenticationError, "use the host name of its certificate"),
        ("MTLS", CA, AuthenticationError, "did not accept our certificate, or requires one"),
        ("MTLS", {**CA, **STRANGER}, AuthenticationError, "did not accept our certificate, or requires one"),
        ("SCRAM", {**SCRAM, "ssl__ca__location": "others.crt"}, AuthenticationError, "check that ssl.ca.location"),
        ("PLAIN", {**PLAIN, "sasl__password": "x"}, AuthenticationError, "SASL_AUTHENTICATION_FAILED"),
        ("SCRAM", {**SCRAM, "sasl__password": "x"}, AuthenticationError, "SASL_AUTHENTICATION_FAILED"),
        ("SCRAM", {**SCRAM, "sasl__username": "nobody"}, AuthenticationError, "SASL_AUTHENTICATION_FAILED"),
        ("OAUTH", {**OAUTH, "oauth_cb": wrong_token}, AuthenticationError, "SASL_AUTHENTICATION_FAILED"),
        (
            "PLAIN",
            {**PLAIN, "sasl__mechanism": "SCRAM-SHA-512"},
            AuthenticationError,
            "does not support the configured sasl.mech",
        ),
        (
            "SCRAM",
            {**SCRAM, "sasl__mechanism": "SCRAM-SHA-256"},
            AuthenticationError,
            "does not support the configured sasl.mech",
        ),
        ("PLAIN", {**UNSECURED, "sasl__oauthbearer__config": "principal=me"}, AuthenticationError, "does not support"),
        (
            "PLAINTEXT",
            {**PLAIN, "security__protocol": "SASL_PLAINTEXT"},
            AuthenticationError,
            "requires no authentication",
        ),
        ("SSL", {"security__protocol": "PLAINTEXT"}, ConfigurationError, "this listener requires TLS"),
        ("SCRAM", {**SCRAM, "security__protocol": "SASL_PLAINTEXT"}, ConfigurationError, "this listener requires TLS"),
        ("PLAINTEXT", {**CA, "security__protocol": "SSL"}, BrokerUnavailableError, "check that security.protocol"),
    ],
)
def test_each_security_problem_raises_its_exception(
    secured: Secured, listener: str, properties: dict[str, Any], kind: type[Exception], reason: str
) -> None:
    """Each problem raises the right exception, with advice, and does not hang."""
    error = asyncio.run(refusal(secured.config(listener, **properties)))
    assert type(error) is kind, error
    assert reason in str(error)
    assert f"127.0.0.1:{secured.ports[listener]}: " in str(error)


def test_a_refused_token_is_not_offered_again(secured: Secured) -> None:
    """After a token was rejected, the next connection uses another token, if there is one."""
    offered = ["nonsense"]

    def change(_: str | None) -> tuple[str, float]:
        return offered[0], time.time() + 60

    async def twice() -> int:
        async with asyncio.timeout(_PATIENCE_S):
            settings = connection_settings(secured.config("OAUTH", **OAUTH, oauth_cb=change))
            with pytest.raises(AuthenticationError):
                await open_connection(settings, *settings.servers[0])
            good = connection_settings(secured.config("OAUTH", **UNSECURED, sasl__oauthbearer__config="principal=me"))
            offered[0] = await good.kwargs["sasl_oauth_token_provider"].token()
            return await advertised_port(await open_connection(settings, *settings.servers[0]))

    assert asyncio.run(twice()) == secured.ports["OAUTH"]


def test_unreachable_servers_are_temporary_failures_or_wrong_settings(secured: Secured) -> None:
    """A closed port, a silent broker and a server of another kind are temporary failures or wrong settings."""

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    async def look() -> None:
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            error = await refusal({"bootstrap.servers": f"127.0.0.1:{closed.getsockname()[1]}"})
            assert type(error) is BrokerUnavailableError
        server = await asyncio.start_server(greet, "127.0.0.1", 0)
        async with server:
            error = await refusal({"bootstrap.servers": f"127.0.0.1:{server.sockets[0].getsockname()[1]}"})
            assert type(error) is ConfigurationError
        for listener, properties in (("PLAINTEXT", {}), ("SSL", CA)):
            settings = connection_settings(secured.config(listener, **properties))
            with pytest.raises(BrokerUnavailableError, match="no answer in time"):
                await open_connection(replace(settings, setup_timeout_s=0.3), *settings.servers[0])

    secured.kafka.pause()
    try:
        asyncio.run(look())
    finally:
        secured.kafka.resume()


def test_aiokafkas_own_exceptions_are_understood(secured: Secured) -> None:
    """A client that connects through aiokafka alone gets the same exceptions from connection_failed."""
    settings = connection_settings(secured.config("PLAIN", **{**PLAIN, "sasl__password": "x"}))

    async def ask() -> None:
        connection = AIOKafkaConnection(*settings.servers[0], **settings.kwargs)
        try:
            await connection.connect()
        finally:
            await connection.close()

    with pytest.raises(Exception, match="Invalid username or password") as caught:
        asyncio.run(ask())
    assert isinstance(connection_failed(caught.value, "x"), AuthenticationError)


@pytest.mark.usefixtures("boundaries")
@pytest.mark.parametrize(("listener", "properties"), [("SSL", CA), ("PLAIN", PLAIN), ("SCRAM", SCRAM)])
def test_a_replica_of_a_secured_topic(
    secured: Secured, boundaries: str, listener: str, properties: dict[str, Any]
) -> None:
    """A replica needs only Read on the topic, with either kind of boundaries; it continues after a lost connection."""
    topic = f"rights-{listener}-{boundaries[:1]}".lower()
    secured.kafka.create_topic(topic, 2, {"cleanup.policy": "compact"})
    allow(secured, topic, AclOperation.READ)
    writer = producer(f"127.0.0.1:{secured.ports['PLAINTEXT']}", topic)
    with Replica(quiet(secured.config(listener, **properties)), topic) as replica:
        replica.wait_ready(timeout_s=_PATIENCE_S)
        write(writer, topic, {f"k{number}": "x" * 100_000 for number in range(8)})
        give_up_s = time.monotonic() + _PATIENCE_S
        while len(replica.snapshot()) < 8:
            assert time.monotonic() < give_up_s, replica.status()
            time.sleep(0.02)


@pytest.mark.usefixtures("boundaries")
@pytest.mark.parametrize("right", [None, AclOperation.DESCRIBE])
def test_a_missing_permission_is_reported(secured: Secured, boundaries: str, right: AclOperation | None) -> None:
    """A replica reports a missing permission, although Kafka does not report it to a consumer."""
    topic = f"no-rights-{right and right.name}-{boundaries[:1]}".lower()
    secured.kafka.create_topic(topic, 1, {"cleanup.policy": "compact"})
    write(producer(f"127.0.0.1:{secured.ports['PLAINTEXT']}", topic), topic, {"k": "v"})
    if right is not None:
        allow(secured, topic, right)
    with (
        Replica(quiet(secured.config("PLAIN", **PLAIN)), topic) as replica,
        pytest.raises(AuthorizationError, match=rf"(?s){topic}.*permission to Read"),
    ):
        replica.wait_ready(timeout_s=_PATIENCE_S)


@pytest.mark.usefixtures("boundaries")
def test_a_wrong_password_ends_a_replica_at_once(secured: Secured, boundaries: str) -> None:
    """A wrong password ends a replica without retries; the error names the user and the mechanism."""
    wrong = secured.config("PLAIN", **{**PLAIN, "sasl__password": "not-mine"})
    says = "as user 'me' with PLAIN"
    with (
        Replica(quiet(wrong), f"any-{boundaries[:1]}") as replica,
        pytest.raises(AuthenticationError, match=says) as caught,
    ):
        replica.wait_ready(timeout_s=_PATIENCE_S)
    assert "not-mine" not in str(caught.value)


def test_a_wrong_password_of_a_producer_is_reported_with_the_user(secured: Secured) -> None:
    """The properties are Java's, whose JAAS configuration holds the user and the password."""
    login = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="me" password="not-mine";'
    wrong = secured.config("PLAIN", sasl__mechanism="PLAIN", sasl__jaas__config=login)
    with pytest.raises(AuthenticationError, match="as user 'me' with PLAIN") as caught:
        TransactionalProducer(quiet(wrong), "any", "any")
    assert "not-mine" not in str(caught.value)


def test_the_warning_about_an_unencrypted_password_is_logged_once(
    secured: Secured, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client warns for each connection, of which a replica opens several."""
    [once] = [each for each in logging.getLogger("aiokafka.conn").filters if isinstance(each, connection._OnlyOnce)]
    monkeypatch.setattr(once, "_has_passed", False)
    settings = connection_settings(secured.config("PLAIN", **PLAIN))

    async def twice() -> None:
        for _ in range(2):
            await (await open_connection(settings, *settings.servers[0])).close()

    asyncio.run(twice())
    assert [record.message for record in caplog.records if "in the clear" in record.message] == [
        "Sending username and password in the clear"
    ]
