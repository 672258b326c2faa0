"""A reader of the modelled cluster, like the real ones: fetched records may be older than its next answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kafka_replica import Partition, Position, Record
from kafka_replica.broker.reading.contract import FetchResult, LogIdentity, Retention, StartOffsets
from kafka_replica.errors import BrokerError
from kafka_replica.transactions import Batch, Ends, Kind, Reading
from kafka_replica.transactions.resume_point import ResumePoint
from support.core.log_model import Cluster, Logged


class ModelContent:
    """Records that disappear with the next reading unless they were kept, like a real reader's buffers."""

    def __init__(self, records: Sequence[Record], is_current: Callable[[], bool]) -> None:
        self._records = records
        self._is_current = is_current
        self._is_held = False

    def records(self) -> Sequence[Record]:
        """Return the records."""
        assert self._is_held or self._is_current(), "records of an earlier reading, which nobody has held"
        return self._records

    def hold(self) -> None:
        """Keep them."""
        assert self._is_held or self._is_current(), "held too late"
        self._is_held = True


class Fetch:
    """The records of a partition that were fetched and not yet returned."""

    def __init__(self, batches: list[Logged], position: int, high: int) -> None:
        self.batches = batches
        self.position = position  # where the fetches so far end
        self.high = high
        self.start = 0  # of the log


class ModelSource:
    """A reader of the cluster by its batches; see ``LogReader``. ``orders`` determines what the next read returns.

    Args:
        cluster: what to read.
        committed_only: return records like a ``read_committed`` consumer, without markers.
    """

    def __init__(self, cluster: Cluster, *, committed_only: bool = False) -> None:
        self.cluster = cluster
        self.committed_only = committed_only
        self.orders: list[tuple[Partition, int]] | None = None  # partitions, and the batches of each; None: everything
        self.positions: dict[Partition, int] = {}
        self.fetches: dict[Partition, Fetch] = {}
        self.meanwhile: Callable[[], None] = lambda: None  # the log continues while a query is answered
        self.is_staggered = False  # True: partitions answer one after the other
        self.expires = not committed_only  # a consumer's records are independent
        self.gaps_are_certain = not committed_only
        self.leaders: dict[Partition, int] = {}
        self.log_starts: dict[Partition, int] = {}  # as received
        self._beginnings = Position()
        self._number = 0

    # --- the contract of LogReader ---

    def open(self, resume_point: ResumePoint | None = None) -> StartOffsets:
        """Return all existing partitions."""
        self._beginnings = Position() if resume_point is None else resume_point.position.resume()
        partitions = list(self.cluster.logs)
        beginnings, self.log_starts = self.add(partitions), {p: self.cluster.logs[p].start for p in partitions}
        return StartOffsets(beginnings, self._ask(partitions, self._end), Position(self.log_starts))

    def add(self, partitions: list[Partition]) -> Position:
        """Also read these."""
        logs = self.cluster.logs
        beginnings = Position(
            {partition: self._beginnings.get(partition, logs[partition].start) for partition in partitions}
        )
        for partition, offset in beginnings.items():
            self.positions[partition] = offset
            self.fetches[partition] = Fetch([], offset, -1)
        return beginnings

    @property
    def origin(self) -> LogIdentity:
        """Do nothing: a modelled cluster is always the same."""
        return LogIdentity({}, {})

    def retentions(self) -> dict[str, Retention]:
        """Do nothing: it is not queried."""
        raise NotImplementedError

    def check_topics(self) -> list[Partition]:
        """Return the partitions that are not read yet."""
        self.meanwhile()
        return self._unread()

    def ends(self) -> Ends:
        """Return the end offsets, a while after the query."""
        self.meanwhile()
        read = list(self.positions)
        stable = self._ask(read, self.cluster.stable)
        if self.committed_only:
            self.meanwhile()  # one partition is queried after the other
        high = self._ask(read, self._end)
        unread = dict.fromkeys(self._unread(), 0)
        return Ends(Position({**stable, **unread}), Position({**high, **unread}))

    def read(self, timeout_s: float) -> FetchResult:
        """Return the batches of the orders, or all."""
        self._number += 1
        orders, self.orders = self.orders, []
        if orders is None:
            orders = [(partition, 1 << 30) for partition in self.positions]
        batches: list[Batch] = []
        gaps = [partition for partition, count in orders if self._take(partition, count, batches)]
        high = Position({partition: fetch.high for partition, fetch in self.fetches.items() if fetch.high >= 0})
        positions = Position(self.positions)
        reading = Reading(batches, positions, high)
        stable = Position({partition: self.cluster.stable(partition) for partition in self.positions})
        return FetchResult(
            reading, stable, gaps, has_response=True, temporary_error=None, log_starts=Position(self.log_starts)
        )

    def refusal(self) -> BrokerError | None:
        """Do nothing: nothing is rejected."""
        return None

    def close(self) -> None:
        """Do nothing: nothing needs closing."""

    # --- helpers ---

    def fetch(self, partition: Partition) -> None:
        """Fetch the present batches; they are returned later."""
        fetch, log = self.fetches[partition], self.cluster.logs[partition]
        end = self.cluster.stable(partition) if self.committed_only else self._end(partition)
        found = [batch for batch in log.left if fetch.position < batch.end <= end]
        fetch.batches += found
        if self.committed_only:
            fetch.position = max(end, fetch.position)
        elif found:
            fetch.position = found[-1].end
        elif not fetch.batches:  # nothing is left up to the end, as a fetch of only that partition shows
            fetch.position = end
        fetch.high, fetch.start = self._end(partition), log.start

    def _take(self, partition: Partition, count: int, batches: list[Batch]) -> bool:
        fetch = self.fetches[partition]
        if not fetch.batches:
            self.fetch(partition)
        taken, fetch.batches[:count] = fetch.batches[:count], []
        self.log_starts[partition] = max(fetch.start, self.log_starts.get(partition, 0))
        is_gap = False
        for logged in taken:
            position = self.positions[partition]
            kept = [record for record in logged.records if record.offset >= position]
            is_partial = not logged.is_marker and len(logged.records) < logged.end - logged.first
            is_gap |= logged.first > position or is_partial
            self._put(partition, logged, max(logged.first, position), kept, batches)
            self.positions[partition] = logged.end
        if not fetch.batches and self.positions[partition] < fetch.position:
            is_gap = True
            self.positions[partition] = fetch.position
        return is_gap

    def _put(
        self, partition: Partition, logged: Logged, first: int, records: list[Record], batches: list[Batch]
    ) -> None:
        kind, producer, epoch = logged.kind, self.cluster.transactions[logged.transaction].producer, logged.epoch
        if self.committed_only:
            if logged.is_marker or not self.cluster.transactions[logged.transaction].commits or not records:
                return
            kind, producer, epoch = Kind.COMMITTED, -1, -1
        number = self._number
        content = ModelContent(records, lambda: not self.expires or self._number == number)
        batches.append(Batch(partition, kind, first, logged.end, len(records), producer, epoch, content))

    def _unread(self) -> list[Partition]:
        return [partition for partition in self.cluster.logs if partition not in self.positions]

    def _end(self, partition: Partition) -> int:
        return self.cluster.logs[partition].end

    def _ask(self, partitions: list[Partition], question: Callable[[Partition], int]) -> Position:
        answers = {}
        for partition in partitions:
            answers[partition] = question(partition)
            if self.is_staggered:
                self.meanwhile()
        return Position(answers)
