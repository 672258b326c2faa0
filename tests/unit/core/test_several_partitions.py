"""Keys with records in several partitions: deltas against the definition, in random histories with late commits."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica import Partition, Position, Record
from kafka_replica.records import OpenTransaction, Stored
from kafka_replica.replication.delta_builder import DeltaBuilder
from kafka_replica.replication.log_starts import LogStarts
from kafka_replica.transactions import Batch, Kind, ParsedContent
from support.effort import examples

PLACES = [Partition("t", number) for number in range(3)]


class History:
    """Writers of three partitions, whose logs may lose their beginnings, and the state that a builder makes of them.

    Args:
        seed: determines everything.
        loses_beginnings: whether the starts of the logs move.
    """

    def __init__(self, seed: int, *, loses_beginnings: bool) -> None:
        self.dice = random.Random(seed)
        self.loses_beginnings = loses_beginnings
        self.shown: dict[bytes, Stored] = {}
        self.builder = DeltaBuilder(self.shown.get, {"t": b""}, {"t": 0})
        self.log_starts = LogStarts()
        self.log_starts.add(dict.fromkeys(PLACES, 0))
        self.ends, self.starts = dict.fromkeys(PLACES, 0), dict.fromkeys(PLACES, 0)
        self.open: dict[tuple[int, Partition], list[Record]] = {}
        self.committed: list[Record] = []
        self.time_ms = 0
        for place in PLACES:
            self.builder.add(place)

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
        writer, place = self.dice.randrange(3), self.dice.choice(PLACES)
        value = None if self.dice.random() < 0.4 else b"%d" % self.dice.randrange(1000)
        self.time_ms += self.dice.randint(0, 1)
        record = Record(self.dice.choice([b"a", b"b"]), value, self.ends[place], self.time_ms, (), place)
        self.ends[place] += 1
        self.open.setdefault((writer, place), []).append(record)

    def commit(self) -> None:
        """Commit what a writer has written to a partition."""
        writer, place = self.dice.choice(list(self.open))
        self.ends[place] += 1  # the marker
        for record in self.open.pop((writer, place)):
            content = ParsedContent([record])
            first = record.offset
            self.builder.add_committed([Batch(place, Kind.DATA, first, first + 1, 1, writer, 0, content)])
            self.committed.append(record)

    def lose_beginning(self) -> None:
        """Delete the first records of a partition."""
        place = self.dice.choice(PLACES)
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
            _, lowest = self.builder.expire(self.log_starts.passed, stored)
            self.log_starts.expire(lowest, position)
        if self.builder.is_empty:
            return
        for key, record in self.builder.take(position).changes.items():
            if record[1] is None:
                self.shown.pop(key, None)
            else:
                self.shown[key] = record
        assert self.records() == self.expected()

    def records(self) -> Mapping[bytes, Record]:
        """Return the version shown."""
        return {key: record for key, record in self.shown.items() if isinstance(record, Record)}

    def expected(self) -> dict[bytes, Record]:
        """Return the current records: of each partition the one with the highest offset, of these the latest."""
        newest: dict[tuple[bytes, Partition], Record] = {}
        for record in self.committed:
            place = record.key, record.source
            is_newer = place not in newest or newest[place].offset < record.offset
            if is_newer and record.offset >= self.starts[record.source]:
                newest[place] = record
        found: dict[bytes, Record] = {}
        for record in sorted(newest.values(), key=lambda each: (each.timestamp_ms, each.partition)):
            if record.value is not None:
                found[record.key] = record
        return found


@pytest.mark.parametrize("loses_beginnings", [False, True])
@settings(max_examples=examples(500), deadline=None)
@given(st.integers(0, 1 << 32))
def test_each_version_has_the_current_record_of_each_key(loses_beginnings: bool, seed: int) -> None:
    """Deletions that another partition's record hides are not forgotten, nor records that lie before a log's start."""
    History(seed, loses_beginnings=loses_beginnings).run()
