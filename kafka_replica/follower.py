r"""The one loop that joins reader, rule, barrier and store. It runs in a thread of its own.

A record's road, one direction, no way back::

    broker.reader -> cuts (may a version end here?) -> barrier (is it the present?) -> store -> board
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from threading import Event
from typing import Any, TypeVar

from kafka_replica.barrier import Barrier
from kafka_replica.board import Board
from kafka_replica.broker.reader import Fetched, QuietPointReader
from kafka_replica.broker.topics import TopicInfo, Topics
from kafka_replica.cuts import Publish, QuietPoints
from kafka_replica.errors import (
    BadRecordError,
    BrokerError,
    BrokerUnavailableError,
    KafkaReplicaError,
    TopicNotFoundError,
    UsageError,
)
from kafka_replica.pulse import Pulse, check_same_topic
from kafka_replica.records import Cut, Partition
from kafka_replica.stores import Store

_log = logging.getLogger("kafka_replica")

T = TypeVar("T")

_READ_S = 0.1  # how long a read waits for news; also how soon the end is noticed
_ANSWER_S = 5.0  # how long the broker may take to answer a question
_RETRY_S = 0.2
_NO_TOPIC_FOR_S = 2.0  # a topic made a moment ago may not be known to every broker yet


class Follower:
    """Follows one topic into one store until ``closing`` is set, and writes what happens on the board."""

    def __init__(
        self, config: Mapping[str, Any], topic: str, store: Store, board: Board, *, skip_bad_records: bool
    ) -> None:
        self.closing = Event()
        self._config = config
        self._topic = topic
        self._store = store
        self._board = board
        self._skip_bad_records = skip_bad_records
        self._topics: Topics | None = None
        self._heard = False
        self._in_trouble = False

    def run(self) -> None:
        """Follows; whatever ends it is on the board afterwards."""
        try:
            self._follow()
        except KafkaReplicaError as error:
            self._fail(error)
        except Exception as error:  # noqa: BLE001 - a thread's last line: it must never end unseen
            _log.exception("the replica of %s failed at something nobody foresaw", self._topic)
            foreseen_not = f"replicating {self._topic}: {type(error).__name__}: {error}; please report this"
            self._fail(KafkaReplicaError(foreseen_not))
        finally:
            self._board.stopped_reading(closed=self.closing.is_set())

    def _follow(self) -> None:
        topics = self._topics = Topics(self._config)
        info = self._insist(lambda: topics.look_up(self._topic, _ANSWER_S))
        if info is None:
            return
        partition = self._only_partition(info)
        beginning = self._insist(lambda: topics.beginnings([partition], _ANSWER_S))
        ends = self._insist(lambda: topics.ends([partition], _ANSWER_S))
        if beginning is None or ends is None:
            return
        barrier = Barrier(ends.high)
        self._board.barrier_set(ends.high)
        rule = QuietPoints(partition)
        reader = QuietPointReader(self._config, partition, beginning[partition])
        pulse = Pulse(topics, partition, info.topic_id)
        try:
            while not self.closing.is_set():
                visible = self._step(reader.read(_READ_S), rule, barrier)
                if visible is not None and self._is_same_topic(topics, info.topic_id):
                    self._publish(visible)
                self._take_pulse(pulse, Cut({partition: rule.published or 0}))
        finally:
            reader.close()

    def _step(self, fetched: Fetched, rule: QuietPoints, barrier: Barrier) -> Publish | None:
        """What one read brought; a version to be published, if it made one."""
        self._note(fetched)
        self._set_aside(fetched.bad_records)
        publish = rule.read(fetched.records, fetched.position, fetched.high_watermark)
        visible = None if publish is None else barrier.admit(publish)
        positions = Cut() if rule.position is None else Cut({rule.partition: rule.position})
        self._board.read(fetched.records, positions, rule.pending_records)
        return visible

    def _is_same_topic(self, topics: Topics, topic_id: str) -> bool:
        """Asks, after the reading and before its result is shown, whether the topic is still the same.

        librdkafka goes on at its old offset in a topic that was deleted and made again, and tells nobody.
        Costs about a millisecond a version. False when the replica was closed meanwhile.
        """
        found = self._insist(lambda: topics.look_up(self._topic, _ANSWER_S))
        if found is None:
            return False
        check_same_topic(self._topic, topic_id, found)
        return True

    def _publish(self, publish: Publish) -> None:
        applied = self._store.apply(publish.delta, publish.cut)
        self._board.published(self._store.snapshot(), applied)

    def _only_partition(self, info: TopicInfo) -> Partition:
        if len(info.partitions) != 1:
            raise UsageError(
                f"topic {self._topic} has {len(info.partitions)} partitions; this version of kafka_replica follows "
                "topics of one partition only"
            )
        return info.partitions[0]

    def _insist(self, question: Callable[[], T]) -> T | None:
        """Asks until there is an answer, or the replica is closed (None). What waiting cannot mend is raised."""
        began_s = time.monotonic()
        while not self.closing.is_set():
            try:
                answer = question()
            except BrokerUnavailableError as error:
                self._trouble(error)
                self._tell_refusal()
            except TopicNotFoundError:
                if time.monotonic() - began_s > _NO_TOPIC_FOR_S:
                    raise
            else:
                self._heard = True
                self._well()
                return answer
            self.closing.wait(_RETRY_S)
        return None

    def _tell_refusal(self) -> None:
        """While nothing was ever heard, a refusal of who we are is the answer; later it may be a passing one."""
        refusal = self._topics.refusal() if self._topics is not None else None
        if refusal is None:
            return
        if not self._heard:
            raise refusal
        self._trouble(refusal)

    def _note(self, fetched: Fetched) -> None:
        if fetched.heard:
            self._board.heard()
        if fetched.trouble is not None:
            self._trouble(fetched.trouble)

    def _trouble(self, trouble: BrokerError) -> None:
        """Something that may pass: said once, and once more when it has passed."""
        self._board.troubled(trouble)
        if not self._in_trouble:
            _log.warning("%s; the replica goes on by itself when it is over", trouble)
        self._in_trouble = True

    def _well(self) -> None:
        self._board.heard()
        if self._in_trouble:
            _log.warning("the broker answers again; the replica of %s goes on", self._topic)
        self._in_trouble = False

    def _set_aside(self, bad_records: list[BadRecordError]) -> None:
        if not bad_records:
            return
        self._board.set_aside(bad_records)
        if not self._skip_bad_records:
            raise bad_records[0]
        for bad in bad_records:
            _log.warning("set aside: %s", bad)

    def _take_pulse(self, pulse: Pulse, read: Cut) -> None:
        try:
            ends = pulse.take(time.monotonic(), read)
        except BrokerUnavailableError as error:
            self._trouble(error)
            self._tell_refusal()
            return
        if ends is not None:
            self._well()
            self._board.ends(ends)

    def _fail(self, error: KafkaReplicaError) -> None:
        _log.error("the replica of %s failed: %s", self._topic, error)
        self._board.failed(error)
