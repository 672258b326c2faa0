"""The doctor's findings on a topic's settings, without a broker."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kafka_replica.broker.topic_settings import (
    PROGRESS_TOPIC,
    STRUCTURE_TOPIC,
    recommended_replicas,
    with_min_insync,
)
from kafka_replica.doctor import Grade
from kafka_replica.doctor.topic_rules import cluster_finding, progress_findings, topic_findings

GOOD = {
    "cleanup.policy": "compact",
    "delete.retention.ms": "86400000",
    "max.message.bytes": "16777216",
    "min.compaction.lag.ms": "600000",
    "min.insync.replicas": "2",
    "unclean.leader.election.enable": "false",
}


def graded(
    settings: Mapping[str, str], replicas: int = 3, brokers: int = 3, large_bytes: int = 1 << 20
) -> dict[str, Grade]:
    """Return the grade of each check that is not OK and has advice."""
    findings = list(topic_findings(settings, replicas, brokers, large_bytes))
    assert all((finding.todo is None) == (finding.grade is Grade.OK) for finding in findings)
    return {finding.check: finding.grade for finding in findings if finding.grade is not Grade.OK}


def test_a_good_topic() -> None:
    """A good topic has no findings, and each setting was checked."""
    assert graded(GOOD) == {}
    assert len(list(topic_findings(GOOD, 3, 3, 1))) == len(GOOD) + 1


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
def test_each_deviating_setting_is_noticed_alone(name: str, value: str, grade: Grade | None) -> None:
    """Each deviating setting is noticed alone."""
    assert graded({**GOOD, name: value}) == ({} if grade is None else {f"topic {name}": grade})


def test_too_few_replicas_are_reported_once() -> None:
    """Too few replicas are reported once, and not again for min.insync.replicas."""
    assert graded({**GOOD, "min.insync.replicas": "1"}, replicas=1) == {"topic replication": Grade.ADVICE}


@pytest.mark.parametrize("brokers", [1, 2, 3, 5])
def test_topics_as_they_are_created_are_not_criticised(brokers: int) -> None:
    """Topics created by the package pass its checks for any number of brokers: both use one declaration."""
    copies = recommended_replicas(brokers)
    assert graded(with_min_insync(STRUCTURE_TOPIC, copies), copies, brokers) == {}
    progress = progress_findings(with_min_insync(PROGRESS_TOPIC, copies), copies, brokers)
    assert {finding.grade for finding in progress} == {Grade.OK}
    assert cluster_finding(brokers).grade is (Grade.OK if brokers >= 3 else Grade.ADVICE)


def test_the_progress_topic_has_too_few_copies_or_is_not_compacted() -> None:
    """Too few replicas and a missing compaction are both reported for the progress topic."""
    found = {each.check: each.grade for each in progress_findings({"cleanup.policy": "delete"}, 1, 3)}
    assert found == {"progress topic cleanup.policy": Grade.FAULT, "progress topic replication": Grade.ADVICE}
