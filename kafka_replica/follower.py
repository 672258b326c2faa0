r"""The one loop that joins reader, rule, barrier and store. It runs in a thread of its own.

A record's road, one direction, no way back::

    broker -> cuts (which transactions are whole?) -> assembly (which record of a key counts?)
           -> barrier (may it be shown?) -> store -> board
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event
from typing import Any, TypeVar

from kafka_replica.assembly import Assembly
from kafka_replica.barrier import Barrier
from kafka_replica.board import Board
from kafka_replica.broker.sources import Evidence, TooOldError, make_source
from kafka_replica.cuts import Ends, Point, Rule, Settle, Step
from kafka_replica.errors import (
    BadRecordError,
    BrokerError,
    BrokerUnavailableError,
    KafkaReplicaError,
    TopicNotFoundError,
    WaitTimeoutError,
)
from kafka_replica.records import Cut, Partition, topic_key
from kafka_replica.source import Fetched, Opened, Source
from kafka_replica.states import State
from kafka_replica.stores import Store

_log = logging.getLogger("kafka_replica")

T = TypeVar("T")

_READ_S = 0.1  # how long a read waits for news; also how soon the end is noticed
_RETRY_S = 0.2
_LOOK_EVERY_S = 1.0  # for topics that went away, and partitions that were added
_NO_TOPIC_FOR_S = 3.0  # a topic made a moment ago may not be known to every broker yet
_VERSIONS_A_READ = 100  # one for each transaction up to here; more at once become one


@dataclass(frozen=True, slots=True)
class Following:
    """What to follow, and how."""

    config: Mapping[str, Any]
    topics: tuple[str, ...]
    evidence: Evidence
    one_key_space: bool
    skip_bad_records: bool
    wait_for_topics: bool
    barrier_timeout_s: float | None

    @property
    def name(self) -> str:
        """The topics, for people."""
        return ", ".join(self.topics)

    def prefixes(self) -> dict[str, bytes]:
        """What the store puts before the keys of each topic."""
        apart = len(self.topics) > 1 and not self.one_key_space
        return {topic: topic_key(topic, b"") if apart else b"" for topic in self.topics}


class Follower:
    """Follows topics into one store until ``closing`` is set, and writes what happens on the board."""

    def __init__(self, following: Following, store: Store, board: Board) -> None:
        self.closing = Event()
        self._following = following
        self._store = store
        self._board = board
        ranks = {topic: rank for rank, topic in enumerate(following.topics)}
        self._assembly = Assembly(lambda key: store.snapshot().get(key), following.prefixes(), ranks)
        self._barrier: Barrier
        self._source: Source
        self._rule: Rule
        self._partitions: set[Partition] = set()
        self._transactions: int | None = 0  # of points that are not shown yet
        self._came_to, self._came_s = Cut(), time.monotonic()
        self._looked_s = 0.0
        self._missing_since_s: float | None = None
        self._heard = False
        self._in_trouble = False

    def run(self) -> None:
        """Follows; whatever ends it is on the board afterwards."""
        try:
            self._follow()
        except KafkaReplicaError as error:
            self._fail(error)
        except Exception as error:  # noqa: BLE001 - a thread's last line: it must never end unseen
            _log.exception("the replica of %s failed at something nobody foresaw", self._following.name)
            unforeseen = f"replicating {self._following.name}: {type(error).__name__}: {error}; please report this"
            self._fail(KafkaReplicaError(unforeseen))
        finally:
            if self.closing.is_set():
                self._board.stopped()

    def _follow(self) -> None:
        try:
            opened = self._open()
            if opened is None:
                return
            self._barrier = Barrier(opened.ends)
            self._board.barrier_set(opened.ends, self._rule.evidence)
            self._begin(opened)
            while not self.closing.is_set():
                self._step()
                if not self._barrier.passed:
                    self._mind_the_time()
        finally:
            if hasattr(self, "_source"):
                self._source.close()

    def _open(self) -> Opened | None:
        following = self._following
        self._source, self._rule = make_source(following.config, following.topics, following.evidence)
        try:
            return self._insist(self._source.open, wait_for_topics=following.wait_for_topics)
        except TooOldError as error:
            if following.evidence is not Evidence.AUTO:
                raise
            _log.info("reading with the confluent-kafka consumer, by quiet points: %s", error)
            self._source.close()
            self._source, self._rule = make_source(following.config, following.topics, Evidence.QUIET_POINTS)
            return self._insist(self._source.open, wait_for_topics=following.wait_for_topics)

    def _begin(self, opened: Opened) -> None:
        self._read_from(opened.beginnings)
        self._carry_out(self._rule.answer(Ends(opened.ends, opened.ends)))

    def _read_from(self, beginnings: Mapping[Partition, int]) -> None:
        for partition, offset in beginnings.items():
            self._rule.add(partition, offset)
            self._assembly.add(partition)
            self._partitions.add(partition)

    # --- one turn of the loop ---

    def _step(self) -> None:
        try:
            fetched = self._source.read(_READ_S)
        except BrokerUnavailableError as error:
            self._trouble(error)
            self._tell_refusal()
            self.closing.wait(_RETRY_S)
            return
        self._note(fetched)
        if fetched.hole:
            self._barrier.hole()
        self._carry_out(self._rule.take(fetched.reading, every_point=self._barrier.passed))
        self._board.read(
            fetched.reading.positions,
            self._rule.held_records + self._assembly.record_count,
            self._assembly.totals,
        )
        self._board.ends(Ends(fetched.stable, fetched.reading.high_watermarks), waits=self._rule.waits_for_the_open)
        if self._rule.wants_ends:
            self._ask_ends()
        if time.monotonic() - self._looked_s > _LOOK_EVERY_S:
            self._glance()

    def _mind_the_time(self) -> None:
        """Ends a bootstrap that has come to nothing for too long, though the broker answers.

        Raises:
            WaitTimeoutError: it says what was waited for.
        """
        status = self._board.status()
        now_s, limit_s = time.monotonic(), self._following.barrier_timeout_s
        if status.positions != self._came_to or status.state is State.STALLED:
            self._came_to, self._came_s = status.positions, now_s
        if limit_s is not None and now_s - self._came_s > limit_s:
            holds = f"; a transaction is open at {status.held_at}" if status.held_at is not None else ""
            raise WaitTimeoutError(
                f"the replica of {self._following.name} has read nothing for {limit_s:g} s and is not ready: read up "
                f"to {status.positions}, the barrier is at {self._barrier.least}{holds}"
            )

    def _carry_out(self, steps: list[Step]) -> None:
        """Does what the rule decided."""
        points = sum(isinstance(step, Point) for step in steps)
        conflate = points > _VERSIONS_A_READ
        looked = False
        for step in steps:
            if isinstance(step, Settle):
                self._set_aside(self._assembly.settle(step.batches))
                continue
            points -= 1
            self._count(step.transactions)
            if conflate and points:
                continue
            looked = self._reach(step, looked=looked or step.looked)

    def _reach(self, point: Point, *, looked: bool) -> bool:
        """A point is reached: shows it, if it may be shown; says whether all partitions were looked for."""
        if self._barrier.wants_ends and self._barrier.would_admit(point.cut):
            self._mind_the_hole()
        if not self._barrier.admits(point.cut):
            return looked
        is_first = not self._board.has_version
        if self._assembly.is_empty and not is_first:
            self._board.advanced(point.cut)
            return looked
        if not looked and not self._is_all_there():
            return False
        delta = self._assembly.take(point.cut)
        transactions, self._transactions = self._transactions, 0
        applied = self._store.apply(delta, point.cut)
        self._board.published(self._store.snapshot(), applied, transactions)
        self._rule.shown()
        return True

    def _count(self, transactions: int | None) -> None:
        if transactions is None or self._transactions is None:
            self._transactions = None
        else:
            self._transactions += transactions

    # --- questions to the broker ---

    def _ask_ends(self) -> None:
        ends = self._insist(self._source.ends)
        if ends is None or self._grow(list(ends.high)):
            return
        self._barrier.answer(ends.high)
        self._carry_out(self._rule.answer(ends))

    def _mind_the_hole(self) -> None:
        ends = self._insist(self._source.ends)
        if ends is not None and not self._grow(list(ends.high)):
            self._barrier.answer(ends.high)

    def _is_all_there(self) -> bool:
        """Asks, after the reading and before its result is shown: the same topics, no partition more?"""
        unread = self._insist(self._source.look)
        return unread is not None and not self._grow(unread)

    def _grow(self, partitions: list[Partition]) -> bool:
        """Reads partitions that were added, too; whether there are any."""
        added = [partition for partition in partitions if partition not in self._partitions]
        if not added:
            return False
        beginnings = self._insist(lambda: self._source.add(added))
        if beginnings is not None:
            _log.info("reading partitions that were added: %s", ", ".join(map(str, added)))
            self._read_from(beginnings)
        return True

    def _glance(self) -> None:
        """Looks now and then, whether there is news or not."""
        self._looked_s = time.monotonic()
        try:
            unread = self._source.look()
        except TopicNotFoundError as error:
            self._missing_since_s = self._missing_since_s or self._looked_s
            if self._looked_s - self._missing_since_s > _NO_TOPIC_FOR_S:
                raise
            self._trouble(error)
        except BrokerUnavailableError as error:
            self._trouble(error)
            self._tell_refusal()
        else:
            self._missing_since_s = None
            self._well()
            self._grow(unread)

    def _insist(self, question: Callable[[], T], *, wait_for_topics: bool = False) -> T | None:
        """Asks until there is an answer, or the replica is closed (None). What waiting cannot mend is raised."""
        began_s = time.monotonic()
        while not self.closing.is_set():
            try:
                answer = question()
            except BrokerUnavailableError as error:
                self._trouble(error)
                self._tell_refusal()
            except TopicNotFoundError as error:
                if wait_for_topics:
                    self._trouble(error)
                elif time.monotonic() - began_s > _NO_TOPIC_FOR_S:
                    raise
            else:
                self._heard = True
                self._well()
                return answer
            self.closing.wait(_RETRY_S)
        return None

    # --- what is told ---

    def _tell_refusal(self) -> None:
        """While nothing was ever heard, a refusal of who we are is the answer; later it may be a passing one."""
        refusal = self._source.refusal()
        if refusal is None:
            return
        if not self._heard:
            raise refusal
        self._trouble(refusal)

    def _note(self, fetched: Fetched) -> None:
        if fetched.heard:
            self._well()
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
            _log.warning("the broker answers again; the replica of %s goes on", self._following.name)
        self._in_trouble = False

    def _set_aside(self, bad_records: list[BadRecordError]) -> None:
        if not bad_records:
            return
        self._board.set_aside(bad_records)
        if not self._following.skip_bad_records:
            raise bad_records[0]
        for bad in bad_records:
            _log.warning("set aside: %s", bad)

    def _fail(self, error: KafkaReplicaError) -> None:
        _log.error("the replica of %s failed: %s", self._following.name, error)
        self._board.failed(error)
