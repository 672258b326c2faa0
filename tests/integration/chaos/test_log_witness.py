"""A transaction that Kafka itself tears, of a producer without KIP-890's bump, is not attributed to a replica."""

from __future__ import annotations

import socket
import struct
import time
from pathlib import Path

import pytest
from confluent_kafka import Producer

from chaos.checker import check
from chaos.findings import Kind
from chaos.history import History, lines
from chaos.log_witness import LogWitness, cut_by_kafka
from chaos.plan import SHARED, core, head, ring
from chaos.writers import BY
from kafka_replica.embedded import LocalKafka
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.chaos.chaos_world import World, without

_END_TXN, _VERSION = 26, 1


def _commit_late(bootstrap: str, transactional_id: str, producer_id: int, epoch: int) -> int:
    """Send the producer's commit request again, as a slow network would; return Kafka's error code."""
    host, port = bootstrap.rsplit(":", 1)
    name = transactional_id.encode()
    body = struct.pack(">hhih", _END_TXN, _VERSION, 7, 4) + b"late"
    body += struct.pack(">h", len(name)) + name + struct.pack(">qh?", producer_id, epoch, True)
    with socket.create_connection((host, int(port)), 10) as link:
        link.sendall(struct.pack(">i", len(body)) + body)
        answer = link.recv(100)
    return int(struct.unpack_from(">h", answer, 12)[0])


def _wait_for_markers(path: Path, count: int) -> None:
    give_up_s = time.monotonic() + 60
    while sum(line["kind"] != "DATA" for line in lines(path)) < count:
        assert time.monotonic() < give_up_s, path.read_text()
        time.sleep(0.05)


def test_a_late_commit_cuts_the_next_transaction(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """A late commit request of an earlier transaction commits half of the next one, without any error."""
    bootstrap, topic = local_kafka.bootstrap_servers, kafka_topic("late", partitions=2)
    path = tmp_path / "log.jsonl"
    witness = LogWitness(bootstrap, topic, path)
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": topic, "linger.ms": 0})
    producer.init_transactions(30)

    def write(name: str, partition: int) -> None:
        producer.produce(topic, key=b"k", value=b"v", partition=partition, headers={BY: name})
        assert producer.flush(30) == 0

    for number in (1, 2):
        producer.begin_transaction()
        write(f"0.{number}", 0)
        if number == 2:
            producer_id, epoch = next(line["producer"] for line in lines(path) if line["kind"] == "COMMIT")
            assert _commit_late(bootstrap, topic, producer_id, epoch) == 0
            _wait_for_markers(path, 3)
        write(f"0.{number}", 1)
        producer.commit_transaction(30)
        _wait_for_markers(path, 2 * number)
    witness.close()
    assert all(line["kind"] != "ABORT" for line in lines(path))
    verdicts = cut_by_kafka(path, History([]))
    assert verdicts.keys() == {"0.1", "0.2"}  # neither has a writer's history
    assert "nobody had asked" in verdicts["0.1"]
    assert "before its record at 1@2" in verdicts["0.2"]


def _log(world: World, partition: int, first: int, kind: str, at_ms: int, *by: str) -> None:
    world.line(
        "log.jsonl", event="batch", partition=partition, offsets=[first, first + 1], kind=kind, producer=[7, 0],
        by=list(by), at_ms=at_ms,
    )  # fmt: skip


def test_records_outside_their_transaction_are_reported(world: World) -> None:
    """A record after its transaction's commit, and an unrequested commit, are reported; nothing else is."""
    for name, outcome in (
        *(("0.1", "committed"), ("0.2", "unknown"), ("0.3", "aborted"), ("0.4", "aborted")),
        *(("0.5", "committed"), ("0.6", "aborted"), ("0.7", "unknown"), ("0.8", "committed")),
    ):
        world.write(name, outcome)
    # Whole: markers come after all records, one partition at a time.
    _log(world, 0, 0, "DATA", 10, "0.1")
    _log(world, 1, 0, "DATA", 11, "0.1")
    _log(world, 0, 1, "COMMIT", 11)
    _log(world, 1, 1, "COMMIT", 13)
    # Torn: the second record was written after the first one was committed.
    _log(world, 0, 2, "DATA", 20, "0.2")
    _log(world, 0, 3, "COMMIT", 21)
    _log(world, 1, 2, "DATA", 22, "0.2")
    _log(world, 1, 3, "COMMIT", 23)
    # Aborted as requested; and committed although an abort was requested.
    _log(world, 0, 4, "DATA", 30, "0.3")
    _log(world, 0, 5, "ABORT", 31)
    _log(world, 0, 6, "DATA", 40, "0.4")
    _log(world, 0, 7, "COMMIT", 41)
    # A part without its own marker: it is aborted with the next transaction.
    _log(world, 0, 8, "DATA", 50, "0.5")
    _log(world, 0, 9, "COMMIT", 51)
    _log(world, 1, 4, "DATA", 50, "0.5")
    _log(world, 1, 5, "DATA", 60, "0.6")
    _log(world, 1, 6, "ABORT", 61)
    # Committed here and aborted there; and aborted after the writer received the acknowledgement of the commit.
    _log(world, 0, 10, "DATA", 70, "0.7")
    _log(world, 0, 11, "COMMIT", 71)
    _log(world, 1, 7, "DATA", 70, "0.7")
    _log(world, 1, 8, "ABORT", 72)
    _log(world, 0, 12, "DATA", 80, "0.8")
    _log(world, 0, 13, "ABORT", 81)
    verdicts = cut_by_kafka(world.folder / "log.jsonl", world.history)
    assert verdicts == {
        "0.2": "committed at 0@3, 1 ms before its record at 1@2",
        "0.4": "committed at 0@7, and nobody had asked for it",
        "0.5": "it got no marker of its own before 1@6",
        "0.7": "committed at 0@11, and aborted at 1@8",
        "0.8": "aborted at 0@13, after Kafka had said that it was committed",
    }


def test_a_transaction_torn_by_kafka_is_not_a_fault_of_the_replica(world: World) -> None:
    """Versions with a transaction torn by Kafka count as torn only without that knowledge; others are still checked."""
    whole = world.write("0.1")
    world.show(whole)
    after = world.write("0.2")
    half = {**whole, **{key: after[key] for key in core(0)[:3]}}
    world.show(half)
    world.show(after)
    assert set(world.check().found) == {Kind.TORN}
    excused = check(world.folder, world.history, frozenset({"0.2"}))
    assert (excused.wrong, excused.excused > 0) == (0, True)
    assert set(check(world.folder, world.history, frozenset({"1.1"})).found) == {Kind.TORN}
    world.show(world.write("0.3"))
    world.show(after)  # 0.3 is whole in the log: going back is the replica's fault
    assert Kind.LOST in check(world.folder, world.history, frozenset({"0.2"})).found


def test_half_a_deletion_that_kafka_tore(world: World) -> None:
    """A partly deleted core may be due to a torn transaction, which has no value to show its name."""
    whole = world.write("0.1")
    world.show(whole)
    after = world.write("0.2", deletes=tuple(core(0)))
    world.show({**without(whole, *core(0)[:2]), head(0): after[head(0)]})
    world.end("independent", after)
    assert Kind.TORN in world.check().found
    assert check(world.folder, world.history, frozenset({"0.2"})).found.keys() <= {Kind.LOST}
    assert Kind.TORN in check(world.folder, world.history, frozenset({"1.1"})).found


@pytest.mark.parametrize("key", [ring(0)[1], SHARED[2]])
def test_a_tombstone_without_its_head_is_a_torn_transaction(world: World, key: str) -> None:
    """A torn transaction deleted a key in one partition; its head, in another, is uncommitted: seen on Kafka 4.3."""
    whole = world.write("0.1", puts=(key,))
    world.show(whole)
    world.write("0.2", deletes=(key,))
    gone = without(whole, key)
    world.show(gone)
    world.present = gone
    assert Kind.LOST in world.check().found
    assert check(world.folder, world.history, frozenset({"0.2"})).wrong == 0
    assert Kind.LOST in check(world.folder, world.history, frozenset({"1.1"})).found


def test_a_torn_tombstone_excuses_nothing_that_came_later(world: World) -> None:
    """Content written after a torn tombstone must be present."""
    first = world.write("0.1", puts=(SHARED[2],))
    world.show(first)
    world.write("0.2", deletes=(SHARED[2],))
    later = world.write("1.1", puts=(SHARED[2],))
    world.show(later)
    world.show(without(later, SHARED[2]), changed=[], deleted=[SHARED[2]])
    world.end("independent", later)
    world.end("r", later)
    assert Kind.LOST in check(world.folder, world.history, frozenset({"0.2"})).found


def test_a_lost_transaction_that_kafka_tore(world: World) -> None:
    """For a transaction that Kafka acknowledged and aborted, the states before and after it are both right."""
    before = world.write("0.1")
    world.show(before)
    world.write("0.2")
    world.end("independent", before)
    world.end("r", before)
    assert set(check(world.folder, world.history).found) == {Kind.LOST}
    assert check(world.folder, world.history, frozenset({"0.2"})).wrong == 0
