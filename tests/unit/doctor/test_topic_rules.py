"""The doctor's findings on a topic's settings, without a broker."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kafka_replica.broker.topic_settings import (
    PROGRESS_TOPIC,
    STRUCTURE_TOPIC,
    recommended_replication_factor,
    with_min_insync,
)
from kafka_replica.doctor import Severity
from kafka_replica.doctor.topic_rules import cluster_finding, progress_findings, topic_findings

GOOD = {
    "cleanup.policy": "compact",
    "delete.retention.ms": "86400000",
    "max.message.bytes": "16777216",
    "min.compaction.lag.ms": "600000",
    "min.insync.replicas": "2",
    "unclean.leader.election.enable": "false",
}


def severities_of(
    settings: Mapping[str, str], replicas: int = 3, brokers: int = 3, large_bytes: int = 1 << 20
) -> dict[str, Severity]:
    """Return the severity of each check that is not OK and has advice."""
    findings = list(topic_findings(settings, replicas, brokers, large_bytes))
    assert all((finding.advice is None) == (finding.severity is Severity.OK) for finding in findings)
    return {finding.check: finding.severity for finding in findings if finding.severity is not Severity.OK}


def test_a_good_topic() -> None:
    """A good topic has no findings, and each setting was checked."""
    assert severities_of(GOOD) == {}
    assert len(list(topic_findings(GOOD, 3, 3, 1))) == len(GOOD) + 1


@pytest.mark.parametrize(
    ("name", "value", "severity"),
    [
        ("cleanup.policy", "delete", Severity.FAULT),
        ("cleanup.policy", "compact,delete", Severity.FAULT),
        ("cleanup.policy", "delete, compact", Severity.FAULT),
        ("delete.retention.ms", "7200000", Severity.ADVICE),
        ("delete.retention.ms", "100", Severity.FAULT),
        ("max.message.bytes", "1048588", None),
        ("max.message.bytes", "1048575", Severity.ADVICE),
        ("min.compaction.lag.ms", "0", Severity.ADVICE),
        ("min.insync.replicas", "1", Severity.ADVICE),
        ("min.insync.replicas", "3", Severity.ADVICE),
        ("unclean.leader.election.enable", "true", Severity.FAULT),
    ],
)
def test_each_deviating_setting_is_noticed_alone(name: str, value: str, severity: Severity | None) -> None:
    """A setting that deviates gives one finding with its severity, and no other finding."""
    assert severities_of({**GOOD, name: value}) == ({} if severity is None else {f"topic {name}": severity})


def test_too_few_replicas_are_reported_once() -> None:
    """Too few replicas are reported once, and not again for min.insync.replicas."""
    assert severities_of({**GOOD, "min.insync.replicas": "1"}, replicas=1) == {"topic replication": Severity.ADVICE}


def test_records_confirmed_by_one_broker_are_a_risk_for_replicas() -> None:
    """With min.insync.replicas 1 the replicated topic's finding names what a replica cannot exclude."""
    low = {**GOOD, "min.insync.replicas": "1"}
    replicated, progress = (
        {finding.check: finding.message for finding in findings}
        for findings in (topic_findings(low, 3, 3, 1), progress_findings(low, 3, 3))
    )
    assert "half a transaction" in replicated["topic min.insync.replicas"]
    assert "half a transaction" not in progress["progress topic min.insync.replicas"]


@pytest.mark.parametrize("brokers", [1, 2, 3, 5])
def test_topics_as_they_are_created_are_not_criticised(brokers: int) -> None:
    """Topics created by the package pass its checks for any number of brokers: both use one declaration."""
    copies = recommended_replication_factor(brokers)
    assert severities_of(with_min_insync(STRUCTURE_TOPIC, copies), copies, brokers) == {}
    progress = progress_findings(with_min_insync(PROGRESS_TOPIC, copies), copies, brokers)
    assert {finding.severity for finding in progress} == {Severity.OK}
    assert cluster_finding(brokers).severity is (Severity.OK if brokers >= 3 else Severity.ADVICE)


def test_the_progress_topic_has_too_few_copies_or_is_not_compacted() -> None:
    """Too few replicas and a missing compaction are both reported for the progress topic."""
    found = {each.check: each.severity for each in progress_findings({"cleanup.policy": "delete"}, 1, 3)}
    assert found == {"progress topic cleanup.policy": Severity.FAULT, "progress topic replication": Severity.ADVICE}
