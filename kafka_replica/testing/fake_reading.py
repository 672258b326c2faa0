"""Read a fake log, either all of its batches or only committed records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafka_replica.records import Partition
from kafka_replica.testing.fake_log import Entry, FakeLog, LoggedTransaction
from kafka_replica.transactions import Batch, Kind, ParsedContent


class FakeFetchPosition:
    """A partition that is being read: the position, the leader epoch, and the ends that were last reported."""

    __slots__ = ("beginning", "epoch", "log", "position", "reported", "resumed")

    def __init__(self, log: FakeLog) -> None:
        self.log = log
        self.epoch = log.epoch
        self.beginning = self.position = log.start
        self.resumed = False  # whether everything before the beginning was read already
        self.reported: tuple[int, int, int] = -1, -1, -1

    def begin_later(self) -> bool:
        """Begin at the first offset if the records before it were deleted before any was read; return whether so."""
        if self.resumed or self.position != self.beginning or self.position >= self.log.start:
            return False
        self.beginning = self.position = self.log.start
        return True

    @property
    def ends(self) -> tuple[int, int, int]:
        """The last stable offset, the high watermark and the first offset."""
        return self.log.last_stable_offset, self.log.end, self.log.start


def take_committed(fetch_position: FakeFetchPosition, batches: list[Batch]) -> bool:
    """Append the records that a ``read_committed`` consumer receives to ``batches``, and advance the position.

    Returns whether more offsets were passed than records were received.
    """
    log = fetch_position.log
    records = list(log.committed(fetch_position.position))
    passed, fetch_position.position = log.last_stable_offset - fetch_position.position, log.last_stable_offset
    if records:
        first, end = records[0][2], records[-1][2] + 1
        batches.append(Batch(log.partition, Kind.COMMITTED, first, end, len(records), -1, -1, ParsedContent(records)))
    return passed > len(records)


def take_batches(fetch_position: FakeFetchPosition, batches: list[Batch]) -> bool:
    """Append the batches of the log to ``batches``, and advance the position; return whether an offset is missing."""
    log = fetch_position.log
    is_gap = False
    for entries in _runs(log.entries_between(fetch_position.position)):
        batch = _batch(log.partition, entries)
        is_gap |= batch.first > fetch_position.position
        fetch_position.position = batch.end
        batches.append(batch)
    is_gap |= fetch_position.position < log.end
    fetch_position.position = log.end
    return is_gap


def _runs(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Yield runs of adjacent records of the same transaction; each marker is a separate run."""
    run: list[Entry] = []
    for entry in entries:
        if run and not _belong_together(run[-1], entry):
            yield run
            run = []
        run.append(entry)
    if run:
        yield run


def _belong_together(before: Entry, entry: Entry) -> bool:
    are_records = before.record is not None and entry.record is not None
    return are_records and before.writing is entry.writing and before.offset + 1 == entry.offset


def _batch(partition: Partition, entries: list[Entry]) -> Batch:
    writing = entries[0].writing
    records = [entry.record for entry in entries if entry.record is not None]
    kind, producer_id, epoch = _written_by(writing, is_marker=not records)
    first, end = entries[0].offset, entries[-1].offset + 1
    return Batch(partition, kind, first, end, len(entries), producer_id, epoch, ParsedContent(records))


def _written_by(writing: LoggedTransaction | None, *, is_marker: bool) -> tuple[Kind, int, int]:
    """Return the kind of a batch, and its producer's id and epoch."""
    if writing is None:
        return Kind.PLAIN, -1, -1
    if not is_marker:
        return Kind.DATA, writing.producer_id, writing.epoch
    kind = Kind.COMMIT if writing.is_committed else Kind.ABORT
    return kind, writing.producer_id, writing.marker_epoch
