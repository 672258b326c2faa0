"""The pulse: questions to the broker at intervals, while reading goes on.

An idle broker says nothing by itself, and a consumer is not told that its topic was deleted and made
again. So the replica asks, without waiting for the answer: does the topic still exist, is it the same one
(its id), and where does it end.
"""

from __future__ import annotations

from kafka_replica.broker.topics import Ends, PendingEnds, PendingInfo, TopicInfo, Topics
from kafka_replica.errors import BrokerError, TopicNotFoundError
from kafka_replica.records import Cut, Partition

_EVERY_S = 1.0
_ANSWER_S = 5.0
_NO_TOPIC_FOR_S = 3.0  # a broker that is coming up may not know its topics yet


def check_same_topic(topic: str, topic_id: str, found: TopicInfo) -> None:
    """Makes sure that the topic is still the one that was read.

    Raises:
        BrokerError: it was deleted and made again.
    """
    if found.topic_id != topic_id:
        raise BrokerError(
            f"topic {topic} was deleted and made again (its id was {topic_id}, now it is {found.topic_id}): what is "
            "shown may be gone; start a new replica"
        )


class Pulse:
    """Asks about one partition. For the thread that reads."""

    def __init__(self, topics: Topics, partition: Partition, topic_id: str) -> None:
        self._topics = topics
        self._partition = partition
        self._topic_id = topic_id
        self._pending: tuple[PendingInfo, PendingEnds] | None = None
        self._read_when_asked = Cut()
        self._next_s = 0.0
        self._missing_since_s: float | None = None

    def take(self, now_s: float, read: Cut) -> Ends | None:
        """Where the partition ends, if an answer has come.

        Args:
            now_s: the time.
            read: how far has been read, all decided.

        Raises:
            BrokerUnavailableError: Kafka did not answer this time.
            BrokerError: Kafka refused; or what was read is not in the topic any more.
        """
        if self._pending is None:
            if now_s >= self._next_s:
                self._ask(read)
                self._next_s = now_s + _EVERY_S
            return None
        info, ends = self._pending
        if not (info.done and ends.done):
            return None
        self._pending = None
        if not self._is_there(info, now_s):
            return None
        try:
            return self._not_shorter(ends.wait(_ANSWER_S))
        except TopicNotFoundError:
            return None  # whether it is gone is decided by asking for it, above

    def _ask(self, read: Cut) -> None:
        self._read_when_asked = read
        self._pending = (
            self._topics.begin_look_up(self._partition.topic, _ANSWER_S),
            self._topics.begin_ends([self._partition], _ANSWER_S),
        )

    def _is_there(self, info: PendingInfo, now_s: float) -> bool:
        try:
            found = info.wait(_ANSWER_S)
        except TopicNotFoundError:
            if self._missing_since_s is None:
                self._missing_since_s = now_s
            if now_s - self._missing_since_s > _NO_TOPIC_FOR_S:
                raise
            return False
        self._missing_since_s = None
        check_same_topic(self._partition.topic, self._topic_id, found)
        return True

    def _not_shorter(self, ends: Ends) -> Ends:
        if not ends.high.dominates(self._read_when_asked):
            raise BrokerError(
                f"{self._partition} ends at {ends.high}, before what was read of it ({self._read_when_asked}): the "
                "log was cut off, and what is shown may be gone; start a new replica"
            )
        return ends
