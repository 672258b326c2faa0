"""Whether a topic's settings are such that a replica of it can keep its promises. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from kafka_replica.doctor.findings import Finding, Grade
from kafka_replica.wording import plural_of

_HOUR_MS, _DAY_MS = 3_600_000, 86_400_000
_FEW_REPLICAS = 3


def topic_findings(settings: Mapping[str, str], replicas: int, large_bytes: int) -> Iterator[Finding]:
    """Findings about each setting that matters.

    Args:
        settings: of the topic, by name, as Kafka tells them.
        replicas: how many copies its partitions have, the least of all partitions.
        large_bytes: how large a record is wanted to be possible.
    """
    for name, judge in _JUDGES.items():
        if name in settings:
            yield judge(f"topic {name}", settings[name])
    if "max.message.bytes" in settings:
        yield _largest(int(settings["max.message.bytes"]), large_bytes)
    yield from _replication(replicas, settings.get("min.insync.replicas"))


def _cleanup(check: str, value: str) -> Finding:
    policies = {policy.strip() for policy in value.split(",")}
    todo = "kafka-configs --alter --entity-type topics --entity-name TOPIC --add-config cleanup.policy=compact"
    if policies == {"compact"}:
        return Finding(check, Grade.OK, value)
    if "compact" in policies:
        said = f"{value}: what was not changed for retention.ms is deleted, from every replica, too"
        return Finding(check, Grade.FAULT, said, todo)
    said = f"{value}: the topic is not compacted; keys are lost after retention.ms, and until then it only grows"
    return Finding(check, Grade.FAULT, said, todo)


def _tombstones(check: str, value: str) -> Finding:
    kept_ms = int(value)
    said = f"tombstones are kept for {_duration(kept_ms)}"
    if kept_ms >= _DAY_MS:
        return Finding(check, Grade.OK, said)
    todo = "set it to a day (86400000) or more, above the longest time that a replica may be down"
    more = "; a replica that was away for longer is built anew"
    if kept_ms >= _HOUR_MS:
        return Finding(check, Grade.ADVICE, said + more, todo)
    more += ", and a replica whose first reading takes longer may never become ready"
    return Finding(check, Grade.FAULT, said + more, todo)


def _lag(check: str, value: str) -> Finding:
    lag_ms = int(value)
    if lag_ms == 0:
        return Finding(
            check, Grade.ADVICE, "0: a log may be compacted while it is read for the first time, which puts the first "
            "version off until the reading has caught up with what was compacted",
            "set it to some minutes (600000), longer than the first reading takes",
        )  # fmt: skip
    return Finding(check, Grade.OK, f"nothing younger than {_duration(lag_ms)} is compacted")


def _unclean(check: str, value: str) -> Finding:
    if value == "true":
        return Finding(
            check, Grade.FAULT, "true: a replica of a partition that lags may become leader, and acknowledged "
            "transactions are lost", "set it to false",
        )  # fmt: skip
    return Finding(check, Grade.OK, value)


_JUDGES: dict[str, Callable[[str, str], Finding]] = {
    "cleanup.policy": _cleanup,
    "delete.retention.ms": _tombstones,
    "min.compaction.lag.ms": _lag,
    "unclean.leader.election.enable": _unclean,
}


def _largest(limit: int, wanted: int) -> Finding:
    check = "topic max.message.bytes"
    if limit >= wanted:
        return Finding(check, Grade.OK, f"a batch of up to {limit:,} bytes, compressed")
    return Finding(
        check, Grade.ADVICE, f"{limit:,} bytes a batch, compressed; a record of {wanted:,} bytes has to be compressed "
        "to that", "raise it to 16777216 if codelists are long, or compress (compression.type=zstd)",
    )  # fmt: skip


def _replication(replicas: int, min_insync: str | None) -> Iterator[Finding]:
    if replicas < _FEW_REPLICAS:
        yield Finding(
            "topic replication", Grade.ADVICE, f"{replicas} cop{'y' if replicas == 1 else 'ies'}: one broker's end may "
            "be the end of what it holds", "3 copies, with min.insync.replicas=2",
        )  # fmt: skip
    else:
        yield Finding("topic replication", Grade.OK, f"{replicas} copies")
    if min_insync is None or replicas < _FEW_REPLICAS:
        return
    check = "topic min.insync.replicas"
    if int(min_insync) < 2:
        todo = "set it to 2"
        said = f"{min_insync}: a transaction may be acknowledged by one broker alone, and end with it"
        yield Finding(check, Grade.ADVICE, said, todo)
    elif int(min_insync) >= replicas:
        said = f"{min_insync} of {replicas}: nothing can be written while one broker is down"
        yield Finding(check, Grade.ADVICE, said, f"set it to {replicas - 1}")
    else:
        yield Finding(check, Grade.OK, f"{min_insync} of {replicas}")


def _duration(ms: int) -> str:
    for unit, size_ms in (("day", _DAY_MS), ("hour", _HOUR_MS), ("minute", 60_000), ("second", 1000)):
        if ms >= size_ms:
            return f"{ms / size_ms:g} {unit if ms == size_ms else plural_of(unit)}"
    return f"{ms} ms"
