"""The reader of fake topics, which implements ``kafka_replica.broker.reading.contract.LogReader``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from kafka_replica.broker.reading.contract import FetchResult, LogIdentity, Retention, StartOffsets
from kafka_replica.broker.reading.log_checks import check_beginnings, recreated, truncated
from kafka_replica.common.error_causes import copy_of
from kafka_replica.errors import (
    AuthenticationError,
    BrokerError,
    BrokerUnavailableError,
    KafkaReplicaError,
    LogReplacedError,
    TopicNotFoundError,
)
from kafka_replica.records import Partition, Position
from kafka_replica.testing.fake_cluster import Cluster
from kafka_replica.testing.fake_reading import FakeFetchPosition, take_batches, take_committed
from kafka_replica.transactions import Batch, Ends, Reading
from kafka_replica.transactions.resume_point import ResumePoint


class FakeReader:
    """A reader of fake topics; see ``LogReader``.

    Args:
        cluster: the cluster of the topics.
        topics: the names of the topics.
        committed_only: whether to read like the confluent-kafka consumer, without markers and up to the last
            stable offset. Otherwise all batches of the log are read, including markers.
    """

    def __init__(self, cluster: Cluster, topics: Iterable[str], *, committed_only: bool) -> None:
        self._cluster = cluster
        self.is_over: Callable[[], bool] = lambda: False  # whether reading should end
        self._topics = list(topics)
        self._topic_ids: dict[str, str] = {}
        self._fetch_positions: dict[Partition, FakeFetchPosition] = {}
        self._log_starts = Position()
        self._take = take_committed if committed_only else take_batches
        self.gaps_are_certain = not committed_only
        self.leaders: Mapping[Partition, int] = {}

    # --- the LogReader protocol ---

    def open(self, resume_point: ResumePoint | None = None) -> StartOffsets:
        """Find the topics, and start reading all their partitions, from the resume point if there is one."""
        with self._cluster.changed:
            self._fetch_positions.clear()
            self._topic_ids = {} if resume_point is None else dict(resume_point.topic_ids)
            beginnings = self.add(self._find())
            high = self._high()
            self._log_starts = beginnings
            if resume_point is None:
                return StartOffsets(beginnings, high, beginnings)
            resume = resume_point.position.resume()
            check_beginnings(beginnings, resume)
            for partition, offset in resume.items():
                position, epoch = resume_point.position[partition], resume_point.leader_epochs.get(partition, 0)
                if high.get(partition, -1) < position or self._fetch_positions[partition].log.has_lost(position, epoch):
                    raise truncated(partition, position)
                fetch_position = self._fetch_positions[partition]
                fetch_position.position, fetch_position.resumed = offset, True
            return StartOffsets(beginnings.advanced(resume), high, beginnings)

    @property
    def origin(self) -> LogIdentity:
        """The identity of the logs that are read."""
        epochs = {partition: each.epoch for partition, each in self._fetch_positions.items()}
        return LogIdentity(dict(self._topic_ids), epochs)

    def retentions(self) -> Mapping[str, Retention]:
        """Return the retention time that the test has set, for each topic."""
        return dict.fromkeys(self._topics, Retention(self._cluster.tombstones_kept_s))

    def read(self, timeout_s: float) -> FetchResult:
        """Return the batches that have arrived; wait up to ``timeout_s`` seconds for the first."""
        with self._cluster.changed:
            self._cluster.changed.wait_for(lambda: self.is_over() or self._has_changes(), timeout_s)
            failure: BrokerError | None = None
            try:
                self._find()
            except (BrokerUnavailableError, TopicNotFoundError) as error:
                failure = BrokerUnavailableError(str(error))
            return self._fetched(failure)

    def check_topics(self) -> list[Partition]:
        """Check that the topics are still the same; return the partitions that are not read yet."""
        with self._cluster.changed:
            return [partition for partition in self._find() if partition not in self._fetch_positions]

    def add(self, partitions: list[Partition]) -> Position:
        """Start reading these partitions, too."""
        with self._cluster.changed:
            self._find()
            for partition in partitions:
                self._fetch_positions[partition] = FakeFetchPosition(self._cluster.log(partition))
            return Position({partition: self._fetch_positions[partition].position for partition in partitions})

    def ends(self) -> Ends:
        """Return the current end offsets of all partitions that are read."""
        with self._cluster.changed:
            unread = dict.fromkeys(self.check_topics(), 0)
            return Ends(Position({**self._stable(), **unread}), Position({**self._high(), **unread}))

    def refusal(self) -> BrokerError | None:
        """Return the simulated refusal of the credentials, if there is one."""
        failure = self._cluster.failure
        return copy_of(failure) if isinstance(failure, AuthenticationError) else None

    def close(self) -> None:
        """Do nothing, because there is nothing to close."""

    # --- helpers; the lock is held ---

    def _find(self) -> list[Partition]:
        """Return all partitions of the topics.

        Raises:
            LogReplacedError: a topic was recreated since it was first found.
            KafkaReplicaError: the simulated failure.
        """
        failure = self._cluster.failure
        if isinstance(failure, AuthenticationError):
            raise BrokerUnavailableError(str(failure))  # like the real readers: see ``refusal``
        self._cluster.check()
        found: list[Partition] = []
        for name in self._topics:
            topic = self._cluster.find(name)
            known = self._topic_ids.setdefault(name, topic.topic_id)
            if known != topic.topic_id:
                raise LogReplacedError(recreated(name, known, topic.topic_id))
            found += [log.partition for log in topic.logs]
        return found

    def _has_changes(self) -> bool:
        try:
            self._find()
        except (BrokerUnavailableError, TopicNotFoundError):
            return False  # an unavailable broker sends nothing
        except KafkaReplicaError:
            return True
        return any(each.ends != each.reported for each in self._fetch_positions.values())

    def _fetched(self, failure: BrokerError | None) -> FetchResult:
        batches: list[Batch] = []
        gaps: list[Partition] = []
        later_beginnings: dict[Partition, int] = {}
        for fetch_position in self._fetch_positions.values() if failure is None else ():
            if fetch_position.log.has_lost(fetch_position.position, fetch_position.epoch):
                raise truncated(fetch_position.log.partition, fetch_position.position)
            if fetch_position.begin_later():
                later_beginnings[fetch_position.log.partition] = fetch_position.position
            check_beginnings(
                {fetch_position.log.partition: fetch_position.log.start},
                {fetch_position.log.partition: fetch_position.position},
            )
            fetch_position.epoch = fetch_position.log.epoch
            if self._take(fetch_position, batches):
                gaps.append(fetch_position.log.partition)
            fetch_position.reported = fetch_position.ends
        positions = Position({partition: each.position for partition, each in self._fetch_positions.items()})
        reported = {
            partition: each.reported for partition, each in self._fetch_positions.items() if each.reported[1] >= 0
        }
        reading = Reading(
            batches, positions, Position({partition: high for partition, (_, high, _) in reported.items()})
        )
        last_stable_offset = Position({partition: stable for partition, (stable, _, _) in reported.items()})
        starts = self._log_starts.advanced({partition: start for partition, (_, _, start) in reported.items()})
        if starts != self._log_starts:
            self._log_starts = starts
        return FetchResult(
            reading,
            last_stable_offset,
            gaps,
            failure is None,
            failure,
            self._log_starts,
            later_beginnings=later_beginnings,
        )

    def _stable(self) -> Position:
        return Position({partition: each.log.last_stable_offset for partition, each in self._fetch_positions.items()})

    def _high(self) -> Position:
        return Position({partition: each.log.end for partition, each in self._fetch_positions.items()})
