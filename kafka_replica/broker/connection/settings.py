"""librdkafka's properties: the user's as they are, ours where a promise depends on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import KafkaError

from kafka_replica.broker.connection.java import from_java
from kafka_replica.common.secret_values import hide_secrets
from kafka_replica.errors import ConfigurationError

# A replica needs these; another value would break a promise, so it is refused with the reason.
_REQUIRED: dict[str, tuple[str, str]] = {
    "isolation.level": ("read_committed", "aborted records would be shown"),
    "enable.auto.commit": ("false", "a replica keeps its own positions, with its data"),
    "enable.auto.offset.store": ("false", "a replica keeps its own positions, with its data"),
    "enable.partition.eof": ("true", "the end of a log that ends in markers could not be seen"),
    "auto.offset.reset": ("error", "a gap in the log would be skipped unseen"),
}

_READER_DEFAULTS: dict[str, Any] = {
    # librdkafka asks for a group even where none is used; a replica joins none and commits nothing.
    "group.id": "kafka-replica",
    "client.id": "kafka-replica",
    "allow.auto.create.topics": False,
    # Its default lets the fetcher sleep a second whenever the local queue is full.
    "fetch.queue.backoff.ms": 1,
    # How long the broker holds an empty fetch: the time that the end of a log shows late when its last
    # records were compacted away. An idle replica asks this often.
    "fetch.wait.max.ms": 100,
    "fetch.message.max.bytes": 16 << 20,
    "queued.max.messages.kbytes": 65536,
    "receive.message.max.bytes": 1 << 30,  # the topic says how large a record may be
}

# Known to consumers only; librdkafka warns of each one given to another kind of client.
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
    """The properties as given, Java's names in librdkafka's words, with ``bootstrap.servers`` made sure of.

    Secrets in them hide themselves.

    Raises:
        ConfigurationError: there is no broker to connect to, the properties are not a mapping, or a store or JAAS
            configuration in Java's form cannot be used.
        MissingExtraError: a package that reads a store is not installed.
    """
    settings = hide_secrets(from_java(hide_secrets(config)))
    if not (settings.get("bootstrap.servers") or settings.get("metadata.broker.list")):
        raise ConfigurationError('no broker to connect to: set "bootstrap.servers", for example "localhost:9092"')
    return settings


def reader_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """What the replica's consumer is made with.

    Raises:
        ConfigurationError: a property would break one of the replica's promises.
    """
    settings = {**_READER_DEFAULTS, **common_settings(config)}
    for name, (required, reason) in _REQUIRED.items():
        given = settings.get(name, required)
        if str(given).lower() != required:
            raise ConfigurationError(
                f"{name}={given} is not possible in a replica: {reason}; leave it out (a replica uses {required})"
            )
        settings[name] = required
    return settings


def admin_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """What the replica's look-ups (not its reading) are made with."""
    # list_offsets asks the leader that it knows, and believes in it for as long as this (15 minutes, if nothing is
    # said), though a new one was elected and the old one refuses.
    settings = {"client.id": "kafka-replica", "metadata.max.age.ms": 1000, **common_settings(config)}
    return {
        name: value
        for name, value in settings.items()
        if name not in _CONSUMER_ONLY and not name.startswith(_CONSUMER_ONLY_PREFIXES)
    }


def error_callback(config: Mapping[str, Any], trouble: list[KafkaError]) -> Callable[[KafkaError], None]:
    """Gathers what librdkafka reports, and passes it on to the user's own ``error_cb`` if there is one."""
    users: Callable[[KafkaError], None] | None = config.get("error_cb")

    def take(error: KafkaError) -> None:
        trouble.append(error)
        if users is not None:
            users(error)

    return take
