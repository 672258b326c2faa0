"""The names of Kafka's client properties, to report misspelled names before anything connects.

The list serves to suggest the intended name. librdkafka decides whether a property exists, because another version may
support properties that are not in the list.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from typing import Final

from confluent_kafka import KafkaException, Producer

from kafka_replica.broker.connection.java.properties import JAVA_NAMES
from kafka_replica.errors import ConfigurationError

LIBRDKAFKA_NAMES: Final = frozenset({
    "acks", "allow.auto.create.topics", "api.version.fallback.ms", "api.version.request",
    "api.version.request.timeout.ms", "auto.commit.enable", "auto.commit.interval.ms", "auto.offset.reset",
    "batch.num.messages", "batch.size", "bootstrap.servers", "broker.address.family", "broker.address.ttl",
    "broker.version.fallback", "check.crcs", "client.dns.lookup", "client.id", "client.rack",
    "client.software.name", "client.software.version", "compression.codec", "compression.level", "compression.type",
    "connections.max.idle.ms", "consume.callback.max.messages", "coordinator.query.interval.ms", "debug",
    "delivery.report.only.error", "delivery.timeout.ms", "enable.auto.commit", "enable.auto.offset.store",
    "enable.gapless.guarantee", "enable.idempotence", "enable.metrics.push", "enable.partition.eof",
    "enable.random.seed", "enable.sasl.oauthbearer.unsecure.jwt", "enable.sparse.connections",
    "enable.ssl.certificate.verification", "fetch.error.backoff.ms", "fetch.max.bytes", "fetch.message.max.bytes",
    "fetch.min.bytes", "fetch.queue.backoff.ms", "fetch.wait.max.ms", "group.id", "group.instance.id",
    "group.protocol", "group.protocol.type", "group.remote.assignor", "heartbeat.interval.ms", "https.ca.location",
    "https.ca.pem", "isolation.level", "linger.ms", "log.connection.close", "log.thread.name", "log_level",
    "max.in.flight",
    "max.in.flight.requests.per.connection", "max.partition.fetch.bytes", "max.poll.interval.ms",
    "max.poll.records", "message.copy.max.bytes", "message.max.bytes", "message.send.max.retries",
    "message.timeout.ms", "metadata.broker.list", "metadata.max.age.ms", "metadata.recovery.rebootstrap.trigger.ms",
    "metadata.recovery.strategy", "metadata.request.timeout.ms", "offset.store.method", "offset.store.path",
    "offset.store.sync.interval.ms", "partition.assignment.strategy", "partitioner", "plugin.library.paths",
    "produce.offset.report", "queue.buffering.backpressure.threshold", "queue.buffering.max.kbytes",
    "queue.buffering.max.messages", "queue.buffering.max.ms", "queued.max.messages.kbytes", "queued.min.messages",
    "queuing.strategy", "receive.message.max.bytes", "reconnect.backoff.jitter.ms", "reconnect.backoff.max.ms",
    "reconnect.backoff.ms", "request.required.acks", "retries", "retry.backoff.max.ms", "retry.backoff.ms",
    "sasl.jaas.config", "sasl.kerberos.keytab", "sasl.kerberos.kinit.cmd", "sasl.kerberos.min.time.before.relogin",
    "sasl.kerberos.principal", "sasl.kerberos.service.name", "sasl.mechanism", "sasl.mechanisms",
    "sasl.oauthbearer.assertion.algorithm", "sasl.oauthbearer.assertion.claim.aud",
    "sasl.oauthbearer.assertion.claim.exp.seconds", "sasl.oauthbearer.assertion.claim.iss",
    "sasl.oauthbearer.assertion.claim.jti.include", "sasl.oauthbearer.assertion.claim.nbf.seconds",
    "sasl.oauthbearer.assertion.claim.sub", "sasl.oauthbearer.assertion.file",
    "sasl.oauthbearer.assertion.jwt.template.file", "sasl.oauthbearer.assertion.private.key.file",
    "sasl.oauthbearer.assertion.private.key.passphrase", "sasl.oauthbearer.assertion.private.key.pem",
    "sasl.oauthbearer.client.credentials.client.id", "sasl.oauthbearer.client.credentials.client.secret",
    "sasl.oauthbearer.client.id", "sasl.oauthbearer.client.secret", "sasl.oauthbearer.config",
    "sasl.oauthbearer.extensions", "sasl.oauthbearer.grant.type", "sasl.oauthbearer.metadata.authentication.type",
    "sasl.oauthbearer.method", "sasl.oauthbearer.scope", "sasl.oauthbearer.sub.claim.name",
    "sasl.oauthbearer.token.endpoint.url", "sasl.password", "sasl.username", "security.protocol",
    "session.timeout.ms", "share.acknowledgement.mode", "socket.blocking.max.ms",
    "socket.connection.setup.timeout.ms", "socket.keepalive.enable", "socket.max.fails", "socket.nagle.disable",
    "socket.receive.buffer.bytes", "socket.send.buffer.bytes", "socket.timeout.ms", "ssl.ca.certificate.stores",
    "ssl.ca.location", "ssl.ca.pem", "ssl.certificate.location", "ssl.certificate.pem", "ssl.cipher.suites",
    "ssl.crl.location", "ssl.curves.list", "ssl.endpoint.identification.algorithm", "ssl.engine.id",
    "ssl.engine.location", "ssl.key.location", "ssl.key.password", "ssl.key.pem", "ssl.keystore.location",
    "ssl.keystore.password", "ssl.providers", "ssl.sigalgs.list", "ssl.truststore.location",
    "statistics.interval.ms", "sticky.partitioning.linger.ms", "topic.blacklist",
    "topic.metadata.propagation.max.ms", "topic.metadata.refresh.fast.cnt",
    "topic.metadata.refresh.fast.interval.ms", "topic.metadata.refresh.interval.ms",
    "topic.metadata.refresh.sparse", "transaction.timeout.ms", "transactional.id",
})  # fmt: skip
"""The properties that librdkafka 2.16 supports."""

_CALLBACKS = frozenset({
    "error_cb", "logger", "oauth_cb", "on_commit", "on_delivery", "stats_cb", "throttle_cb", "default.topic.config",
})  # fmt: skip
_PLUGINS: Final = "plugin.library.paths"
_KNOWN = LIBRDKAFKA_NAMES | JAVA_NAMES | _CALLBACKS


def check_names(names: Iterable[str], where: str) -> None:
    """Check that properties exist; with plugins, librdkafka does so when it creates a client.

    Args:
        names: names of librdkafka's or Java's properties. A plugin in ``plugin.library.paths`` may have properties of
            its own, which librdkafka knows only once it has loaded the plugin.
        where: the source of the properties, such as a file, for the message.

    Raises:
        ConfigurationError: a property does not exist; the message suggests the most similar name.
    """
    names = list(map(str, names))
    if _PLUGINS in names:
        return
    for name in names:
        if name not in _KNOWN and not _is_new(name):
            near = nearest(name)
            hint = f"did you mean {near!r}?" if near else "see librdkafka's CONFIGURATION.md for all properties"
            raise ConfigurationError(f"{where}: Kafka's clients have no property {name!r}; {hint}")


def nearest(name: str) -> str | None:
    """Return the known property with the most similar name, or None."""
    found = get_close_matches(name.strip().lower().replace("_", ".").replace("-", "."), _KNOWN, 1)
    return found[0] if found else None


@cache
def _is_new(name: str) -> bool:
    """Return whether librdkafka supports a property that is not in this list."""
    try:
        Producer({name: ""})
    except KafkaException as error:
        return "No such configuration property" not in str(error)
    except (TypeError, ValueError):
        return True
    return True
