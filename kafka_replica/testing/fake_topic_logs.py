"""The logs of a topic in memory, with single records, and with operations of Kafka and of administrators."""

from __future__ import annotations

from kafka_replica.common.wording import counted
from kafka_replica.errors import TopicNotFoundError, UsageError
from kafka_replica.records import Headers, Key, Partition, Position, Record, as_record
from kafka_replica.testing.fake_cluster import Cluster
from kafka_replica.testing.fake_log import FakeLog
from kafka_replica.testing.fake_transaction import check_value


class FakeTopicLogs:
    """The part of a ``FakeTopic`` that needs only its logs."""

    def __init__(self, cluster: Cluster, name: str, partitions: int) -> None:
        self.name = name
        self._cluster = cluster
        self._made_with = partitions
        cluster.make_topic(name, partitions)

    def __repr__(self) -> str:
        try:
            logs = self._logs
        except TopicNotFoundError:
            return f"<{type(self).__name__} {self.name}, dropped>"
        ends = [log.end for log in logs[:8]]
        return f"<{type(self).__name__} {self.name}, {counted(len(logs), 'partition')}, ends {ends}>"

    # --- writing ---

    def put(
        self,
        key: Key | None,
        value: bytes,
        headers: Headers = (),
        *,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> Position:
        """Write a record outside of transactions; return the offset after it, for ``Replica.wait_for``.

        Args:
            key: the key as bytes, or as text, which is encoded in UTF-8; None writes a record without a key, which no
                replica accepts.
            value: the value.
            headers: the record's headers.
            partition: the partition; None chooses it by the key, as librdkafka does.
            timestamp_ms: milliseconds since 1970-01-01 UTC; None means now.

        Raises:
            UsageError: the value is not bytes, or there is no such partition.
            TopicNotFoundError: the topic was dropped.
        """
        check_value(key, value)
        log, offset = self._cluster.append((self.name, partition), key, value, headers, timestamp_ms)
        return Position({log.partition: offset + 1})

    def delete(
        self,
        key: Key,
        headers: Headers = (),
        *,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> Position:
        """Write a tombstone outside of transactions; see ``put`` for the arguments and errors."""
        log, offset = self._cluster.append((self.name, partition), key, None, headers, timestamp_ms)
        return Position({log.partition: offset + 1})

    # --- reading ---

    def end(self) -> Position:
        """Return the offset after the last decided entry of each partition, for ``replica.wait_for(topic.end())``.

        Raises:
            TopicNotFoundError: the topic was dropped.
        """
        with self._cluster.changed:
            return Position({log.partition: log.decided_end for log in self._logs})

    def records(self) -> list[Record]:
        """Return all committed records including tombstones, one partition after another.

        Raises:
            TopicNotFoundError: the topic was dropped.
        """
        with self._cluster.changed:
            return [as_record(raw, log.partition) for log in self._logs for raw in log.committed()]

    @property
    def partitions(self) -> list[Partition]:
        """The partitions of the topic."""
        with self._cluster.changed:
            return [log.partition for log in self._logs]

    @property
    def topic_id(self) -> str:
        """The id of the topic, which changes when it is recreated."""
        return self._cluster.find(self.name).topic_id

    @property
    def _logs(self) -> list[FakeLog]:
        return self._cluster.find(self.name).logs

    # --- changes of a topic ---

    def compact(self, *, keep_tombstones: bool = False, keep_last: bool = True) -> None:
        """Compact the log as aggressively as Kafka may, up to the first open transaction.

        Compaction removes overwritten and aborted records and those without a key; then tombstones, and the markers of
        transactions without remaining records, except the last marker of each producer.

        Args:
            keep_tombstones: whether to keep tombstones and these markers, as before ``delete.retention.ms`` has passed.
            keep_last: whether to keep the last entry of each partition, which is in the active segment. Otherwise
                the log ends in a gap, which readers must handle.
        """
        with self._cluster.changed:
            for log in self._logs:
                log.compact(keep_tombstones=keep_tombstones, keep_last=keep_last)

    def delete_before(self, offset: int, partition: int = 0) -> None:
        """Delete all records below an offset, like Kafka's retention by age or ``DeleteRecords``.

        In Kafka this concerns only topics whose ``cleanup.policy`` includes ``delete``.

        Raises:
            UsageError: the log does not extend that far, or there is no such partition.
        """
        with self._cluster.changed:
            log = self._cluster.log(Partition(self.name, partition))
            if not 0 <= offset <= log.end:
                raise UsageError(f"{log.partition} ends at {log.end}, so records cannot be deleted up to {offset}")
            log.delete_before(offset)
            self._cluster.wake()

    def lose_end(self, end: int, partition: int = 0) -> None:
        """Truncate the log at an offset, as after the election of a leader without these records.

        The next records get the same offsets. Do not end transactions that were open there.

        Raises:
            UsageError: the log does not extend that far, or there is no such partition.
        """
        with self._cluster.changed:
            log = self._cluster.log(Partition(self.name, partition))
            if not 0 <= end < log.end:
                raise UsageError(f"{log.partition} ends at {log.end}, so it cannot be truncated at {end}")
            log.truncate(end)
            self._cluster.wake()

    @property
    def tombstones_kept_s(self) -> float:
        """The simulated ``delete.retention.ms``, in seconds; a day by default.

        Replicas receive this value, but ``compact()`` removes tombstones immediately. All topics of a ``FakeKafka``
        share it.
        """
        return self._cluster.tombstones_kept_s

    @tombstones_kept_s.setter
    def tombstones_kept_s(self, seconds: float) -> None:
        self._cluster.tombstones_kept_s = seconds

    def recreate(self, partitions: int | None = None) -> None:
        """Delete the topic and create an empty topic with the same name and another id.

        Args:
            partitions: the number of partitions; None means the original number.
        """
        self._cluster.make_topic(self.name, partitions or self._made_with, replace=True)

    def drop(self) -> None:
        """Delete the topic with its records; ``recreate`` creates it again.

        Raises:
            TopicNotFoundError: the topic was already dropped.
        """
        self._cluster.drop_topic(self.name)

    def add_partitions(self, total: int) -> None:
        """Increase the number of partitions; new records of a key may then be in another partition than before.

        Raises:
            UsageError: the topic already has that many partitions, or more.
        """
        with self._cluster.changed:
            self._cluster.find(self.name).grow(total)
            self._cluster.changed.notify_all()
