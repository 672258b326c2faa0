"""Combine the user's properties for librdkafka with those on which the replica's guarantees depend."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import KafkaError

from kafka_replica.broker.connection import fetch_defaults
from kafka_replica.broker.connection.java import from_java
from kafka_replica.broker.connection.property_names import check_names
from kafka_replica.common.secret_values import hide_secrets
from kafka_replica.errors import ConfigurationError

# A replica needs these values; other values would break a guarantee, and are rejected with the reason.
_REQUIRED: dict[str, tuple[str, str]] = {
    "isolation.level": ("read_committed", "aborted records would be shown"),
    "enable.auto.commit": ("false", "a replica keeps its own positions, with its data"),
    "enable.auto.offset.store": ("false", "a replica keeps its own positions, with its data"),
    "enable.partition.eof": ("true", "the end of a log that ends in markers could not be detected"),
    "auto.offset.reset": ("error", "a gap in the log would be skipped silently"),
}

_SASL_REFUSALS = frozenset({KafkaError._AUTHENTICATION, KafkaError.SASL_AUTHENTICATION_FAILED})

_CONSUMER_DEFAULTS: dict[str, Any] = {
    # librdkafka requires a group even if it is unused; a replica joins no group and commits nothing.
    "group.id": "kafka-replica",
    "client.id": "kafka-replica",
    "allow.auto.create.topics": False,
    **fetch_defaults.OF_CONSUMER,
}

# Properties of consumers only; librdkafka logs a warning if another kind of client gets them.
_CONSUMER_ONLY_PREFIXES = (
    "fetch.",
    "group.",
    "queued.",
    "auto.offset.",
    "enable.auto.",
    "max.poll.",
    "offset.store.",
)
_CONSUMER_ONLY = frozenset({
    "allow.auto.create.topics", "auto.commit.interval.ms", "check.crcs", "client.rack", "coordinator.query.interval.ms",
    "enable.partition.eof", "heartbeat.interval.ms", "isolation.level", "on_commit", "partition.assignment.strategy",
    "session.timeout.ms",
})  # fmt: skip


def common_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given properties with Java's names translated, after checking ``bootstrap.servers``.

    Secret values are wrapped, so that they hide themselves in representations.

    Raises:
        ConfigurationError: there is no broker to connect to, the properties are not a mapping, a property does not
            exist, or a store or JAAS configuration in Java's form cannot be used.
        MissingExtraError: a package that reads a store is not installed.
    """
    config = hide_secrets(config)
    check_names(config, "the given properties")
    settings = hide_secrets(from_java(config))
    if not (settings.get("bootstrap.servers") or settings.get("metadata.broker.list")):
        raise ConfigurationError('no broker to connect to: set "bootstrap.servers", for example "localhost:9092"')
    return settings


def reader_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of the replica's consumer.

    Raises:
        ConfigurationError: a property would break one of the replica's guarantees.
    """
    settings = {**_CONSUMER_DEFAULTS, **common_settings(config)}
    for name, (required, reason) in _REQUIRED.items():
        given = settings.get(name, required)
        if str(given).lower() != required:
            raise ConfigurationError(
                f"{name}={given} is not possible in a replica: {reason}; leave it out (a replica uses {required})"
            )
        settings[name] = required
    return settings


def admin_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of the replica's admin client."""
    # list_offsets queries the leader in librdkafka's cached metadata, by default for up to 15 minutes, even if a new
    # leader was elected and the old leader refuses.
    settings = {"client.id": "kafka-replica", "metadata.max.age.ms": 1000, **common_settings(config)}
    return {
        name: value
        for name, value in settings.items()
        if name not in _CONSUMER_ONLY and not name.startswith(_CONSUMER_ONLY_PREFIXES)
    }


def error_callback(config: Mapping[str, Any], trouble: list[KafkaError]) -> Callable[[KafkaError], None]:
    """Return a callback that collects librdkafka's errors and passes them on to the user's ``error_cb``, if any.

    A collected refusal of SASL credentials also names the user and the mechanism.

    Raises:
        ConfigurationError: a JAAS configuration in Java's form cannot be used.
    """
    users: Callable[[KafkaError], None] | None = config.get("error_cb")
    # Only these properties, and only once: stores are not read, and nothing can fail while librdkafka reports an error.
    login = _login({name: value for name, value in config.items() if str(name).startswith("sasl.")})

    def take(error: KafkaError) -> None:
        if login and error.code() in _SASL_REFUSALS:
            trouble.append(KafkaError(error.code(), f"{error.str()}, {login}", error.fatal()))
        else:
            trouble.append(error)
        if users is not None:
            users(error)

    return take


def _login(sasl: Mapping[str, Any]) -> str:
    """Return the user and the mechanism of SASL properties, for messages; an empty text if there is no user."""
    settings = from_java(hide_secrets(sasl))
    user = settings.get("sasl.username")
    mechanism = settings.get("sasl.mechanism") or settings.get("sasl.mechanisms")
    return f"as user '{user}' with {mechanism}" if user else ""
