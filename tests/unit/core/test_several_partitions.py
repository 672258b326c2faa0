"""Keys with records in several partitions: deltas against the definition, in random histories with late commits.

Some records are bad. The list of bad records is compared with the definition, too.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from threading import Condition

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica import Partition, Position, Record
from kafka_replica.publication.bad_record_list import BadRecordList
from kafka_replica.records import OpenTransaction, Stored
from kafka_replica.replication.bad_records import BadRecordHandler
from kafka_replica.replication.delta_builder import DeltaBuilder
from kafka_replica.replication.log_starts import LogStarts
from kafka_replica.replication.record_filter import RecordFilter
from kafka_replica.transactions import Batch, Kind, ParsedContent
from kafka_replica.transactions.resume_point import ResumePoint
from support.effort import examples

ONE_TOPIC = [Partition("t", number) for number in range(3)]
TWO_TOPICS = [Partition("t", 0), Partition("t", 1), Partition("u", 0)]
RANKS = {"t": 0, "u": 1}


def is_bad(record: Record) -> bool:
    """Return whether the validator refuses a record."""
    return (record.value or b"").startswith(b"bad")


def refuse_bad(record: Record) -> None:
    """Refuse some records; a validator."""
    if is_bad(record):
        raise ValueError("it is bad")


class Built:
    """A builder for several partitions, with the state and the list of bad records that it produces."""

    def __init__(self, places: list[Partition]) -> None:
        self.shown: dict[bytes, Stored] = {}
        self.listed = BadRecordList(Condition())
        record_filter = RecordFilter(validator=refuse_bad)
        self.builder = DeltaBuilder(self.shown.get, {"t": b"", "u": b""}, RANKS, record_filter=record_filter)
        self.handler = BadRecordHandler(self.listed, self.builder, on_bad_record="skip", dead_letters=None)
        for place in places:
            self.builder.add(place)

    def add(self, records: list[Record], writer: int = -1) -> None:
        """Add committed records, which follow one another in a partition."""
        first, end = records[0].offset, records[-1].offset + 1
        batch = Batch(records[0].source, Kind.DATA, first, end, len(records), writer, 0, ParsedContent(records))
        self.handler.handle(self.builder.add_committed([batch]))

    def show(self, position: Position) -> None:
        """Make the next version."""
        for key, record in self.builder.take(position).changes.items():
            if record[1] is None:
                self.shown.pop(key, None)
            else:
                self.shown[key] = record

    def bad_places(self) -> set[tuple[str, int, int]]:
        """Return where the bad records are that are listed."""
        return {(bad.topic, bad.partition, bad.offset) for bad in self.listed.newest()}


class History:
    """Writers of three partitions, whose logs may lose their beginnings, and the state that a builder makes of them.

    Args:
        seed: determines everything.
        places: the partitions.
        loses_beginnings: whether the starts of the logs move.
        bad_share: the share of bad records.
    """

    def __init__(self, seed: int, places: list[Partition], *, loses_beginnings: bool, bad_share: float) -> None:
        self.dice = random.Random(seed)
        self.places, self.loses_beginnings, self.bad_share = places, loses_beginnings, bad_share
        self.built = Built(places)
        self.builder = self.built.builder
        self.log_starts = LogStarts()
        self.log_starts.add(dict.fromkeys(places, 0))
        self.ends, self.starts = dict.fromkeys(places, 0), dict.fromkeys(places, 0)
        self.open: dict[tuple[int, Partition], list[Record]] = {}
        self.committed: list[Record] = []
        self.time_ms = 0

    def run(self) -> None:
        """Take random steps, and check each version."""
        for _ in range(self.dice.randint(5, 40)):
            luck = self.dice.random()
            if luck < 0.5:
                self.write()
            elif luck < 0.75 and self.open:
                self.commit()
            elif luck < 0.85 and self.loses_beginnings:
                self.lose_beginning()
            else:
                self.show()

    def write(self) -> None:
        """Write a record or tombstone, in an open transaction."""
        writer, place = self.dice.randrange(3), self.dice.choice(self.places)
        value = None if self.dice.random() < 0.4 else b"%d" % self.dice.randrange(1000)
        if value is not None and self.dice.random() < self.bad_share:
            value = b"bad " + value
        self.time_ms += self.dice.randint(0, 1)
        record = Record(self.dice.choice([b"a", b"b"]), value, self.ends[place], self.time_ms, (), place)
        self.ends[place] += 1
        self.open.setdefault((writer, place), []).append(record)

    def commit(self) -> None:
        """Commit what a writer has written to a partition."""
        writer, place = self.dice.choice(list(self.open))
        self.ends[place] += 1  # the marker
        for record in self.open.pop((writer, place)):
            self.built.add([record], writer)
            self.committed.append(record)

    def lose_beginning(self) -> None:
        """Delete the first records of a partition."""
        place = self.dice.choice(self.places)
        self.starts[place] = min(self.ends[place], self.starts[place] + self.dice.randint(1, 3))
        self.log_starts.move(Position(self.starts))

    def show(self) -> None:
        """Make the next version, and compare it with the definition."""
        open_now = [
            OpenTransaction(
                place, writer, 0, records[0].offset, [(each.offset, each.offset + 1) for each in records], len(records)
            )
            for (writer, place), records in self.open.items()
        ]
        position = Position(self.ends, open_now)
        if self.log_starts.passed:
            stored = [(key, record.source, record.offset) for key, record in self.records().items()]
            _, lowest, states = self.builder.expire(self.log_starts.passed, stored)
            self.built.handler.expire(self.log_starts.passed, states)
            self.log_starts.expire(lowest, position)
        expected = self.expected()
        assert self.built.bad_places() == {
            (*each.source, each.offset) for each in expected.values() if is_bad(each)
        }  # fmt: skip
        if not self.builder.is_empty:
            self.built.show(position)
        assert self.records() == {key: each for key, each in expected.items() if not is_bad(each)}

    def records(self) -> Mapping[bytes, Record]:
        """Return the version shown."""
        return {key: record for key, record in self.built.shown.items() if isinstance(record, Record)}

    def expected(self) -> dict[bytes, Record]:
        """Return the current records, bad or good: of each partition the highest offset, of these the highest rank."""
        newest: dict[tuple[bytes, Partition], Record] = {}
        for record in self.committed:
            place = record.key, record.source
            is_newer = place not in newest or newest[place].offset < record.offset
            if is_newer and record.offset >= self.starts[record.source]:
                newest[place] = record
        found: dict[bytes, Record] = {}
        for record in sorted(newest.values(), key=rank):
            if record.value is not None:
                found[record.key] = record
        return found


def rank(record: Record) -> tuple[int, int, int]:
    """Return the rank of a record among the newest records of a key in each partition."""
    return RANKS[record.topic], record.timestamp_ms, record.partition


@pytest.mark.parametrize("loses_beginnings", [False, True])
@pytest.mark.parametrize("bad_share", [0, 0.4])
@pytest.mark.parametrize("places", [ONE_TOPIC, TWO_TOPICS, ONE_TOPIC[:1]], ids=["one topic", "two topics", "alone"])
@settings(max_examples=examples(200), deadline=None)
@given(st.integers(0, 1 << 32))
def test_each_version_has_the_current_record_of_each_key(
    places: list[Partition], bad_share: float, loses_beginnings: bool, seed: int
) -> None:
    """Deletions that another partition's record hides are not forgotten, nor records that lie before a log's start.

    The key of a current record that is bad is absent and listed.
    """
    History(seed, places, loses_beginnings=loses_beginnings, bad_share=bad_share).run()


class Reading:
    """A reading of the logs of partitions in random order, with versions in between, restarts, and added partitions.

    Args:
        dice: decides.
        logs: the records of each partition.
    """

    def __init__(self, dice: random.Random, logs: dict[Partition, list[Record]]) -> None:
        self.dice, self.logs = dice, logs
        self.read = {dice.choice(list(logs)): 0}
        self.built = Built(list(self.read))

    def run(self) -> tuple[Mapping[bytes, Stored], set[tuple[str, int, int]]]:
        """Read everything, and return the last version and the bad records."""
        while left := [place for place, log in self.logs.items() if self.read.get(place, 0) < len(log)]:
            self.read_from(self.dice.choice(left))
            if self.dice.random() < 0.3:
                self.built.show(Position(self.read))
                if not self.built.builder.has_keys_in_several_partitions and self.dice.random() < 0.5:
                    self.restart()
        self.built.show(Position(self.read))
        return self.built.shown, self.built.bad_places()

    def read_from(self, place: Partition) -> None:
        """Read some of the next records of a partition."""
        if place not in self.read:
            self.read[place] = 0
            self.built.builder.add(place)
        at = self.read[place]
        records = self.logs[place][at : at + self.dice.randint(1, 3)]
        self.built.add(records)
        self.read[place] += len(records)

    def restart(self) -> None:
        """Continue as from a store that has the version shown and the list of bad records."""
        before, self.built = self.built, Built([])
        self.built.shown.update(before.shown)
        listed = ResumePoint.decode(ResumePoint(Position(), bad_records=tuple(before.listed.newest())).encode())
        self.built.listed.restore(listed.bad_records)
        self.built.builder.restore(listed.bad_records)
        for place, end in self.read.items():
            self.built.builder.add(place, end)


@pytest.mark.parametrize("places", [ONE_TOPIC[:2], TWO_TOPICS], ids=["one topic", "two topics"])
@settings(max_examples=examples(300), deadline=None)
@given(st.integers(0, 1 << 32))
def test_the_order_in_which_partitions_are_read_does_not_matter(places: list[Partition], seed: int) -> None:
    """Contents and bad records are the same after any versions in between, restarts, and additions of partitions."""
    dice = random.Random(seed)
    logs = {}
    for place in places:
        values = [dice.choice([None, b"good", b"bad"]) for _ in range(dice.randint(1, 8))]
        logs[place] = [
            Record(dice.choice([b"a", b"b"]), value, offset, dice.randint(0, 5), (), place)
            for offset, value in enumerate(values)
        ]
    first, *others = (Reading(dice, logs).run() for _ in range(4))
    assert all(other == first for other in others)


def test_a_bad_record_that_becomes_current_again_is_listed_again() -> None:
    """A record of another partition hides it, until that is deleted; a good record of its own partition replaces it."""
    built, (here, there) = Built(ONE_TOPIC[:2]), ONE_TOPIC[:2]
    seen = []
    for value, offset, timestamp_ms, place in (
        (b"good", 0, 1, here), (b"bad", 1, 2, here), (b"older", 0, 1, there), (b"newer", 1, 3, there),
        (None, 2, 4, there), (b"good", 2, 5, here),
    ):  # fmt: skip
        built.add([Record(b"k", value, offset, timestamp_ms, (), place)])
        built.show(Position({here: 9, there: 9}))
        shown = built.shown.get(b"k")
        seen.append((shown and shown[1], bool(built.bad_places())))
    assert seen == [
        (b"good", False), (None, True), (None, True), (b"newer", False), (None, True), (b"good", False),
    ]  # fmt: skip
    assert built.listed.count == 1
