"""Users of the embedded broker: a listener with SASL PLAIN, and permissions (ACLs) for those who use it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kafka_replica.embedded.errors import EmbeddedKafkaError
from kafka_replica.embedded.ports import LOOPBACK, Ports

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_LISTENERS: Final = frozenset({"listeners", "advertised.listeners", "listener.security.protocol.map"})
_LOGIN: Final = "org.apache.kafka.common.security.plain.PlainLoginModule required"


def check_users(users: Mapping[str, str], settings: Mapping[str, object]) -> None:
    """Check the users of a broker, and that its settings do not define other listeners.

    Raises:
        EmbeddedKafkaError: a name or a password cannot be used, or the settings define the listeners, too.
    """
    doing = "setting up the embedded Kafka"
    for name, password in users.items():
        if not _NAME.fullmatch(name):
            raise EmbeddedKafkaError(
                f"{doing}: users has the name {name!r}; use letters, digits, '_', '.' and '-', beginning with a letter"
            )
        if not password or not password.isprintable():
            raise EmbeddedKafkaError(
                f"{doing}: the password of user {name} is empty or has control characters; use another one"
            )
    if users and (both := sorted(_LISTENERS & settings.keys())):
        raise EmbeddedKafkaError(
            f"{doing}: users= adds a listener, and settings= has {', '.join(both)}; use one of the two"
        )


def user_settings(ports: Ports, users: Mapping[str, str]) -> dict[str, object]:
    """Return the broker's settings for the users; none if there are no users.

    Clients of the listener without SASL, which are those of the program that started the broker, are super users.
    """
    if not users:
        return {}
    logins = " ".join(f'user_{name}="{_quoted(password)}"' for name, password in users.items())
    clients = f"PLAINTEXT://{LOOPBACK}:{ports.clients},USERS://{LOOPBACK}:{ports.users}"
    return {
        "listeners": f"{clients},CONTROLLER://{LOOPBACK}:{ports.controller}",
        "advertised.listeners": clients,
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,USERS:SASL_PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "listener.name.users.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.users.plain.sasl.jaas.config": f"{_LOGIN} {logins};",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }


def user_config(ports: Ports | None, users: Mapping[str, str], user: str) -> dict[str, str]:
    """Return a user's connection properties for librdkafka.

    Raises:
        EmbeddedKafkaError: there is no such user, or the ports are not chosen yet.
    """
    doing = f"asking for the connection properties of user {user}"
    if user not in users:
        known = ", ".join(users) or "none: name them with LocalKafka(users=...)"
        raise EmbeddedKafkaError(f"{doing}: the embedded Kafka does not have this user; its users are {known}")
    if ports is None:
        raise EmbeddedKafkaError(f"{doing}: the embedded Kafka has no address before it is started; call start() first")
    return {
        "bootstrap.servers": f"{LOOPBACK}:{ports.users}",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": user,
        "sasl.password": users[user],
    }


def _quoted(password: str) -> str:
    return password.replace("\\", "\\\\").replace('"', '\\"')
