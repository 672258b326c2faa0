"""LocalKafka: a real broker, its data, its ports and its failures."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import psutil
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from kafka_replica.embedded import LocalKafka, kafka_for, wire
from kafka_replica.embedded.errors import EmbeddedKafkaError
from kafka_replica.embedded.ports import choose_port

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.broker


def produce(kafka: LocalKafka, topic: str, key: bytes, *, commit: bool = True) -> None:
    """Write a transaction with one record."""
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": topic})
    producer.init_transactions(120)
    producer.begin_transaction()
    producer.produce(topic, key=key, value=b"value")
    producer.flush(120)
    if commit:
        producer.commit_transaction(120)
    else:
        producer.abort_transaction(120)


def committed_keys(kafka: LocalKafka, topic: str, at_least: int = 0) -> list[bytes | None]:
    """Return the keys that a read_committed consumer finds before the end of the topic, once there are enough."""
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": "g", "enable.partition.eof": True})
    keys: list[bytes | None] = []
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        while True:
            message = consumer.poll(120)
            assert message is not None
            if not message.error():
                keys.append(message.key())
            elif len(keys) >= at_least:
                return keys
    finally:
        consumer.close()


@pytest.mark.long
def test_two_at_once_each_with_its_own_data() -> None:
    """Two brokers started at the same time have their own ports, folders and topics."""
    first, second = LocalKafka(), LocalKafka(settings={"log.cleaner.backoff.ms": 100})
    try:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(LocalKafka.start, (first, second)))
        assert first.bootstrap_servers != second.bootstrap_servers
        assert first.cluster_id != second.cluster_id
        first.create_topic("only-here")
        assert wire.query_cluster("127.0.0.1", second.port, topics=("only-here",)).leaders == {}
        assert "log.cleaner.backoff.ms=100\n" in (second.data_dir / "server.properties").read_text()
    finally:
        first.stop()
        second.stop()


@pytest.mark.long
def test_kept_data_survive_stop_and_kill(tmp_path: Path) -> None:
    """With a data_dir, topics, records and the cluster id outlive the object, and a SIGKILL."""
    with LocalKafka(data_dir=tmp_path / "kept") as kafka:
        cluster = kafka.cluster_id
        kafka.create_topic("t", config={"cleanup.policy": "compact"})
        produce(kafka, "t", b"first")
        produce(kafka, "t", b"aborted", commit=False)
    with LocalKafka(data_dir=tmp_path / "kept") as kafka:
        port, old_pid = kafka.port, kafka.pid
        assert kafka.cluster_id == cluster
        produce(kafka, "t", b"second")
        # A broker confirms a commit before it writes the marker. If it is killed in between, Kafka 4.3 can leave the
        # transaction open for more than two minutes after the restart.
        assert committed_keys(kafka, "t", 2) == [b"first", b"second"]
        kafka.kill()
        assert not kafka.is_running()
        assert old_pid is not None
        assert not psutil.pid_exists(old_pid)
        kafka.start()
        assert kafka.port == port
        assert committed_keys(kafka, "t", 2) == [b"first", b"second"]
    assert (tmp_path / "kept" / "data").is_dir()


def test_a_folder_serves_one_broker_at_a_time(tmp_path: Path) -> None:
    """A second broker on the same folder is rejected with a clear error, and the first continues."""
    with LocalKafka(data_dir=tmp_path) as first:
        with pytest.raises(EmbeddedKafkaError, match="another embedded broker uses the folder"):
            LocalKafka(data_dir=tmp_path).start()
        first.create_topic("still-well")


@pytest.mark.long
def test_pause_and_restart() -> None:
    """A frozen broker is silent with an open port; an orderly restart keeps port and topics."""
    with LocalKafka() as kafka:
        kafka.create_topic("t")
        kafka.pause()
        with pytest.raises(TimeoutError):
            wire.query_cluster("127.0.0.1", kafka.port, timeout_s=2)
        kafka.resume()
        assert wire.query_cluster("127.0.0.1", kafka.port, timeout_s=10).brokers == (1,)
        port = kafka.port
        kafka.restart()
        assert kafka.port == port
        assert wire.query_cluster("127.0.0.1", port, topics=("t",)).leaders == {"t": (1,)}
        with pytest.raises(EmbeddedKafkaError, match="already exists"):
            kafka.create_topic("t")


def test_a_chosen_port_in_use_is_a_sentence() -> None:
    """A port in use is reported immediately, and nothing is left behind."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", choose_port()))
        taken.listen()
        kafka = LocalKafka(port=taken.getsockname()[1])
        with pytest.raises(EmbeddedKafkaError, match="is in use; stop the program that listens there"):
            kafka.start()
    assert kafka.pid is None


@pytest.mark.long
def test_a_port_that_another_process_took_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """If another process takes a free port before the broker does, another port is chosen."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", choose_port()))
        taken.listen()
        stolen = taken.getsockname()[1]
        chosen = iter([stolen])
        monkeypatch.setattr(
            "kafka_replica.embedded.ports.choose_port", lambda but=(): next(chosen, None) or choose_port(but=but)
        )
        with LocalKafka() as kafka:
            assert kafka.port != stolen


def test_a_failing_start_shows_the_end_of_the_log() -> None:
    """A setting that Kafka rejects is named in the error, without stack frames."""
    with pytest.raises(EmbeddedKafkaError, match=r"(?s)exit status 1; .*Invalid value soon") as caught:
        LocalKafka(settings={"log.retention.ms": "soon"}).start()
    assert "\tat " not in str(caught.value)


def test_a_start_beyond_the_time_limit_is_ended() -> None:
    """The time limit is respected, and the broker is gone afterwards."""
    kafka = LocalKafka(start_timeout_s=0.1)
    before = set(psutil.Process().children(recursive=True))
    with pytest.raises(EmbeddedKafkaError, match=r"no answer on 127.0.0.1:\d+ within 0.1 s"):
        kafka.start()
    assert set(psutil.Process().children(recursive=True)) <= before


def test_a_kafka_that_runs_already(monkeypatch: pytest.MonkeyPatch, local_kafka: LocalKafka) -> None:
    """kafka_for uses a named broker, starts none, and reports if it does not answer."""
    monkeypatch.setenv("KAFKA_REPLICA_BOOTSTRAP_SERVERS", local_kafka.bootstrap_servers)
    with kafka_for() as kafka:
        assert kafka.bootstrap_servers == local_kafka.bootstrap_servers
        assert not isinstance(kafka, LocalKafka)
        kafka.create_topic("made-there", 2)
        kafka.delete_topic("made-there")
        kafka.delete_topic("made-there")  # a missing one counts as deleted
    with pytest.raises(EmbeddedKafkaError, match="start it, correct the address"):
        kafka_for("127.0.0.1:1").start()
    with pytest.raises(EmbeddedKafkaError, match="write host:port"):
        kafka_for("nonsense").start()
    monkeypatch.delenv("KAFKA_REPLICA_BOOTSTRAP_SERVERS")
    assert isinstance(kafka_for(), LocalKafka)
