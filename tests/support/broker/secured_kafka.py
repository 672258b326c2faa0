"""A real broker with TLS and SASL, with a listener for each kind of login."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from confluent_kafka.admin import (
    AclOperation,
    ResourceType,
)

from kafka_replica.embedded import LocalKafka, ports
from kafka_replica.embedded.errors import EmbeddedKafkaError
from support.broker.access_rights import grant, on_topic
from support.core.certificates import Authority
from support.core.secret_tools import PASSWORD

_LISTENERS = {
    "PLAINTEXT": "PLAINTEXT", "CONTROLLER": "PLAINTEXT", "SSL": "SSL", "MTLS": "SSL", "ELSEWHERE": "SSL",
    "PLAIN": "SASL_PLAINTEXT", "SCRAM": "SASL_SSL", "OAUTH": "SASL_PLAINTEXT",
}  # fmt: skip
USER, USER_PASSWORD = "teller", PASSWORD
"""A user other than ``me``, whose password occurs nowhere by chance."""
_LOGIN = "org.apache.kafka.common.security"


class Secured:
    """A broker with a listener for each kind of login."""

    def __init__(self, folder: Path) -> None:
        ours, others = Authority(folder, "ours"), Authority(folder, "others")
        ours.issue("broker", "DNS:localhost,IP:127.0.0.1")
        ours.issue("elsewhere", "DNS:elsewhere.example")
        ours.issue("client", "DNS:client")
        others.issue("stranger", "DNS:stranger")
        self.folder = folder
        self.kafka, self.ports = self._start()

    def _start(self) -> tuple[LocalKafka, dict[str, int]]:
        for left in (2, 1, 0):
            chosen: dict[str, int] = {}
            for name in _LISTENERS:
                chosen[name] = ports.choose_port(but=tuple(chosen.values()))
            users = [
                option
                for name, password in (("me", "my-secret"), (USER, USER_PASSWORD))
                for option in ("--add-scram", f"SCRAM-SHA-512=[name={name},password={password}]")
            ]
            kafka = LocalKafka(port=chosen["PLAINTEXT"], settings=self._settings(chosen), format_options=users)
            try:
                return kafka.start(), chosen
            except EmbeddedKafkaError as error:
                # Another process may take a port before the broker does.
                if not left or "in use" not in str(error):
                    raise
        raise AssertionError

    def _settings(self, chosen: dict[str, int]) -> dict[str, object]:
        addresses = {name: f"{name}://127.0.0.1:{port}" for name, port in chosen.items()}
        settings: dict[str, object] = {
            "listeners": ",".join(addresses.values()),
            "advertised.listeners": ",".join(at for name, at in addresses.items() if name != "CONTROLLER"),
            "listener.security.protocol.map": ",".join(f"{name}:{kind}" for name, kind in _LISTENERS.items()),
            "inter.broker.listener.name": "PLAINTEXT",
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS",
            "controller.quorum.voters": f"1@127.0.0.1:{chosen['CONTROLLER']}",
            "listener.name.mtls.ssl.client.auth": "required",
            "listener.name.mtls.ssl.truststore.type": "PEM",
            "listener.name.mtls.ssl.truststore.location": self.folder / "ours.crt",
        }
        for listener, holder in (
            ("ssl", "broker"), ("mtls", "broker"), ("scram", "broker"), ("elsewhere", "elsewhere")
        ):  # fmt: skip
            settings[f"listener.name.{listener}.ssl.keystore.type"] = "PEM"
            settings[f"listener.name.{listener}.ssl.keystore.location"] = self.folder / f"{holder}.pem"
        for listener, mechanism, login in (
            ("plain", "PLAIN", f'plain.PlainLoginModule required user_me="my-secret" user_{USER}="{USER_PASSWORD}"'),
            ("scram", "SCRAM-SHA-512", "scram.ScramLoginModule required"),
            ("oauth", "OAUTHBEARER", "oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub=a"),
        ):
            settings[f"listener.name.{listener}.sasl.enabled.mechanisms"] = mechanism
            settings[f"listener.name.{listener}.{mechanism.lower()}.sasl.jaas.config"] = f"{_LOGIN}.{login};"
        return settings

    def config(self, listener: str, **properties: Any) -> dict[str, Any]:
        """Return a listener's address and the given properties, with ``__`` for a dot."""
        given = {name.replace("__", "."): value for name, value in properties.items() if value is not None}
        for name in given.keys() & {"ssl.ca.location", "ssl.certificate.location", "ssl.key.location"}:
            given[name] = str(self.folder / given[name])
        protocol = _LISTENERS[listener]
        return {"bootstrap.servers": f"127.0.0.1:{self.ports[listener]}", "security.protocol": protocol, **given}


def allow_all(secured: Secured, topic: str) -> None:
    """Let every user read and write the topic, with any transactional id."""
    rights = on_topic(topic, AclOperation.READ, AclOperation.WRITE)
    grant(_plain(secured), [*rights, (ResourceType.TRANSACTIONAL_ID, f"{topic}-writer", AclOperation.WRITE)])


def allow(secured: Secured, topic: str, operation: AclOperation) -> None:
    """Grant the user of the SASL listeners a permission on a topic."""
    grant(_plain(secured), on_topic(topic, operation), "User:me")


def _plain(secured: Secured) -> str:
    return f"127.0.0.1:{secured.ports['PLAINTEXT']}"
