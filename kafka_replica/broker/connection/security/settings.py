"""Translate all librdkafka properties that affect a connection to aiokafka's arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from kafka_replica.broker.connection.security.properties import Properties, refused
from kafka_replica.broker.connection.security.sasl import sasl_arguments
from kafka_replica.broker.connection.security.servers import parse_servers
from kafka_replica.broker.connection.security.tls import tls_context
from kafka_replica.broker.connection.settings import common_settings

_PROTOCOLS = ("plaintext", "ssl", "sasl_plaintext", "sasl_ssl")
_IMPOSSIBLE = {
    "client.rack": "only the consumer fetches from the nearest replica",
    "plugin.library.paths": "plug-ins are librdkafka's",
}
# The only supported value of each property, which needs no translation, and the reason.
_ONLY = {
    "broker.address.family": ("any", "aiokafka uses any address of a host that answers"),
    "client.dns.lookup": ("use_all_dns_ips", "aiokafka does not look up canonical names"),
}
_MOST_MS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """The addresses and arguments of connections. The representation hides passwords."""

    servers: tuple[tuple[str, int], ...]
    """Hosts and ports of the bootstrap servers, in the given order."""
    client_id: str
    security_protocol: str
    """``PLAINTEXT``, ``SSL``, ``SASL_PLAINTEXT`` or ``SASL_SSL``."""
    setup_timeout_s: float
    """The time limit for setting up a connection, including TLS and SASL, in seconds."""
    has_given_setup_timeout: bool
    """True if this limit is the user's (``socket.connection.setup.timeout.ms``)."""
    given_query_timeout_s: float | None
    """The time limit for a query in seconds, if the user has set ``socket.timeout.ms``; otherwise None."""
    kwargs: Mapping[str, Any] = field(repr=False, compare=False)
    """All arguments of ``aiokafka.conn.create_conn`` except host and port."""

    @property
    def login_text(self) -> str:
        """The user and the SASL mechanism for messages, such as `` as user 'me' with PLAIN``; empty without a user."""
        user = self.kwargs.get("sasl_plain_username")
        return f" as user '{user}' with {self.kwargs['sasl_mechanism']}" if user else ""


def connection_settings(config: Mapping[str, Any]) -> ConnectionSettings:
    """Translate librdkafka's properties, reading the files that they name.

    Raises:
        ConfigurationError: a property cannot be honoured when reading markers (the message gives the reason and an
            alternative), has an impossible value, or names an unusable file.
    """
    properties = Properties(common_settings(config))
    _refuse(properties)
    protocol = properties.choice("security.protocol", "plaintext", _PROTOCOLS).upper()
    name = properties.written("bootstrap.servers")
    servers = parse_servers(properties.text("bootstrap.servers") or "", name, protocol)
    client_id = properties.text("client.id") or "kafka-replica"
    query_ms = properties.number("socket.timeout.ms", 60_000, 10, 300_000)
    kwargs: dict[str, Any] = {
        "client_id": client_id,
        "security_protocol": protocol,
        "request_timeout_ms": query_ms,
        # "Never" is 0 in librdkafka and None in aiokafka.
        "max_idle_ms": properties.number("connections.max.idle.ms", 0, 0, _MOST_MS) or None,
    }
    if protocol.endswith("SSL"):
        kwargs["ssl_context"] = tls_context(properties)
    if protocol.startswith("SASL"):
        kwargs |= sasl_arguments(properties)
    setup_ms = properties.number("socket.connection.setup.timeout.ms", 30_000, 1000, _MOST_MS)
    return ConnectionSettings(
        servers,
        client_id,
        protocol,
        setup_timeout_s=setup_ms / 1000,
        has_given_setup_timeout=properties.has("socket.connection.setup.timeout.ms"),
        given_query_timeout_s=query_ms / 1000 if properties.has("socket.timeout.ms") else None,
        kwargs=MappingProxyType(kwargs),
    )


def _refuse(properties: Properties) -> None:
    for name, reason in _IMPOSSIBLE.items():
        if properties.has(name):
            raise refused(name, reason)
    for name, (only, reason) in _ONLY.items():
        if properties.has(name) and str(properties.text(name)).lower() != only:
            raise refused(f"{name}={properties.text(name)}", reason)
