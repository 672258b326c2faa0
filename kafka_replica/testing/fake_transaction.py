"""A transaction on fake topics; several transactions may be open at the same time, and interleave."""

from __future__ import annotations

from kafka_replica.errors import UsageError
from kafka_replica.producer import CommittedTransaction, Transaction
from kafka_replica.records import Headers, Key, Position
from kafka_replica.testing.fake_cluster import Cluster
from kafka_replica.testing.fake_log import FakeLog, LoggedTransaction


class FakeIdentity:
    """A producer: its id, the epoch of its next transaction, its open transaction, and how often it was initialised."""

    __slots__ = ("epoch", "open", "producer_id", "term")

    def __init__(self, producer_id: int) -> None:
        self.producer_id = producer_id
        self.epoch = 0
        self.open: FakeTransaction | None = None
        self.term = 0


class FakeTransaction(Transaction):
    """A transaction, whose records are written to the log immediately and become visible when it commits.

    ``FakeTopic.begin`` and ``FakeTopic.transaction`` create transactions. Thread-safe.
    """

    def __init__(self, cluster: Cluster, identity: FakeIdentity, topic: str | None) -> None:
        self.committed = CommittedTransaction()
        self._cluster = cluster
        self._identity = identity
        self._default_topic = topic
        self._writing = LoggedTransaction(identity.producer_id, identity.epoch)
        self._ends: dict[FakeLog, int] = {}
        identity.open = self

    def __repr__(self) -> str:
        state = {None: "open", True: "committed", False: "aborted"}[self._writing.is_committed]
        return f"<FakeTransaction of producer {self._identity.producer_id}, {state}, {self.committed.summary()}>"

    @property
    def is_open(self) -> bool:
        """True while the transaction is neither committed nor aborted."""
        return self._writing.is_committed is None

    def put(
        self,
        key: Key | None,
        value: bytes,
        headers: Headers = (),
        *,
        topic: str | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> None:
        """Write a record.

        Args:
            key: the key as bytes, or as text, which is encoded in UTF-8; None writes a record without a key, which no
                replica accepts.
            value: the value.
            headers: the record's headers.
            topic: the topic; None means the topic on which the transaction was begun.
            partition: the partition; None chooses it by the key, as librdkafka does.
            timestamp_ms: milliseconds since 1970-01-01 UTC; None means now.

        Raises:
            UsageError: the transaction is over, the value is not bytes, or there is no such partition.
            TopicNotFoundError: there is no such topic.
        """
        check_value(key, value)
        self._write(key, value, headers, (topic, partition), timestamp_ms)

    def delete(
        self,
        key: Key,
        headers: Headers = (),
        *,
        topic: str | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> None:
        """Write a tombstone; see ``put`` for the arguments and errors."""
        self._write(key, None, headers, (topic, partition), timestamp_ms)
        self.committed.tombstones += 1

    def commit(self) -> CommittedTransaction:
        """Commit the transaction, so that its records become visible; each partition with records gets a marker.

        Raises:
            UsageError: the transaction was already committed or aborted.
        """
        self._decide(is_committed=True)
        self.committed.commit_at(Position({log.partition: end for log, end in self._ends.items()}))
        return self.committed

    def abort(self) -> None:
        """Abort the transaction: its records remain in the log until compaction, but are never visible.

        Raises:
            UsageError: the transaction was already committed or aborted.
        """
        self._decide(is_committed=False)

    def end(self) -> None:
        """Abort the transaction, unless it was already committed or aborted. Idempotent."""
        with self._cluster.changed:
            if self.is_open:
                self.abort()

    def fence(self) -> None:
        """Abort the transaction with a new epoch, as Kafka does when another producer uses its transactional id."""
        with self._cluster.changed:
            self._check_open()
            if self._ends:
                self._identity.epoch = self._writing.marker_epoch = self._writing.epoch + 1
            self._decide(is_committed=False)

    def _write(
        self,
        key: Key | None,
        value: bytes | None,
        headers: Headers,
        place: tuple[str | None, int | None],
        timestamp_ms: int | None,
    ) -> None:
        topic = place[0] or self._default_topic
        if topic is None:
            raise UsageError(
                "this transaction was begun without a topic; name the topic of the record: put(..., topic=...)"
            )
        with self._cluster.changed:
            self._check_open()
            log, offset = self._cluster.append((topic, place[1]), key, value, headers, timestamp_ms, self._writing)
            self._ends[log] = offset + 1
            self.committed.records += 1

    def _decide(self, *, is_committed: bool) -> None:
        with self._cluster.changed:
            self._check_open()
            self._writing.is_committed = is_committed
            if self._cluster.bumps_epochs and self._ends:
                self._identity.epoch = self._writing.marker_epoch = self._writing.epoch + 1
            for log in self._ends:
                log.write_marker(self._writing)
            self._identity.open = None
            self._cluster.changed.notify_all()

    def _check_open(self) -> None:
        if not self.is_open:
            became = "committed" if self._writing.is_committed else "aborted"
            raise UsageError(f"this transaction was {became}; begin a new one")


def check_value(key: Key | None, value: object) -> None:
    """Check that a value is bytes.

    Raises:
        UsageError: the value is not bytes.
    """
    if not isinstance(value, bytes):
        raise UsageError(
            f"putting key {key!r}: its value is {type(value).__name__}, not bytes; encode it, or delete the key"
        )
