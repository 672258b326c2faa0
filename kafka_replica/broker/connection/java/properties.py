"""Translate Java's property names where librdkafka's differ. Properties with the same name pass unchanged."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kafka_replica.broker.connection.java.jaas import Login, parse_jaas
from kafka_replica.broker.connection.java.stores import JavaStore
from kafka_replica.errors import ConfigurationError

_log = logging.getLogger("kafka_replica")

_RENAMED = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.request.size": "message.max.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "ssl.truststore.certificates": "ssl.ca.pem",
}
# Properties of Java's implementation that librdkafka handles differently or lacks; none weakens a connection.
_LEFT_OUT = frozenset({
    "auto.include.jmx.reporter", "buffer.memory", "interceptor.classes", "key.deserializer", "key.serializer",
    "max.block.ms", "max.poll.records", "metric.reporters", "metrics.num.samples", "metrics.recording.level",
    "metrics.sample.window.ms", "partitioner.class", "sasl.kerberos.ticket.renew.jitter",
    "sasl.kerberos.ticket.renew.window.factor", "sasl.login.callback.handler.class",
    "ssl.enabled.protocols", "ssl.keymanager.algorithm", "ssl.protocol", "ssl.provider",
    "ssl.secure.random.implementation", "ssl.trustmanager.algorithm", "value.deserializer", "value.serializer",
})  # fmt: skip
_STORES = ("ssl.truststore.", "ssl.keystore.")
JAVA_NAMES = _LEFT_OUT | _RENAMED.keys() | {
    *(store + name for store in _STORES for name in ("location", "password", "type")), "sasl.jaas.config",
}  # fmt: skip
"""Properties that only Java's clients have, or have under these names."""
_PEM = ("ssl.ca.pem", "ssl.certificate.pem", "ssl.key.pem")


def from_java(given: Mapping[str, Any]) -> dict[str, Any]:
    """Translate properties to librdkafka's, reading the stores that they name.

    Properties that librdkafka has under the same name stay unchanged; so a configuration without Java's names is
    returned unchanged.

    Raises:
        ConfigurationError: a store or the JAAS configuration cannot be used.
        MissingExtraError: a package that reads a store is not installed.
    """
    settings = {_RENAMED.get(name, name): value for name, value in given.items() if name not in _LEFT_OUT}
    left_out = sorted(_LEFT_OUT & given.keys())
    if left_out:
        _log.info("ignoring properties that only Java's clients have: %s", ", ".join(left_out))
    if settings.get("ssl.endpoint.identification.algorithm") == "":
        settings["ssl.endpoint.identification.algorithm"] = "none"  # the meaning of an empty value in Java
    for name in _PEM:
        if isinstance(settings.get(name), str):
            settings[name] = settings[name].replace("\\n", "\n")  # line breaks in a value on a single line
    _take_stores(settings)
    _take_jaas(settings)
    return settings


def _take_stores(settings: dict[str, Any]) -> None:
    trust = settings.pop("ssl.truststore.location", None)
    password = settings.pop("ssl.truststore.password", None)
    settings.pop("ssl.truststore.type", None)
    if trust:
        settings["ssl.ca.pem"] = JavaStore("ssl.truststore.location", trust, password).trusted()
    settings.pop("ssl.keystore.type", None)
    location = settings.get("ssl.keystore.location")
    if not location or not Path(location).is_file():  # also librdkafka's own property: its error message is enough
        return
    store = JavaStore("ssl.keystore.location", location, settings.get("ssl.keystore.password"))
    if store.is_pem:
        del settings["ssl.keystore.location"]
        settings["ssl.certificate.location"] = settings["ssl.key.location"] = location
    elif store.is_java:
        opened = store.as_pkcs12(settings.pop("ssl.key.password", None))
        settings["ssl.keystore.location"], settings["ssl.keystore.password"] = opened


def _take_jaas(settings: dict[str, Any]) -> None:
    text = settings.pop("sasl.jaas.config", None)
    if not text:
        return
    login = parse_jaas(str(text))
    translate = _MODULES.get(login.module)
    if translate is None:
        raise ConfigurationError(
            f"sasl.jaas.config names {login.module}, which exists only in Java; supported are {', '.join(_MODULES)}: "
            "use librdkafka's sasl.* properties instead"
        )
    for name, value in translate(login, settings).items():
        settings.setdefault(name, value)


def _name_and_password(login: Login, _settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"sasl.username": _option(login, "username"), "sasl.password": _option(login, "password")}


def _plain(login: Login, settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"sasl.mechanism": "PLAIN", **_name_and_password(login, settings)}


def _scram(login: Login, settings: Mapping[str, Any]) -> dict[str, Any]:
    if not settings.get("sasl.mechanism") and not settings.get("sasl.mechanisms"):
        raise ConfigurationError(
            "sasl.jaas.config names SCRAM: set its variant in sasl.mechanism, such as SCRAM-SHA-512"
        )
    return _name_and_password(login, settings)


def _kerberos(login: Login, _settings: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"sasl.mechanism": "GSSAPI"}
    if "serviceName" in login.options:
        found["sasl.kerberos.service.name"] = login.options["serviceName"]
    if "principal" in login.options:
        found["sasl.kerberos.principal"] = login.options["principal"]
    if login.options.get("useKeyTab", "false").lower() == "true":
        found["sasl.kerberos.keytab"] = _option(login, "keyTab").removeprefix("file:")
    elif login.options.get("useTicketCache", "false").lower() == "true":
        found["sasl.kerberos.kinit.cmd"] = "true"  # the ticket exists already: nothing to fetch
    return found


def _bearer(login: Login, settings: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"sasl.mechanism": "OAUTHBEARER"}
    subject = login.options.get("unsecuredLoginStringClaim_sub")
    if subject is not None:
        return {
            **found, "enable.sasl.oauthbearer.unsecure.jwt": "true", "sasl.oauthbearer.config": f"principal={subject}",
        }  # fmt: skip
    if settings.get("oauth_cb") is not None:
        return found
    found["sasl.oauthbearer.method"] = "oidc"
    found["sasl.oauthbearer.client.id"] = _option(login, "clientId")
    found["sasl.oauthbearer.client.secret"] = _option(login, "clientSecret")
    if "scope" in login.options:
        found["sasl.oauthbearer.scope"] = login.options["scope"]
    return found


def _option(login: Login, name: str) -> str:
    try:
        return login.options[name]
    except KeyError:
        raise ConfigurationError(f"sasl.jaas.config: {login.module} lacks the option {name}") from None


_MODULES = {
    "PlainLoginModule": _plain,
    "ScramLoginModule": _scram,
    "Krb5LoginModule": _kerberos,
    "OAuthBearerLoginModule": _bearer,
}
