"""The doctor's findings on permissions and on the brokers of partitions, without a broker."""

from __future__ import annotations

import pytest

from kafka_replica.broker.admin.topic_details import PartitionDetails
from kafka_replica.doctor import Severity
from kafka_replica.doctor.state_rules import in_sync_finding, leader_finding, read_finding, write_finding
from kafka_replica.records import Partition

GOOD = {Partition("t", number): PartitionDetails(1, (1, 2, 3), (1, 2, 3)) for number in range(2)}


@pytest.mark.parametrize(
    ("permissions", "reading", "writing"),
    [
        ({"READ", "DESCRIBE"}, Severity.OK, Severity.FAULT),
        ({"DESCRIBE"}, Severity.FAULT, Severity.FAULT),
        ({"WRITE", "DESCRIBE"}, Severity.FAULT, Severity.OK),
        (None, Severity.SKIPPED, Severity.SKIPPED),
    ],
)
def test_rights_that_are_not_granted_are_faults(
    permissions: set[str] | None, reading: Severity, writing: Severity
) -> None:
    """Describe is not enough to read; permissions that the broker does not list are not examined."""
    assert (read_finding(permissions).severity, write_finding(permissions).severity) == (reading, writing)


def test_partitions_with_leaders_and_replicas_in_sync() -> None:
    """One replica of three may be out of sync if two have to be in sync."""
    one_behind = {**GOOD, Partition("t", 1): PartitionDetails(1, (1, 2, 3), (1, 2))}
    assert leader_finding(one_behind).severity is in_sync_finding(one_behind, 2).severity is Severity.OK
    alone = {Partition("t", 0): PartitionDetails(1, (1,), (1,))}  # Kafka requires no more than there are
    assert in_sync_finding(alone, 2).severity is Severity.OK


def test_a_partition_without_a_leader_is_named() -> None:
    """The partition and the brokers of its replicas are named."""
    found = leader_finding({**GOOD, Partition("t", 1): PartitionDetails(-1, (2,), (2,))})
    assert found.severity is Severity.FAULT
    assert "t-1 (replicas on broker 2)" in found.message


def test_partitions_with_too_few_replicas_in_sync_are_named() -> None:
    """Three partitions are named, others are counted."""
    found = in_sync_finding({Partition("t", number): PartitionDetails(1, (1, 2, 3), (1,)) for number in range(5)}, 2)
    assert found.severity is Severity.FAULT
    assert "t-0 (1 of the replicas on brokers 1, 2, 3)" in found.message
    assert "t-3" not in found.message
    assert "and 2 more" in found.message
