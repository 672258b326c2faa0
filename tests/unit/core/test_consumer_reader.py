"""The conclusions of the reader of the confluent-kafka consumer from the consumer's answers."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from confluent_kafka import KafkaError, TopicPartition

from kafka_replica import Partition, Position
from kafka_replica.broker.reading.consumer import ConsumerReader
from kafka_replica.broker.reading.contract import FetchResult
from kafka_replica.errors import DataError
from kafka_replica.transactions import Ends

P0, P1 = Partition("t", 0), Partition("t", 1)


class FakeMessage(NamedTuple):
    """A record, or the end of a partition."""

    place: Partition
    at: int
    is_end: bool = False
    has_odd_name: bool = False
    is_out_of_range: bool = False

    def error(self) -> KafkaError | None:
        """Return the event that the message is, if any."""
        if self.is_out_of_range:
            return KafkaError(KafkaError._AUTO_OFFSET_RESET)
        return KafkaError(KafkaError._PARTITION_EOF) if self.is_end else None

    def topic(self) -> str:
        """Return the topic."""
        return self.place.topic

    def partition(self) -> int:
        """Return the partition."""
        return self.place.partition

    def offset(self) -> int:
        """Return the offset."""
        return self.at

    def key(self) -> bytes:
        """Return the key."""
        return b"k"

    def value(self) -> bytes:
        """Return the value."""
        return b"v"

    def timestamp(self) -> tuple[int, int]:
        """Return the kind of the timestamp, and the timestamp."""
        return 1, 0

    def headers(self) -> None:
        """Return no headers, or fail as confluent-kafka 2.16.1 does."""
        if self.has_odd_name:
            raise SystemError("returned a result with an exception set") from UnicodeDecodeError(
                "utf-8", b"Gr\xf6\xdfe", 2, 3, "invalid start byte"
            )


class FakeConsumer:
    """A consumer whose messages, positions with their epochs, and watermarks a test sets."""

    def __init__(self) -> None:
        self.messages: list[FakeMessage] = []
        self.at: dict[Partition, tuple[int, int]] = {}
        self.high: dict[Partition, int] = {}

    def incremental_assign(self, _: object) -> None:
        """Do nothing."""

    def incremental_unassign(self, _: object) -> None:
        """Do nothing."""

    def poll(self, _timeout_s: float) -> FakeMessage | None:
        """Return the first message."""
        return self.messages.pop(0) if self.messages else None

    def consume(self, _count: int, _timeout_s: float) -> list[FakeMessage]:
        """Return the other messages."""
        found, self.messages = self.messages, []
        return found

    def position(self, places: list[TopicPartition]) -> list[TopicPartition]:
        """Return the positions, where there are any."""
        found = [(place, *self.at.get(Partition(place.topic, place.partition), (-1001, -1))) for place in places]
        return [TopicPartition(each.topic, each.partition, at, leader_epoch=epoch) for each, at, epoch in found]

    def get_watermark_offsets(self, place: TopicPartition, *, cached: bool) -> tuple[int, int]:
        """Return the watermarks of the newest fetch."""
        assert cached
        return 0, self.high.get(Partition(place.topic, place.partition), -1001)

    def close(self) -> None:
        """Do nothing."""


class FakeMonitor:
    """A monitor whose next answer a test sets."""

    def __init__(self) -> None:
        self.answer: Ends | None = None
        self.read_at_request = Position()
        self.topic_ids: dict[str, str] = {}

    def take(self, _now_s: float, _read: Position) -> Ends | None:
        """Return the answer, once."""
        found, self.answer = self.answer, None
        return found


class World:
    """A reader of some partitions, each from offset 0 or from a resumed offset on."""

    def __init__(self, *partitions: Partition, start: int = 0, epochs: dict[Partition, int] | None = None) -> None:
        self.reader = ConsumerReader({"bootstrap.servers": "127.0.0.1:1"}, ["t"])
        self.reader.close()
        self.consumer, self.monitor = FakeConsumer(), FakeMonitor()
        parts: Any = self.reader
        parts._consumer, parts._topic_monitor = self.consumer, self.monitor
        parts._client_errors.clear()  # no broker could be reached, if the real consumer had the time to try
        parts._epochs.update(epochs or {})
        parts._assign(Position(dict.fromkeys(partitions, start)))

    def read(self, *messages: FakeMessage) -> FetchResult:
        """Return what the reader makes of these messages; the position is after them."""
        self.consumer.messages = list(messages)
        return self.reader.read(0)


def test_a_broker_counts_as_heard_only_with_all_other_leaders() -> None:
    """Records of one partition do not prove that the leader of another one answers."""
    world = World(P0, P1)
    ends = [FakeMessage(P0, 1, is_end=True), FakeMessage(P1, 0, is_end=True)]
    heard = [
        world.read(*messages).has_response for messages in ([ends[0]], [FakeMessage(P0, 1)], [ends[1]], ends[:1], [])
    ]
    assert heard == [False, False, True, False, False]
    alone = World(P0)
    assert [
        alone.read(FakeMessage(P0, 0)).has_response,
        alone.read().has_response,
        alone.read(ends[0]).has_response,
    ] == [True, False, True]


def test_the_leader_epoch_is_that_of_the_position_in_each_partition() -> None:
    """Markers, which no message shows, and records of all partitions count, not only the newest record."""
    world = World(P0, P1)
    world.consumer.at = {P0: (1, 4), P1: (1, 4)}
    world.read(FakeMessage(P0, 0), FakeMessage(P1, 0))
    assert world.reader.origin.leader_epochs == {P0: 4, P1: 4}
    world.consumer.at = {P0: (3, 5), P1: (1, 4)}
    world.read()
    assert world.reader.origin.leader_epochs == {P0: 5, P1: 4}


@pytest.mark.parametrize(("end", "known"), [(7, True), (8, False)])
@pytest.mark.parametrize("resumed", [True, False])
def test_an_end_beyond_the_last_record_has_no_known_leader_epoch(end: int, *, known: bool, resumed: bool) -> None:
    """The records before it were compacted away, and may have been of a newer epoch; so later, until a record comes."""
    world = World(P0, start=7 if resumed else 0, epochs={P0: 4} if resumed else None)
    if not resumed:
        world.consumer.at = {P0: (7, 4)}
        world.read(FakeMessage(P0, 6))
    for messages in ([FakeMessage(P0, end, is_end=True)], []):
        world.read(*messages)
        assert world.reader.origin.leader_epochs == ({P0: 4} if known else {})
    world.consumer.at = {P0: (10, 6)}
    world.read(FakeMessage(P0, 9))
    assert world.reader.origin.leader_epochs == {P0: 6}


@pytest.mark.parametrize(
    ("stable", "high", "at_request", "fetched", "expected"),
    [
        (5, 5, 5, 5, 5),  # the end behind the position was lost
        (5, 5, 5, 9, 9),  # the answer is of a former leader
        (4, 5, 5, 5, 9),  # a transaction is open
        (5, 5, 4, 5, 9),  # records may have arrived since the request
        (6, 6, 5, 5, 9),  # records arrived since, by what this leader knows
    ],
)
def test_a_lost_end_of_the_log_is_no_longer_awaited(
    stable: int, high: int, at_request: int, fetched: int, expected: int
) -> None:
    """After an unclean election the high watermark may be lower; a late answer of a former leader does not count."""
    world = World(P0)
    world.consumer.at, world.consumer.high = {P0: (5, 0)}, {P0: 9}
    assert world.read(FakeMessage(P0, 4)).reading.high_watermarks == Position({P0: 9})
    world.consumer.high = {P0: fetched}
    world.monitor.answer = Ends(Position({P0: stable}), Position({P0: high}))
    world.monitor.read_at_request = Position({P0: at_request})
    assert world.read().reading.high_watermarks == Position({P0: expected})


def test_the_stable_end_includes_all_that_was_read() -> None:
    """The last stable offset was requested before the newest records, which are committed, too."""
    world = World(P0)
    world.monitor.answer = Ends(Position({P0: 3}), Position({P0: 9}))
    world.consumer.at = {P0: (2, 0)}
    assert world.read(FakeMessage(P0, 1)).last_stable == Position({P0: 3})
    world.consumer.at = {P0: (5, 0)}
    assert world.read(FakeMessage(P0, 4)).last_stable == Position({P0: 5})


def test_a_header_name_that_the_consumer_cannot_read_is_reported() -> None:
    """The error names the record, and the reader that can read it; it is not reported as a defect of the replica."""
    with pytest.raises(DataError, match=r'reading t-0, offset 7: the name of a header is not UTF-8, .*="markers"'):
        World(P0).read(FakeMessage(P0, 7, has_odd_name=True))


def test_a_partition_whose_first_records_were_deleted_unread_begins_later() -> None:
    """The beginning is reported once: that of the first records, or the position if there are none."""
    world = World(P0, P1)
    reset = [FakeMessage(each, 0, is_out_of_range=True) for each in (P0, P1)]
    assert world.read(*reset).later_beginnings == {}
    world.consumer.at[P0] = (9, 0)
    assert world.read(FakeMessage(P0, 7), FakeMessage(P0, 8)).later_beginnings == {P0: 7}
    assert world.read(FakeMessage(P0, 9), FakeMessage(P1, 3, is_end=True)).later_beginnings == {P1: 3}
    assert world.read(FakeMessage(P0, 10)).later_beginnings == {}
