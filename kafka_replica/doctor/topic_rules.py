"""Rules for the settings of a topic with which a replica can keep its guarantees; they perform no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from kafka_replica.broker.topic_settings import MIN_INSYNC, REPLICAS, STRUCTURE_TOPIC, recommended_replication_factor
from kafka_replica.common.wording import plural_of
from kafka_replica.doctor.findings import Finding, Severity

_HOUR_MS, _DAY_MS = 3_600_000, 86_400_000
_OF_PROGRESS = ("cleanup.policy", "unclean.leader.election.enable")


def topic_findings(settings: Mapping[str, str], replicas: int, brokers: int, large_bytes: int) -> Iterator[Finding]:
    """Yield a finding for each relevant setting of a topic.

    Args:
        settings: the settings of the topic by name, with the values that Kafka reports.
        replicas: the lowest replication factor of the topic's partitions.
        brokers: the number of brokers in the cluster.
        large_bytes: the size in bytes of the largest record that will be written.
    """
    for name, rule in _RULES.items():
        if name in settings:
            yield rule(f"topic {name}", settings[name])
    if "max.message.bytes" in settings:
        yield _largest(int(settings["max.message.bytes"]), large_bytes)
    min_insync = settings.get("min.insync.replicas")
    yield from _replication("topic", replicas, brokers, min_insync, is_replicated=True)


def progress_findings(settings: Mapping[str, str], replicas: int, brokers: int) -> Iterator[Finding]:
    """Yield findings for the settings of a producer's progress topic; see ``topic_findings`` for the arguments."""
    for name in _OF_PROGRESS:
        if name in settings:
            yield _RULES[name](f"progress topic {name}", settings[name])
    yield from _replication(
        "progress topic", replicas, brokers, settings.get("min.insync.replicas"), is_replicated=False
    )


def cluster_finding(brokers: int) -> Finding:
    """Return a finding about the number of brokers."""
    if brokers >= REPLICAS:
        return Finding("cluster", Severity.OK, f"{brokers} brokers")
    return Finding(
        "cluster", Severity.ADVICE,
        f"{brokers} broker{'s' if brokers > 1 else ''}: the data does not survive the loss of a "
        "disk, and nothing can be written while a broker is down", f"use {REPLICAS} brokers, where this matters",
    )  # fmt: skip


def _cleanup(check: str, value: str) -> Finding:
    policies = {policy.strip() for policy in value.split(",")}
    advice = "kafka-configs --alter --entity-type topics --entity-name TOPIC --add-config cleanup.policy=compact"
    if policies == {"compact"}:
        return Finding(check, Severity.OK, value)
    if "compact" in policies:
        message = f"{value}: keys that were not changed for retention.ms are deleted, also from every replica"
        return Finding(check, Severity.FAULT, message, advice)
    message = f"{value}: the topic is not compacted; keys are lost after retention.ms, and until then it only grows"
    return Finding(check, Severity.FAULT, message, advice)


def _tombstones(check: str, value: str) -> Finding:
    kept_ms = int(value)
    message = f"tombstones are kept for {_duration(kept_ms)}"
    if kept_ms >= _DAY_MS:
        return Finding(check, Severity.OK, message)
    wanted = STRUCTURE_TOPIC["delete.retention.ms"]
    advice = f"set it to a day ({wanted}) or more, above the longest time that a replica may be down"
    more = "; a replica that was down for longer is rebuilt"
    if kept_ms >= _HOUR_MS:
        return Finding(check, Severity.ADVICE, message + more, advice)
    more += ", and a replica whose first reading takes longer may never become ready"
    return Finding(check, Severity.FAULT, message + more, advice)


def _lag(check: str, value: str) -> Finding:
    lag_ms = int(value)
    if lag_ms == 0:
        return Finding(
            check, Severity.ADVICE,
            "0: a log may be compacted while it is read for the first time, which delays the first "
            "version until the compacted part has been read",
            f"set it to some minutes ({STRUCTURE_TOPIC['min.compaction.lag.ms']}), longer than the first reading takes",
        )  # fmt: skip
    return Finding(check, Severity.OK, f"nothing younger than {_duration(lag_ms)} is compacted")


def _unclean(check: str, value: str) -> Finding:
    if value == "true":
        return Finding(
            check, Severity.FAULT, "true: a replica of a partition that lags may become leader, and acknowledged "
            "transactions are lost", "set it to false",
        )  # fmt: skip
    return Finding(check, Severity.OK, value)


_RULES: dict[str, Callable[[str, str], Finding]] = {
    "cleanup.policy": _cleanup,
    "delete.retention.ms": _tombstones,
    "min.compaction.lag.ms": _lag,
    "unclean.leader.election.enable": _unclean,
}


def _largest(limit: int, wanted: int) -> Finding:
    check = "topic max.message.bytes"
    if limit >= wanted:
        return Finding(check, Severity.OK, f"a batch of up to {limit:,} bytes, compressed")
    return Finding(
        check, Severity.ADVICE,
        f"{limit:,} bytes a batch, compressed; a record of {wanted:,} bytes has to be compressed to that",
        f"raise it to {STRUCTURE_TOPIC['max.message.bytes']} if codelists are long, or compress "
        "(compression.type=zstd)",
    )  # fmt: skip


def _replication(
    topic: str, replicas: int, brokers: int, min_insync: str | None, *, is_replicated: bool
) -> Iterator[Finding]:
    factor = f"replication factor {replicas}"
    if replicas < recommended_replication_factor(brokers):
        yield Finding(
            f"{topic} replication", Severity.ADVICE, f"{factor} on {brokers} brokers: the data may be lost with "
            f"{'that broker' if replicas == 1 else 'these brokers'}",
            f"replication factor {REPLICAS}, with min.insync.replicas={MIN_INSYNC}",
        )  # fmt: skip
    else:
        yield Finding(f"{topic} replication", Severity.OK, f"{factor} on {brokers} broker{'s' if brokers > 1 else ''}")
    if min_insync is None or replicas < REPLICAS:
        return
    check = f"{topic} min.insync.replicas"
    if int(min_insync) < MIN_INSYNC:
        message = f"{min_insync}: a transaction may be acknowledged by one broker alone, and be lost with it"
        if is_replicated:
            message += "; while a broker is down, replicas of several partitions cannot exclude half a transaction"
        yield Finding(check, Severity.ADVICE, message, f"set it to {MIN_INSYNC}")
    elif int(min_insync) >= replicas:
        message = f"{min_insync} of {replicas}: nothing can be written while one broker is down"
        yield Finding(check, Severity.ADVICE, message, f"set it to {replicas - 1}")
    else:
        yield Finding(check, Severity.OK, f"{min_insync} of {replicas}")


def _duration(ms: int) -> str:
    for unit, size_ms in (("day", _DAY_MS), ("hour", _HOUR_MS), ("minute", 60_000), ("second", 1000)):
        if ms >= size_ms:
            return f"{ms / size_ms:g} {unit if ms == size_ms else plural_of(unit)}"
    return f"{ms} ms"
