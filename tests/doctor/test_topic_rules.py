"""What the doctor says of a topic's settings, without a broker."""

from __future__ import annotations

import pytest

from kafka_replica.doctor import Grade
from kafka_replica.doctor.topic_rules import topic_findings

GOOD = {
    "cleanup.policy": "compact",
    "delete.retention.ms": "86400000",
    "max.message.bytes": "16777216",
    "min.compaction.lag.ms": "600000",
    "min.insync.replicas": "2",
    "unclean.leader.election.enable": "false",
}


def graded(settings: dict[str, str], replicas: int = 3, large_bytes: int = 1 << 20) -> dict[str, Grade]:
    """The grade of each check that is not OK, with something to do about it."""
    findings = list(topic_findings(settings, replicas, large_bytes))
    assert all((finding.todo is None) == (finding.grade is Grade.OK) for finding in findings)
    return {finding.check: finding.grade for finding in findings if finding.grade is not Grade.OK}


def test_a_good_topic() -> None:
    """Nothing to say, and each setting was looked at."""
    assert graded(GOOD) == {}
    assert len(list(topic_findings(GOOD, 3, 1))) == len(GOOD) + 1


@pytest.mark.parametrize(
    ("name", "value", "grade"),
    [
        ("cleanup.policy", "delete", Grade.FAULT),
        ("cleanup.policy", "compact,delete", Grade.FAULT),
        ("cleanup.policy", "delete, compact", Grade.FAULT),
        ("delete.retention.ms", "7200000", Grade.ADVICE),
        ("delete.retention.ms", "100", Grade.FAULT),
        ("max.message.bytes", "1048588", None),
        ("max.message.bytes", "1048575", Grade.ADVICE),
        ("min.compaction.lag.ms", "0", Grade.ADVICE),
        ("min.insync.replicas", "1", Grade.ADVICE),
        ("min.insync.replicas", "3", Grade.ADVICE),
        ("unclean.leader.election.enable", "true", Grade.FAULT),
    ],
)
def test_one_thing_is_other(name: str, value: str, grade: Grade | None) -> None:
    """Each is noticed alone."""
    assert graded({**GOOD, name: value}) == ({} if grade is None else {f"topic {name}": grade})


def test_few_copies() -> None:
    """Said once, not for min.insync.replicas, too."""
    assert graded({**GOOD, "min.insync.replicas": "1"}, replicas=1) == {"topic replication": Grade.ADVICE}
