"""The pulse: questions to the broker at intervals, while a consumer reads on.

An idle broker says nothing by itself, and a consumer is not told that its topic was deleted and made
again. So it is asked, without waiting for the answer: do the topics still exist, are they the same ones
(their ids), and where do they end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_replica.broker.topics import PendingEnds, PendingInfo, TopicInfo, Topics
from kafka_replica.cuts import Ends
from kafka_replica.errors import BrokerUnavailableError, LogReplacedError, TopicNotFoundError
from kafka_replica.records import Cut, Partition

_EVERY_S = 1.0
_ANSWER_S = 5.0
_NO_TOPIC_FOR_S = 3.0  # a broker that is coming up may not know its topics yet


class Pulse:
    """Asks about some topics. For the thread that reads."""

    def __init__(self, topics: Topics, names: Iterable[str]) -> None:
        self._topics = topics
        self._names = list(names)
        self._ids: dict[str, str] = {}
        self.leaders: dict[Partition, int] = {}
        """The broker that leads each partition, as the answers so far say."""
        self._partitions: list[Partition] = []
        self._pending: tuple[list[PendingInfo], PendingEnds] | None = None
        self._read_when_asked = Cut()
        self._next_s = 0.0
        self._missing_since_s: float | None = None

    def find(self, timeout_s: float) -> list[Partition]:
        """All partitions of the topics, which are the ones found first.

        Raises:
            TopicNotFoundError: one is not there, now.
            LogReplacedError: one was deleted and made again.
            BrokerError: Kafka did not answer, or refused.
        """
        self._partitions = self._same([self._topics.look_up(name, timeout_s) for name in self._names])
        return self._partitions

    @property
    def topic_ids(self) -> dict[str, str]:
        """The ids of the topics that are read."""
        return dict(self._ids)

    def expect(self, topic_ids: Mapping[str, str]) -> None:
        """The topics must be these."""
        self._ids.update(topic_ids)

    def take(self, now_s: float, read: Cut) -> Ends | None:
        """Where the partitions end, if an answer has come.

        Args:
            now_s: the time.
            read: how far has been read.

        Raises:
            BrokerUnavailableError: Kafka did not answer this time.
            BrokerError: Kafka refused; or what was read is not in the topic any more.
        """
        if self._pending is None:
            if now_s >= self._next_s:
                self._ask(read)
                self._next_s = now_s + _EVERY_S
            return None
        infos, ends = self._pending
        if not (ends.done and all(info.done for info in infos)):
            return None
        self._pending = None
        if not self._are_there(infos, now_s):
            return None
        try:
            return self._not_shorter(ends.wait(_ANSWER_S))
        except TopicNotFoundError:
            return None  # whether it is gone is decided by asking for it, above

    def _ask(self, read: Cut) -> None:
        self._read_when_asked = read
        self._pending = (
            [self._topics.begin_look_up(name, _ANSWER_S) for name in self._names],
            self._topics.begin_ends(self._partitions, _ANSWER_S),
        )

    def _are_there(self, infos: list[PendingInfo], now_s: float) -> bool:
        try:
            found = [info.wait(_ANSWER_S) for info in infos]
        except TopicNotFoundError as error:
            if self._missing_since_s is None:
                self._missing_since_s = now_s
            if now_s - self._missing_since_s > _NO_TOPIC_FOR_S:
                raise
            raise BrokerUnavailableError(str(error)) from error
        self._missing_since_s = None
        self._same(found)
        return True

    def _same(self, found: list[TopicInfo]) -> list[Partition]:
        for name, topic in zip(self._names, found, strict=True):
            known = self._ids.setdefault(name, topic.topic_id)
            if known != topic.topic_id:
                raise LogReplacedError(recreated(name, known, topic.topic_id))
        for topic in found:
            self.leaders.update(topic.leaders)
        return [partition for topic in found for partition in topic.partitions]

    def _not_shorter(self, ends: Ends) -> Ends:
        # A partition that is new was not asked for.
        read = Cut({p: offset for p, offset in self._read_when_asked.items() if p in ends.high})
        if not ends.high.dominates(read):
            raise LogReplacedError(
                f"the log ends at {ends.high}, before what was read of it ({read}): it was cut off, and what is shown "
                "may be gone"
            )
        return ends


def recreated(topic: str, known_id: str, topic_id: str) -> str:
    """What is said of a topic that is not the one that was read."""
    return (
        f"topic {topic} was deleted and made again (its id was {known_id}, now it is {topic_id}): what is shown may "
        "be gone"
    )
