"""The rule of quiet points, driven through histories of a modelled log."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from log_model import PARTITION, Entry, ModelLog

from kafka_replica import Cut, MemoryStore, Record
from kafka_replica.cuts import Publish, QuietPoints
from kafka_replica.delta import Delta


class EveryRead(QuietPoints):
    """The rule switched off: a version after each read, as a plain consumer loop would have it."""

    def read(self, records: Sequence[Record], position: int | None, high_watermark: int | None) -> Publish | None:
        """As if every position were a quiet point."""
        del high_watermark
        return super().read(records, position, position)


class Reader:
    """A reader of a modelled log that applies what its rule lets through, and checks each version."""

    def __init__(self, log: ModelLog, rule: QuietPoints) -> None:
        self.log = log
        self.rule = rule
        self.position = 0
        self.store = MemoryStore()
        self.torn = 0
        self.versions = 0

    def read(self, max_entries: int) -> None:
        """One read: a fetch, and what becomes of it."""
        records, self.position = self.log.fetch(self.position, max_entries)
        publish = self.rule.read(records, self.position, self.log.high_watermark)
        if publish is None:
            return
        self.store.apply(publish.delta, publish.cut)
        self.versions += 1
        snapshot = self.store.snapshot()
        shown = {key: record.value for key, record in snapshot.items()}
        self.torn += shown != self.log.state_at(publish.cut[PARTITION])


def script(writer: int, transactions: Sequence[bool]) -> list[Entry]:
    """What one writer does: transactions that each write one value to the same two keys, committed or not."""
    entries = []
    for number, commits in enumerate(transactions):
        value = f"{writer}.{number}".encode()
        entries += [Entry(writer, number, key, value) for key in (b"shared", f"own {writer}".encode())]
        entries.append(Entry(writer, number, commits=commits))
    return entries


def interleavings(scripts: tuple[tuple[Entry, ...], ...]) -> list[list[Entry]]:
    """Every order in which the writers' steps can come."""
    if not any(scripts):
        return [[]]
    orders = []
    for i, steps in enumerate(scripts):
        if steps:
            rest = (*scripts[:i], steps[1:], *scripts[i + 1 :])
            orders += [[steps[0], *order] for order in interleavings(rest)]
    return orders


def torn_versions(
    rule: type[QuietPoints], entries: Sequence[Entry], max_entries: int, pause: int
) -> tuple[int, Reader]:
    """Runs one history: a read after every ``pause`` entries, then reads until nothing is left."""
    log = ModelLog()
    reader = Reader(log, rule(PARTITION))
    for number, entry in enumerate(entries, 1):
        log.append(entry)
        if number % pause == 0:
            reader.read(max_entries)
    for _ in range(len(entries) + 1):
        reader.read(max_entries)
    return reader.torn, reader


HISTORIES = [
    order
    for outcomes in [((True,), (True,)), ((True,), (False,)), ((True, True), (True,))]
    for order in interleavings(tuple(tuple(script(w, o)) for w, o in enumerate(outcomes)))
]


@pytest.mark.parametrize("max_entries", [1, 2, 100])
@pytest.mark.parametrize("pause", [1, 2, 3])
def test_no_interleaving_tears_a_version(max_entries: int, pause: int) -> None:
    """Every interleaving of two writers, every size and rhythm of reads: each version is whole, the last complete."""
    for entries in HISTORIES:
        torn, reader = torn_versions(QuietPoints, entries, max_entries, pause)
        assert torn == 0, entries
        assert {k: r.value for k, r in reader.store.snapshot().items()} == reader.log.state_at(len(entries))


def test_publishing_after_every_read_tears() -> None:
    """The same histories with the rule switched off show torn versions: the check above can fail."""
    assert sum(torn_versions(EveryRead, entries, 2, 1)[0] for entries in HISTORIES) > 100


@st.composite
def histories(draw: st.DrawFn) -> list[Entry | tuple[str, int]]:
    """Writers that interleave, abort, delete; reads of any size and compactions come anywhere between."""
    writers = draw(st.integers(1, 4))
    open_: dict[int, int] = {}
    counts = dict.fromkeys(range(writers), 0)
    steps: list[Entry | tuple[str, int]] = []
    for _ in range(draw(st.integers(1, 60))):
        kind = draw(st.sampled_from(["write", "write", "write", "end", "end", "read", "read", "compact"]))
        if kind in {"read", "compact"}:
            steps.append((kind, draw(st.integers(1, 20))))
            continue
        writer = draw(st.integers(0, writers - 1))
        if kind == "write":
            number = open_.setdefault(writer, counts[writer])
            key = draw(st.sampled_from([b"a", b"b", b"c", b"d"]))
            value = draw(st.one_of(st.none(), st.just(f"{writer}.{number}".encode())))
            steps.append(Entry(writer, number, key, value))
        elif writer in open_:
            steps.append(Entry(writer, open_.pop(writer), commits=draw(st.booleans())))
            counts[writer] += 1
    steps += [Entry(writer, number, commits=True) for writer, number in open_.items()]
    return steps


@settings(max_examples=400, deadline=None)
@given(histories())
def test_long_histories_with_compaction(steps: list[Entry | tuple[str, int]]) -> None:
    """However long, mixed and compacted the log: each version is what the uncompacted log says at its cut."""
    log = ModelLog()
    reader = Reader(log, QuietPoints(PARTITION))
    for step in steps:
        if isinstance(step, Entry):
            log.append(step)
        elif step[0] == "compact":
            log.compact()
        else:
            reader.read(step[1])
    for _ in range(len(log.entries) + 1):
        reader.read(7)
    assert reader.torn == 0
    assert {k: r.value for k, r in reader.store.snapshot().items()} == log.state_at(log.high_watermark)


@given(st.lists(st.tuples(st.sampled_from([b"a", b"b", b"c"]), st.one_of(st.none(), st.binary(max_size=2)))), st.data())
def test_a_delta_does_not_depend_on_how_the_records_came(
    written: list[tuple[bytes, bytes | None]], data: st.DataObject
) -> None:
    """Records taken in one by one, in pieces or at once, and deltas merged, have the same net effect."""
    records = [Record(key, value, offset, 0, (), PARTITION) for offset, (key, value) in enumerate(written)]
    at = data.draw(st.integers(0, len(records)))
    pieces = Delta(records[:at])
    pieces.merge(Delta(records[at:]))
    whole = Delta(records)
    assert pieces.changes == whole.changes
    assert (pieces.record_count, pieces.tombstone_count) == (whole.record_count, whole.tombstone_count)


def test_nothing_is_published_twice_and_nothing_without_a_position() -> None:
    """A quiet point that was published is not published again; before the first position there is none."""
    rule = QuietPoints(PARTITION)
    assert rule.read([], None, None) is None
    assert rule.read([], None, 0) is None
    first = rule.read([], 0, 0)
    assert first is not None
    assert first.cut == Cut({PARTITION: 0})
    assert rule.read([], 0, 0) is None


def test_records_wait_until_the_quiet_point() -> None:
    """Where an open transaction lies behind the position, nothing is published; afterwards all of it is."""
    rule = QuietPoints(PARTITION)
    record = Record(b"k", b"v", 0, 0, (), PARTITION)
    assert rule.read([record], 2, 3) is None
    assert rule.pending_records == 1
    publish = rule.read([], 5, 5)
    assert publish is not None
    assert publish.delta.changes == {b"k": record}
    assert rule.pending_records == 0


def test_a_position_that_goes_back_is_refused() -> None:
    """A reader that goes back would publish an older cut; it is stopped instead."""
    rule = QuietPoints(PARTITION)
    rule.read([], 5, 9)
    with pytest.raises(ValueError, match="went back from 5 to 4"):
        rule.read([], 4, 9)
