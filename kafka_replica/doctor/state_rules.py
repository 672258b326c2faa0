"""Rules for the client's permissions on a topic, and for the brokers of its partitions; they perform no I/O."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kafka_replica.broker.admin.topic_details import PartitionDetails
from kafka_replica.doctor.findings import Finding, Severity
from kafka_replica.records import Partition

_NAMED = 3  # further partitions are only counted


def read_finding(permissions: Collection[str] | None) -> Finding:
    """Return a finding about the permission to read a topic.

    Args:
        permissions: the names of the operations that Kafka allows; None if the broker does not report them.
    """
    return _permission_finding(
        "READ", "Read", permissions, "a replica gets no record, and Kafka reports no error to it"
    )


def write_finding(permissions: Collection[str] | None) -> Finding:
    """Return a finding about the permission to write to a topic; see ``read_finding`` for the argument."""
    return _permission_finding("WRITE", "Write", permissions, "a producer cannot send anything")


def _permission_finding(
    operation: str, permission: str, permissions: Collection[str] | None, otherwise: str
) -> Finding:
    check = f"permission to {permission.lower()}"
    if permissions is None:
        advice = f"ask its owner whether you have the permission {permission} on the topic"
        return Finding(check, Severity.SKIPPED, "the broker does not list the permissions of its users", advice)
    if operation in permissions:
        return Finding(check, Severity.OK, "granted")
    return Finding(
        check, Severity.FAULT, f"not granted: {otherwise}", f"ask for permission {permission} on the topic"
    )  # fmt: skip


def leader_finding(partitions: Mapping[Partition, PartitionDetails]) -> Finding:
    """Return a finding about partitions without a leader, which can be neither read nor written."""
    without = [
        f"{partition} (replicas on {_brokers(each)})" for partition, each in partitions.items() if each.leader < 0
    ]
    if not without:
        return Finding("partition leaders", Severity.OK, "each partition has one")
    message = f"none at present for {_some(without)}: nothing can be read or written there"
    return Finding("partition leaders", Severity.FAULT, message, "check which of these brokers run")


def in_sync_finding(partitions: Mapping[Partition, PartitionDetails], min_insync: int) -> Finding:
    """Return a finding about partitions that accept no record, because too few of their replicas are in sync."""
    too_few = [
        f"{partition} ({len(each.in_sync)} of the replicas on {_brokers(each)})"
        for partition, each in partitions.items()
        if len(each.in_sync) < min(min_insync, len(each.replicas))  # Kafka requires no more than there are
    ]
    if not too_few:
        return Finding("replicas in sync", Severity.OK, f"at least {min_insync} for each partition")
    message = f"fewer than min.insync.replicas={min_insync} for {_some(too_few)}: nothing can be written there"
    return Finding("replicas in sync", Severity.FAULT, message, "check which of these brokers run")


def _brokers(partition: PartitionDetails) -> str:
    return f"{'broker' if len(partition.replicas) == 1 else 'brokers'} {', '.join(map(str, partition.replicas))}"


def _some(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _NAMED:,} more" if len(texts) > _NAMED else ""
    return f"{', '.join(texts[:_NAMED])}{more}"
