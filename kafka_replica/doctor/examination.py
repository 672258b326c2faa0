"""Examine servers, a topic and its settings, a transaction and a large record. Readers do not notice any of this."""

from __future__ import annotations

import socket
from collections.abc import Callable, Generator, Iterator, Mapping
from functools import partial
from typing import Any

from kafka_replica.broker.admin.topic_details import TopicDetails
from kafka_replica.broker.admin.topics import Topics
from kafka_replica.broker.connection.settings import common_settings
from kafka_replica.broker.writing.write_probe import WriteProbe
from kafka_replica.common.compiled import parser_name
from kafka_replica.common.secret_values import hide_secrets
from kafka_replica.common.wording import counted, reason_of
from kafka_replica.doctor.findings import Finding, Severity
from kafka_replica.doctor.state_rules import in_sync_finding, leader_finding, read_finding, write_finding
from kafka_replica.doctor.topic_rules import cluster_finding, progress_findings, topic_findings
from kafka_replica.errors import AuthorizationError, BrokerError, KafkaReplicaError, TopicNotFoundError

LARGE_BYTES = 1_000_000  # fits into Kafka's default of max.message.bytes
_SMALL_BYTES = 100
_PARSERS = {
    "compiled": "the compiled one",
    "general": "the general one; a replica that is compiled becomes ready sooner (docs/versions.md)",
}


def examine(
    config: Mapping[str, Any],
    topic: str,
    *,
    large_bytes: int = LARGE_BYTES,
    progress_topic: str | None = None,
    transactional_id: str = "tx-doctor",
    timeout_s: float = 10.0,
    reader_only: bool = False,
) -> Iterator[Finding]:
    """Run all checks, and yield each finding as soon as it is available.

    Test records are sent in transactions that are aborted, so readers of committed records never see them.

    Args:
        config: librdkafka's or Java's properties; ``bootstrap.servers`` is required.
        topic: the topic to be replicated or written.
        large_bytes: the size of the largest record that will be sent, in bytes before compression.
        progress_topic: the producer's progress topic; None means ``<topic>.progress``, if it exists.
        transactional_id: the transactional id for the test records; using it may require a permission.
        timeout_s: the timeout of each step, in seconds.
        reader_only: whether only a replica is examined, for which no permission to write is needed; nothing is sent.
    """
    try:
        config = hide_secrets(config)
        settings = common_settings(config)
    except KafkaReplicaError as error:
        yield _fault("properties", error)
        return
    yield Finding("record parser", Severity.OK, _PARSERS[parser_name()])
    reached = list(_each_server(settings, timeout_s))
    yield from reached
    if all(finding.severity is Severity.FAULT for finding in reached):
        return
    topics = Topics(settings)
    brokers = topics.brokers(timeout_s)
    yield from _brokers(brokers, timeout_s)
    yield cluster_finding(len(brokers))
    details = yield from _topic(topics, topic, len(brokers), large_bytes, timeout_s)
    if reader_only:
        return
    yield from _progress_topic(topics, topic, progress_topic, len(brokers), timeout_s)
    if details is not None:
        yield from _writing(settings, topic, details, large_bytes, transactional_id, timeout_s)


def _each_server(settings: Mapping[str, Any], timeout_s: float) -> Iterator[Finding]:
    name = "bootstrap.servers" if settings.get("bootstrap.servers") else "metadata.broker.list"
    for server in str(settings[name]).split(","):
        address = server.strip()
        if address:
            yield _attempted(f"server {address}", partial(_count_brokers, {**settings, name: address}, timeout_s))


def _count_brokers(settings: Mapping[str, Any], timeout_s: float) -> str:
    brokers = Topics(settings, waits_for_brokers=False).brokers(timeout_s)
    return f"answers; {counted(len(brokers), 'broker')} in the cluster"


def _brokers(brokers: Mapping[int, tuple[str, int]], timeout_s: float) -> Iterator[Finding]:
    """Check the advertised addresses of the brokers, which clients use after bootstrapping."""
    for number, (host, port) in brokers.items():
        check = f"broker {number} at {host}:{port}"
        try:
            with socket.create_connection((host, port), timeout_s):
                yield Finding(check, Severity.OK, "reachable")
        except (OSError, UnicodeError) as error:  # UnicodeError: a host with an empty or too long part, such as "a..b"
            yield Finding(
                check, Severity.FAULT, f"cannot be reached from here ({reason_of(error)})",
                "the broker names this address (advertised.listeners); set an address that clients can reach",
            )  # fmt: skip


def _topic(
    topics: Topics, topic: str, brokers: int, large_bytes: int, timeout_s: float
) -> Generator[Finding, None, TopicDetails | None]:
    """Check the topic, the permission to read it, and its settings; return its details, or None without them."""
    try:
        details = topics.details(topic, timeout_s)
    except BrokerError as error:
        yield _fault(f"topic {topic}", error)
        return None
    yield Finding(f"topic {topic}", Severity.OK, counted(len(details.partitions), "partition"))
    yield read_finding(details.permissions)
    yield leader_finding(details.partitions)
    yield from _topic_settings(topics, topic, details, brokers, large_bytes, timeout_s)
    return details


def _topic_settings(
    topics: Topics, topic: str, details: TopicDetails, brokers: int, large_bytes: int, timeout_s: float
) -> Iterator[Finding]:
    try:
        settings = topics.settings(topic, timeout_s)
    except AuthorizationError as error:
        advice = "give the permission DescribeConfigs on the topic, or ask its owner to check the settings"
        reason, _, _ = str(error).rpartition("; ")  # omits the general advice, which names other permissions
        yield Finding("topic settings", Severity.SKIPPED, f"may not be read: {reason}", advice)
        return
    except BrokerError as error:
        yield _fault("topic settings", error)
        return
    yield from topic_findings(settings, details.replication_factor, brokers, large_bytes)
    if "min.insync.replicas" in settings:
        yield in_sync_finding(details.partitions, int(settings["min.insync.replicas"]))


def _progress_topic(
    topics: Topics, topic: str, progress_topic: str | None, brokers: int, timeout_s: float
) -> Iterator[Finding]:
    """Check the settings of the progress topic; a missing topic with the default name is not reported."""
    name = progress_topic or f"{topic}.progress"
    try:
        replicas = topics.replicas(name, timeout_s)
        settings = topics.settings(name, timeout_s)
    except TopicNotFoundError:
        if progress_topic is not None:
            yield Finding(f"progress topic {name}", Severity.SKIPPED, "does not exist; the producer creates it")
    except BrokerError as error:
        if progress_topic is not None:
            yield Finding(f"progress topic {name}", Severity.SKIPPED, f"could not be examined: {error}")
    else:
        yield from progress_findings(settings, min(replicas.values()), brokers)


def _writing(
    settings: Mapping[str, Any],
    topic: str,
    details: TopicDetails,
    large_bytes: int,
    transactional_id: str,
    timeout_s: float,
) -> Iterator[Finding]:
    """Send test records in a transaction that is aborted."""
    probe: WriteProbe | None = None

    def begin() -> str:
        nonlocal probe
        probe = WriteProbe(settings, transactional_id, timeout_s)
        return f"acquired as {transactional_id}"

    yield _attempted("transactions", begin)
    permission = write_finding(details.permissions)
    yield permission
    # Without permission, aborting the empty transaction would fail, and its error would hide the reason.
    if probe is None or permission.severity is Severity.FAULT:
        return
    yield _attempted("a record", partial(_send, probe, topic, _SMALL_BYTES))
    yield _attempted("a large record", partial(_send, probe, topic, large_bytes))


def _send(probe: WriteProbe, topic: str, size_bytes: int) -> str:
    probe.send(topic, size_bytes)
    return f"{size_bytes:,} bytes acknowledged, in a transaction that was then aborted"


def _attempted(check: str, attempt: Callable[[], str]) -> Finding:
    try:
        return Finding(check, Severity.OK, attempt())
    except KafkaReplicaError as error:
        return _fault(check, error)


def _fault(check: str, error: KafkaReplicaError) -> Finding:
    """Return an error as a finding; the part of its message after the last semicolon is the advice."""
    message, _, advice = str(error).removeprefix(f"looking up {check}: ").rpartition("; ")
    return Finding(check, Severity.FAULT, message or advice, advice if message else None)
