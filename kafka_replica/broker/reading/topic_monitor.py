"""Query the broker about the topics at regular intervals, while a consumer continues to read.

An idle broker sends nothing without a request, and a consumer is not notified that its topic was deleted and recreated.
So the monitor queries, without waiting for the answers, whether the topics still exist with the same ids, and their
end offsets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_replica.broker.admin.pending_answers import PendingEnds, PendingInfo, TopicInfo
from kafka_replica.broker.admin.topics import Topics
from kafka_replica.broker.reading.log_checks import check_ends, recreated
from kafka_replica.errors import LogReplacedError
from kafka_replica.records import Partition, Position
from kafka_replica.transactions import Ends

_EVERY_S = 1.0
_ANSWER_S = 5.0


class TopicMonitor:
    """Monitors topics. Not thread-safe; for the thread that reads."""

    def __init__(self, topics: Topics, names: Iterable[str]) -> None:
        self._topics = topics
        self._names = list(names)
        self._ids: dict[str, str] = {}
        self.leaders: dict[Partition, int] = {}
        """The leader of each partition, according to the answers so far."""
        self._partitions: list[Partition] = []
        self._infos: list[PendingInfo] = []
        self._ends: PendingEnds | None = None
        self.read_at_request = Position()
        """The position up to which the log was read when the ends were requested that ``take`` returned last."""
        self._next_s = 0.0

    def find(self, timeout_s: float) -> list[Partition]:
        """Return all partitions of the topics; later queries expect the topic ids that were found first.

        Raises:
            TopicNotFoundError: a topic does not exist at the moment.
            LogReplacedError: a topic was deleted and recreated.
            BrokerError: Kafka did not answer, or refused.
        """
        self._partitions = self._same([self._topics.look_up(name, timeout_s) for name in self._names])
        return self._partitions

    @property
    def topic_ids(self) -> dict[str, str]:
        """The ids of the topics that are read."""
        return dict(self._ids)

    def expect(self, topic_ids: Mapping[str, str]) -> None:
        """Set the ids that the topics must have."""
        self._ids.update(topic_ids)

    def take(self, now_s: float, read: Position) -> Ends | None:
        """Return the end offsets of the partitions if an answer has arrived, else None; send a query if it is due.

        Args:
            now_s: the current time, in seconds.
            read: the position up to which the log was read.

        Raises:
            BrokerUnavailableError: Kafka did not answer this time.
            TopicNotFoundError: a topic does not exist at the moment.
            BrokerError: Kafka refused, or the topic no longer has the records that were read.
        """
        if self._ends is not None:
            return self._take_ends(self._ends)
        if self._infos:
            self._take_infos(read)
        elif now_s >= self._next_s:
            self._infos = [self._topics.begin_look_up(name, _ANSWER_S) for name in self._names]
            self._next_s = now_s + _EVERY_S
        return None

    def _take_infos(self, read: Position) -> None:
        if not all(info.done for info in self._infos):
            return
        infos, self._infos = self._infos, []
        found = [info.wait(_ANSWER_S) for info in infos]
        self._same(found)
        for topic in found:
            topic.check_leaders()
        self.read_at_request = read
        self._ends = self._topics.begin_ends(self._partitions, _ANSWER_S)

    def _take_ends(self, ends: PendingEnds) -> Ends | None:
        if not ends.done:
            return None
        self._ends = None
        found = ends.wait(_ANSWER_S)
        # A partition that was added since was not part of the query.
        high = found.high_watermarks
        check_ends(high, {p: offset for p, offset in self.read_at_request.items() if p in high})
        return found

    def _same(self, found: list[TopicInfo]) -> list[Partition]:
        for name, topic in zip(self._names, found, strict=True):
            known = self._ids.setdefault(name, topic.topic_id)
            if known != topic.topic_id:
                raise LogReplacedError(recreated(name, known, topic.topic_id))
        for topic in found:
            self.leaders.update(topic.leaders)
        return [partition for topic in found for partition in topic.partitions]
