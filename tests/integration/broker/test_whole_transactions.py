"""G1 and G2 on a real broker: writers that interleave and abort, a topic compacted under the reader."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Literal

import pytest

from kafka_replica import Change, Partition, Position, Replica
from kafka_replica.broker.reading import readers as sources
from kafka_replica.embedded import LocalKafka
from kafka_replica.testing.pytest_plugin import TopicMaker
from kafka_replica.transactions import BoundaryDetector, Decision, Kind, MarkerDetector, QuiescenceDetector, Reading
from kafka_replica.transactions.batches import Batch
from kafka_replica.transactions.partitions import CommittedBatches, OpenBatches, PartitionState
from support.broker.kafka_tools import AGGRESSIVE, Checker, Writer, all_decided, independent_read, quiet, quiet_moment
from support.effort import first_in_usual, usual_or_long

pytestmark = pytest.mark.broker

_AT_LEAST = 4  # transactions of each writer, so that the test shows something
LEAST_S = usual_or_long(3, 10, 60)


@contextmanager
def writing(writers: list[Writer], at_least: int = _AT_LEAST) -> Iterator[None]:
    """Run the writers; each has to end without an error, after at least that many transactions."""
    for writer in writers:
        writer.start()
    try:
        yield
    finally:
        for writer in writers:
            writer.stop.set()
        for writer in writers:
            writer.join(30)
    for writer in writers:
        assert writer.error is None, writer.error
        assert writer.failed <= 2 + writer.begun / 5, f"writer {writer.number} failed too often"
        assert writer.committed >= at_least, f"writer {writer.number} hardly wrote: the test shows nothing"


def look_at(checker: Checker, change: Change) -> None:
    """Pass a version to the checker, read from its snapshot key by key."""
    keys = [key for writer in checker.writers for key in writer.keys]
    found = {key: change.snapshot.get(key) for key in keys}
    values: dict[str, str | None] = {
        key: record.value.decode() for key, record in found.items() if record is not None and record.value
    }
    checker.look(values, change.version)


@pytest.mark.scaled
@pytest.mark.parametrize("partitions", first_in_usual([3, 1], 1))
def test_no_version_is_torn(boundaries: str, partitions: int, local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """Four writers interleave and abort on an aggressively compacted topic; every version is whole.

    At the end the replica holds what an independent reader finds, offsets included (G8).
    """
    topic = kafka_topic("torn", partitions=partitions, config=AGGRESSIVE)
    bootstrap = local_kafka.bootstrap_servers
    moment = quiet_moment(boundaries, 4)
    writers = [Writer(bootstrap, topic, number, seed=1, pause_s=0.01, quiet_moment=moment) for number in range(4)]
    checker = Checker(writers)
    cuts: list[Position] = []

    def listen(change: Change) -> None:
        look_at(checker, change)
        cuts.append(change.position)

    with Replica(quiet({"bootstrap.servers": bootstrap}), topic) as replica:
        replica.subscribe(listen, max_pending=100_000)
        with writing(writers):
            began_s = time.monotonic()
            give_up_s = began_s + 240
            # On a busy machine writers are slow, and quiescent points of three partitions are rare while four write.
            while time.monotonic() < began_s + LEAST_S or (
                time.monotonic() < give_up_s
                and (checker.versions <= 3 or any(writer.committed < _AT_LEAST for writer in writers))
            ):
                time.sleep(0.1)
        snapshot = replica.wait_for(all_decided(bootstrap, topic, partitions), timeout_s=60)
    assert checker.torn == []
    assert checker.versions > 3
    assert all(later.dominates(earlier) for earlier, later in pairwise(cuts))
    found = independent_read(bootstrap, topic, partitions)
    assert {key: (record.value, record.offset) for key, record in snapshot.items()} == found


class EveryRead(QuiescenceDetector):
    """The switch: a version after every poll, as a plain consumer loop would publish it."""

    def take(self, reading: Reading, *, every_point: bool) -> list[Decision]:
        """Check as if every position were quiescent."""
        return super().take(reading._replace(high_watermarks=reading.positions), every_point=every_point)


class NoMarkers(MarkerDetector):
    """The switch: every batch counts as it arrives, regardless of its transaction."""

    def add(self, partition: Partition, start: int) -> None:
        """Add a partition."""
        super().add(partition, start)
        self._states[partition] = _Hasty(partition, start)


class _Hasty(PartitionState):
    def take(self, batch: Batch) -> CommittedBatches | None:
        self.position = batch.end
        return CommittedBatches(batch, OpenBatches(batch)) if batch.kind == Kind.DATA else None


@pytest.mark.parametrize(("boundaries", "rule"), [("quiescence", EveryRead), ("markers", NoMarkers)])
def test_without_the_rule_versions_are_torn(
    boundaries: Literal["markers", "quiescence"],
    rule: type[BoundaryDetector],
    local_kafka: LocalKafka,
    kafka_topic: TopicMaker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without the detector versions are torn: the test above can fail."""
    monkeypatch.setattr(sources, rule.__mro__[1].__name__, rule)
    topic = kafka_topic("naive", config=AGGRESSIVE)
    bootstrap = local_kafka.bootstrap_servers
    writers = [Writer(bootstrap, topic, number, seed=2, pause_s=0.01) for number in range(4)]
    checker = Checker(writers)
    with Replica(quiet({"bootstrap.servers": bootstrap}), topic, boundaries=boundaries) as replica:
        replica.subscribe(lambda change: look_at(checker, change), max_pending=100_000)
        with writing(writers, at_least=0):
            give_up_s = time.monotonic() + 30
            while not checker.torn and time.monotonic() < give_up_s:
                time.sleep(0.1)
    assert checker.torn, f"no torn version in {checker.versions}: the checker sees nothing"


def test_a_replica_that_starts_in_the_middle(boundaries: str, local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """Replicas that start during writes, on an already compacted log, begin with a whole version."""
    topic = kafka_topic("middle", config=AGGRESSIVE)
    bootstrap = local_kafka.bootstrap_servers
    moment = quiet_moment(boundaries, 3)
    writers = [Writer(bootstrap, topic, number, seed=3, pause_s=0.01, quiet_moment=moment) for number in range(3)]
    with writing(writers):
        time.sleep(1)
        for _ in range(8):
            checker = Checker(writers)
            with Replica(quiet({"bootstrap.servers": bootstrap}), topic) as replica:
                replica.wait_ready(timeout_s=60)
                changes = replica.changes(timeout_s=60)
                look_at(checker, next(changes))
                look_at(checker, next(changes))
            assert checker.torn == []
