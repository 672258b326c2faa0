"""Replicas of a missing topic or broker wait and name the cause, or fail with it."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from kafka_replica import Replica, RocksStore
from kafka_replica.broker.reading import consumer
from kafka_replica.broker.reading.marker_reader import MarkerReader
from kafka_replica.embedded import LocalKafka, ports
from kafka_replica.errors import (
    AuthenticationError,
    BrokerUnavailableError,
    ConfigurationError,
    KafkaReplicaError,
    TopicNotFoundError,
)
from kafka_replica.publication.status import State, Status
from support.broker.durable_tools import values
from support.broker.kafka_tools import producer, quiet, write
from support.broker.secured_kafka import Secured
from support.effort import first_in_usual, usual_or_long
from support.waiting import wait_until

pytestmark = [pytest.mark.broker, pytest.mark.quiescence_long]

_PATIENCE_S = 60.0
_LONGER_THAN_THE_GRACE_S = 5.5  # a topic that was just made may be unknown to a broker for 3 s


def config(kafka: LocalKafka) -> dict[str, Any]:
    """Return the configuration of a client."""
    return quiet({"bootstrap.servers": kafka.bootstrap_servers})


def fill(kafka: LocalKafka, topic: str, value: str) -> None:
    """Create a topic with one record."""
    kafka.create_topic(topic, 1, {"cleanup.policy": "compact"})
    write(producer(kafka.bootstrap_servers, f"{topic}-{value}"), topic, {"k": value})


def delete(kafka: LocalKafka, topic: str) -> None:
    """Delete a topic, and wait until the broker no longer knows it."""
    admin = AdminClient(config(kafka))
    admin.delete_topics([topic])[topic].result(20)
    wait_until(lambda: topic not in admin.list_topics(timeout=20).topics)


def failed_with(replica: Replica) -> KafkaReplicaError | None:
    """Wait until a replica has failed; return its error."""
    wait_until(lambda: replica.state is State.FAILED, timeout_s=_PATIENCE_S)
    return replica._publisher.health.error


# --- the topic ---


def test_a_topic_that_comes_late_is_waited_for(own_kafka: LocalKafka, boundaries: str) -> None:
    """A replica waits for a topic that is created long after its start, names it, and becomes live."""
    topic = f"late-{boundaries[0]}"
    with Replica(config(own_kafka), topic) as replica:
        wait_until(lambda: topic in (replica.status().last_error or ""))
        time.sleep(_LONGER_THAN_THE_GRACE_S)
        assert replica.state is not State.FAILED, replica.status()
        fill(own_kafka, topic, "1")
        replica.wait_ready(timeout_s=_PATIENCE_S)
        wait_until(lambda: values(replica.snapshot()) == {"k": "1"})
        assert replica.state is State.LIVE


def test_a_missing_topic_is_an_error_unless_it_is_waited_for(own_kafka: LocalKafka, boundaries: str) -> None:
    """With wait_for_topic=False the replica fails after the grace period."""
    with Replica(config(own_kafka), f"never-{boundaries[0]}", wait_for_topic=False) as replica:
        assert isinstance(failed_with(replica), TopicNotFoundError)


@pytest.mark.scaled
def test_a_deleted_topic_is_waited_for_and_read_from_scratch(
    own_kafka: LocalKafka, tmp_path: Path, boundaries: str
) -> None:
    """A topic deleted while it is followed and recreated much later replaces the old state; `make long`: twice."""
    topic, recreated = f"again-{boundaries[0]}", usual_or_long(["2"], ["2", "3"])
    fill(own_kafka, topic, "1")
    with Replica(config(own_kafka), topic, RocksStore(tmp_path / "store")) as replica:
        replica.wait_ready(timeout_s=_PATIENCE_S)
        for value in recreated:
            delete(own_kafka, topic)
            wait_until(lambda: topic in (replica.status().last_error or ""))
            time.sleep(_LONGER_THAN_THE_GRACE_S)
            assert replica.state is not State.FAILED, replica.status()
            fill(own_kafka, topic, value)
            wait_until(lambda value=value: values(replica.snapshot()) == {"k": value}, timeout_s=_PATIENCE_S)  # type: ignore[misc] # a lambda with a default
        assert replica.status().counts.rebuilds == len(recreated)
        delete(own_kafka, topic)
    with Replica(config(own_kafka), topic, RocksStore(tmp_path / "store")) as replica:
        time.sleep(_LONGER_THAN_THE_GRACE_S)
        assert replica.state is not State.FAILED, replica.status()
        fill(own_kafka, topic, "4")
        wait_until(lambda: replica.status().ready and values(replica.snapshot()) == {"k": "4"}, timeout_s=_PATIENCE_S)


def test_a_deleted_topic_is_an_error_unless_it_is_waited_for(own_kafka: LocalKafka, boundaries: str) -> None:
    """A deleted topic causes the same error, after the same grace period, as at the start."""
    topic = f"gone-{boundaries[0]}"
    fill(own_kafka, topic, "1")
    with Replica(config(own_kafka), topic, wait_for_topic=False) as replica:
        replica.wait_ready(timeout_s=_PATIENCE_S)
        delete(own_kafka, topic)
        assert isinstance(failed_with(replica), TopicNotFoundError)
        assert values(replica.snapshot()) == {"k": "1"}


# --- the broker ---


def check_it_waits(replica: Replica, cause: str) -> None:
    """Check that a replica names a cause soon, and keeps trying when several requests have failed."""
    wait_until(lambda: cause in (replica.status().last_error or ""), timeout_s=_PATIENCE_S)
    time.sleep(_LONGER_THAN_THE_GRACE_S)
    status = replica.status()
    assert cause in (status.last_error or ""), status
    assert status.state in {State.CATCHING_UP, State.STALLED}, status


def test_a_broker_that_comes_late_is_waited_for(boundaries: str) -> None:
    """A replica without a broker names the cause; when the broker is available, the replica becomes live."""
    port = ports.choose_port()
    with Replica(quiet({"bootstrap.servers": f"127.0.0.1:{port}"}), "t") as replica:
        check_it_waits(replica, "the connection was refused")
        with LocalKafka(port=port) as kafka:
            fill(kafka, "t", "1")
            replica.wait_ready(timeout_s=_PATIENCE_S)
            wait_until(lambda: values(replica.snapshot()) == {"k": "1"})
            wait_until(lambda: replica.status().last_error is None)


@pytest.mark.parametrize(
    ("server", "cause"),
    first_in_usual([
        ("no-such-host.invalid:9092", "cannot be resolved"), ("127.0.0.1:{closed}", "the connection was refused")
    ], 1),
)  # fmt: skip
def test_the_cause_is_named_for_as_long_as_it_lasts(boundaries: str, server: str, cause: str) -> None:
    """A host without an address and a port without a listener are named for as long as they last."""
    servers = server.format(closed=ports.choose_port())
    with Replica(quiet({"bootstrap.servers": servers}), "t", wait_for_topic=False) as replica:
        check_it_waits(replica, cause)


@pytest.mark.long
def test_a_broker_that_does_not_answer_is_waited_for(boundaries: str) -> None:
    """A broker that accepts connections and does not answer is named; when it continues, so does the replica."""
    with LocalKafka() as kafka:
        fill(kafka, "t", "1")
        kafka.pause()
        with Replica(config(kafka), "t") as replica:
            wait_until(lambda: "bootstrap.servers" in (replica.status().last_error or ""), timeout_s=_PATIENCE_S)
            time.sleep(_LONGER_THAN_THE_GRACE_S)
            assert replica.state in {State.CATCHING_UP, State.STALLED}
            kafka.resume()
            replica.wait_ready(timeout_s=_PATIENCE_S)


CA = {"ssl.ca.location": "ours.crt"}
ME = {"sasl.username": "me", "sasl.password": "not-mine"}


@pytest.mark.parametrize(
    ("listener", "properties", "kind"),
    [
        ("PLAIN", {**ME, "sasl.mechanism": "PLAIN"}, AuthenticationError),
        ("SCRAM", {**CA, **ME, "sasl.mechanism": "SCRAM-SHA-512"}, AuthenticationError),
        ("PLAIN", {**ME, "sasl.mechanism": "SCRAM-SHA-512"}, AuthenticationError),
        ("SSL", {"ssl.ca.location": "others.crt"}, AuthenticationError),
        ("ELSEWHERE", CA, AuthenticationError),
        ("MTLS", CA, AuthenticationError),
        ("SSL", {"security.protocol": "PLAINTEXT"}, ConfigurationError),
        ("PLAINTEXT", {**ME, "sasl.mechanism": "PLAIN", "security.protocol": "SASL_PLAINTEXT"}, AuthenticationError),
    ],
)
def test_a_refusal_is_reported_at_once(
    secured: Secured,
    boundaries: str,
    listener: str,
    properties: dict[str, Any],
    kind: type[Exception],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A rejection is reported sooner than the timeout of a request, which here is longer than the test."""
    monkeypatch.setattr(consumer, "_ANSWER_S", 10 * _PATIENCE_S)
    with Replica(quiet(secured.config(listener, **properties)), "t") as replica, pytest.raises(kind):
        replica.wait_ready(timeout_s=_PATIENCE_S)


@pytest.mark.parametrize(
    ("listener", "properties", "advice"),
    first_in_usual([
        ("PLAIN", {"security.protocol": "PLAINTEXT"}, "check that security.protocol is"),
        ("PLAINTEXT", {**CA, "security.protocol": "SSL"}, "check that security.protocol is"),
    ], 1),
)  # fmt: skip
def test_a_listener_that_hangs_up_is_explained(
    secured: Secured, boundaries: str, listener: str, properties: dict[str, Any], advice: str
) -> None:
    """A wrong security.protocol looks like a stopping broker: the advice names it, and the replica waits."""
    with Replica(quiet(secured.config(listener, **properties)), "t") as replica:
        check_it_waits(replica, advice)


# --- starting, and closing while starting ---


def test_a_ready_replica_already_counts_its_content(own_kafka: LocalKafka, boundaries: str) -> None:
    """The status of a replica that becomes ready already counts the content of the version."""
    topic = f"counted-{boundaries[0]}"
    fill(own_kafka, topic, "1")
    seen: list[Status] = []
    replica = Replica(config(own_kafka), topic).start()
    try:
        replica._call_when({}, lambda: seen.append(replica.status()))
        replica.wait_ready(timeout_s=_PATIENCE_S)
        wait_until(lambda: seen)
    finally:
        replica.close()
    assert seen[0].counts.records == 1, seen[0]
    assert seen[0].read_position.dominates(seen[0].position), seen[0]


def test_closing_during_the_start_misses_no_right(
    own_kafka: LocalKafka, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closing during the query for the topic's settings does not report a missing permission."""
    topic = "closed-early"
    fill(own_kafka, topic, "1")
    with Replica(config(own_kafka), topic, RocksStore(tmp_path), boundaries="markers") as replica:
        replica.wait_ready(timeout_s=_PATIENCE_S)

    replica = Replica(config(own_kafka), topic, RocksStore(tmp_path), boundaries="markers")

    def unanswered(_reader: MarkerReader) -> float | None:
        replica._supervisor.closing.set()
        raise BrokerUnavailableError("nobody answers")

    monkeypatch.setattr(MarkerReader, "retentions", unanswered)
    with caplog.at_level(logging.DEBUG, "kafka_replica"):
        replica.start()
        wait_until(lambda: replica.state is State.STOPPED)
        replica.close()
    assert "nobody answers" in caplog.text
    assert "DescribeConfigs" not in caplog.text
