"""The doctor on real brokers: good and bad findings, without lasting effects."""

from __future__ import annotations

import json
import socket
import uuid
from typing import Any

import pytest
from confluent_kafka.admin import AclOperation

from kafka_replica import Replica
from kafka_replica.broker.admin.topics import Topics
from kafka_replica.broker.topic_settings import PROGRESS_TOPIC
from kafka_replica.cli.run import run_command
from kafka_replica.common.compiled import parser_name
from kafka_replica.doctor import Finding, Severity, examine
from kafka_replica.embedded import LocalKafka
from support.broker.kafka_tools import quiet
from support.broker.secured_kafka import Secured, allow, allow_all

pytestmark = pytest.mark.broker

ME = {"sasl.mechanism": "PLAIN", "sasl.username": "me", "sasl.password": "my-secret"}
_PATIENCE_S = 30.0


def findings(config: dict[str, Any], topic: str, **more: Any) -> dict[str, Finding]:
    """Return the findings by check."""
    more = {"timeout_s": _PATIENCE_S, **more}
    return {finding.check: finding for finding in examine(quiet(config), topic, **more)}


def faults(found: dict[str, Finding]) -> dict[str, str]:
    """Return the faults, with their advice."""
    bad = {check: finding for check, finding in found.items() if finding.severity is Severity.FAULT}
    assert all(finding.advice for finding in bad.values())
    return {check: f"{finding.message} -> {finding.advice}" for check, finding in bad.items()}


def a_topic(kafka: LocalKafka, **settings: Any) -> str:
    """Return a new topic."""
    topic = f"examined-{uuid.uuid4().hex}"
    kafka.create_topic(topic, 2, {"cleanup.policy": "compact", **settings})
    return topic


def test_a_good_topic_passes_every_check_and_keeps_no_record(local_kafka: LocalKafka) -> None:
    """Every check passes on a good topic; a replica sees none of the doctor's records."""
    topic = a_topic(local_kafka, **{"max.message.bytes": 4 << 20})
    config = {"bootstrap.servers": local_kafka.bootstrap_servers, "max.request.size": 3 << 20}
    found = findings(config, topic, large_bytes=2 << 20)
    assert faults(found) == {}
    assert (
        found["transactions"].severity is found["a record"].severity is found["a large record"].severity is Severity.OK
    )
    assert found["record parser"].message.startswith(f"the {parser_name()} one")
    assert found["topic cleanup.policy"].message == "compact"
    assert found[f"topic {topic}"].message == "2 partitions"
    with Replica(quiet({"bootstrap.servers": local_kafka.bootstrap_servers}), topic) as replica:
        replica.wait_ready(timeout_s=60)
        assert len(replica.snapshot()) == 0


def test_our_limit_and_the_topics(local_kafka: LocalKafka) -> None:
    """The size before compression and the topic's limit are distinguished."""
    topic = a_topic(local_kafka, **{"max.message.bytes": 300_000})
    server = {"bootstrap.servers": local_kafka.bootstrap_servers}
    ours = faults(findings({**server, "max.request.size": 100_000}, topic, large_bytes=200_000))
    assert list(ours) == ["a large record"]
    assert "raise max.request.size" in ours["a large record"]
    queue = faults(findings({**server, "queue.buffering.max.kbytes": 1024}, topic, large_bytes=2 << 20))
    assert list(queue) == ["a large record"]
    assert "limit is 1,048,576" in queue["a large record"]
    assert "raise queue.buffering.max.kbytes" in queue["a large record"]
    topics = faults(findings({**server, "max.request.size": 1 << 20}, topic, large_bytes=400_000))
    assert list(topics) == ["a large record"]
    assert "max.message.bytes" in topics["a large record"]


def test_an_unreachable_server_of_two_is_named(local_kafka: LocalKafka) -> None:
    """An unreachable server of two is named; the other checks continue."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        down = f"127.0.0.1:{closed.getsockname()[1]}"
        config = {"bootstrap.servers": f"{down},{local_kafka.bootstrap_servers}"}
        found = findings(config, a_topic(local_kafka), timeout_s=10.0)
    assert list(faults(found)) == [f"server {down}"]
    assert found["a record"].severity is Severity.OK


def test_no_such_topic(local_kafka: LocalKafka) -> None:
    """A missing topic is reported once; nothing is written, which could create it."""
    found = findings({"bootstrap.servers": local_kafka.bootstrap_servers}, "no-such-topic")
    assert list(faults(found)) == ["topic no-such-topic"]
    assert "transactions" not in found


@pytest.mark.long
def test_wrong_credentials_and_missing_permissions_are_reported(secured: Secured) -> None:
    """A wrong password and a missing permission to write are reported, and good credentials pass."""
    topic = a_topic(secured.kafka)
    config = secured.config("PLAIN")
    wrong = faults(findings({**config, **ME, "sasl.password": "not-mine"}, topic))
    assert list(wrong) == [f"server {config['bootstrap.servers']}"]
    assert "AUTHENTICATION" in str(wrong)
    assert "not-mine" not in str(wrong)
    assert "as user 'me' with PLAIN" in str(wrong)
    unknown = faults(findings({**config, **ME}, topic))
    assert list(unknown) == [f"topic {topic}"]
    assert "permission" in str(unknown)
    allow_all(secured, topic)
    found = findings({**config, **ME}, topic, transactional_id=f"{topic}-writer")
    assert faults(found) == {}
    settings = found["topic settings"]
    assert settings.severity is Severity.SKIPPED
    assert "ask for permission" not in settings.message, "the user has the permissions to read and to write"
    assert "DescribeConfigs" in str(settings.advice)
    assert list(faults(findings({**config, **ME}, topic, transactional_id="somebody-elses"))) == ["transactions"]


@pytest.mark.long
def test_rights_to_read_and_to_write_are_examined(secured: Secured) -> None:
    """A missing Read is a fault, though Describe is granted; so is a missing Write, except for one who only reads."""
    topic = a_topic(secured.kafka)
    config = {**secured.config("PLAIN"), **ME}
    allow(secured, topic, AclOperation.DESCRIBE)
    assert list(faults(findings(config, topic, reader_only=True))) == ["permission to read"]
    for right in (AclOperation.READ, AclOperation.DESCRIBE_CONFIGS):
        allow(secured, topic, right)
    found = findings(config, topic, reader_only=True)
    assert faults(found) == {}
    assert not found.keys() & {"transactions", "permission to write", "a record"}
    as_producer = faults(findings(config, topic))
    assert list(as_producer) == ["transactions", "permission to write"]
    assert "transactional id" in as_producer["transactions"]
    assert "permission Write on the topic" in as_producer["permission to write"]


def test_properties_that_cannot_be_used() -> None:
    """Properties that cannot be used prevent any connection."""
    found = findings({"bootstrap.servers": "localhost:1", "ssl.truststore.location": "nowhere.jks"}, "t")
    assert list(found) == ["properties"]
    assert found["properties"].severity is Severity.FAULT


def test_the_command_prints_findings_and_its_status_shows_faults(
    local_kafka: LocalKafka, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """The command prints one line per finding; the exit status shows faults."""
    servers = ["--bootstrap-server", local_kafka.bootstrap_servers]
    assert run_command(["doctor", *servers, "--topic", a_topic(local_kafka), "--json", "--large-bytes", "1000"]) == 0
    lines = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert {line["check"] for line in lines} > {"transactions", "a large record"}
    assert run_command(["doctor", *servers, "--topic", "no-such-topic"]) == 1
    shown = capfdbinary.readouterr().out.decode()
    assert "FAULT" in shown
    assert "1 fault, " in shown


def test_a_topic_made_by_create_topic_is_not_criticised(
    local_kafka: LocalKafka, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Neither a created topic nor the progress topic is criticized; the single broker is reported for the cluster."""
    topic, urn = f"created-{uuid.uuid4().hex}", "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=A:CL(1.0)"
    servers = ["--bootstrap-server", local_kafka.bootstrap_servers, "--topic", topic]
    assert run_command(["publish", "--delete", urn, *servers, "--create-topic"]) == 0
    config = {"bootstrap.servers": local_kafka.bootstrap_servers}
    with_progress_topic = findings(config, topic, progress_topic=f"{topic}.mine")
    assert with_progress_topic[f"progress topic {topic}.mine"].severity is Severity.SKIPPED
    Topics(quiet(config)).create(f"{topic}.progress", 1, PROGRESS_TOPIC, 20)
    capfdbinary.readouterr()
    assert run_command(["doctor", *servers, "--json", "--large-bytes", "1000"]) == 0
    found = {line["check"]: line for line in map(json.loads, capfdbinary.readouterr().out.splitlines())}
    assert [check for check, line in found.items() if line["severity"] != "ok"] == ["cluster"]
    assert found["cluster"]["message"].startswith("1 broker: ")
    assert found["progress topic replication"]["message"] == "replication factor 1 on 1 broker"
    assert found["progress topic cleanup.policy"]["message"] == "compact"
