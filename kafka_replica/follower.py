"""The one loop that joins reader, rule, barrier and store.

A record's road, one direction, no way back::

    broker -> cuts (which transactions are whole?) -> assembly (which record of a key counts?)
           -> barrier (may it be shown?) -> store -> board
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from contextlib import suppress
from threading import Event

from kafka_replica.aside import Aside
from kafka_replica.assembly import Assembly
from kafka_replica.barrier import Barrier
from kafka_replica.board import Board
from kafka_replica.bookmark import Bookmark
from kafka_replica.broker.sources import make_source
from kafka_replica.clock import Instant, now
from kafka_replica.cuts import Batch, Ends, Point, Rule, Settle, Step
from kafka_replica.deletions import DeletionCheck
from kafka_replica.errors import (
    BrokerUnavailableError,
    StoreDamagedError,
    TopicNotFoundError,
    WaitTimeoutError,
)
from kafka_replica.following import Following
from kafka_replica.log_starts import LogStarts
from kafka_replica.opening import MakeSource, open_log
from kafka_replica.patience import ClosedMeanwhileError, Patience
from kafka_replica.records import Cut, Partition
from kafka_replica.sieve import Sieve
from kafka_replica.source import Fetched, Opened, Source
from kafka_replica.states import State
from kafka_replica.stores import Store
from kafka_replica.transaction_headers import origins_of

_log = logging.getLogger("kafka_replica")

_READ_S = 0.1  # how long a read waits for news; also how soon the end is noticed
_LOOK_EVERY_S = 1.0  # for topics that went away, and partitions that were added
_NOTE_EVERY_S = 30.0  # how often it is written down that the version in the store is still the newest
_VERSIONS_A_READ = 100  # one for each transaction up to here; more at once become one
_QUESTIONS_A_STEP = 3  # for the ends: after an answer others may be wanted at once
_BATCHES_A_PART = 16  # are taken in before it is looked whether a part is full


class Follower:
    """Follows one log into one store until ``closing`` is set, and writes what happens on the board."""

    def __init__(
        self,
        following: Following,
        store: Store,
        board: Board,
        make_source: MakeSource = make_source,
        closing: Event | None = None,
    ) -> None:
        self._closing = closing or Event()
        self._following = following
        self._make_source = make_source
        self._store = store
        self._board = board
        ranks = {topic: rank for rank, topic in enumerate(following.topics)}
        saved = store.bookmark
        sieve = Sieve(
            following.keep,
            following.check,
            [(bad.topic, bad.key) for bad in saved.bad_records if bad.key is not None] if saved is not None else (),
        )
        self._assembly = Assembly(
            store.newest, following.prefixes(), ranks, sieve=sieve, counts_bytes=store.part_bytes is not None
        )
        self._aside = Aside(board, sieve, on_bad_record=following.on_bad_record, dead_letters=following.dead_letters)
        waits = following.wait_for_topics
        self._patience = Patience(following.name, board, self._closing, waits_for_topics=waits)
        self._deletions: DeletionCheck
        self._log_starts = LogStarts()
        self._point: Point | None = None  # the last one, if nothing was settled since
        self._barrier: Barrier
        self._opened_at: Instant
        self._source: Source
        self._rule: Rule
        self._partitions: set[Partition] = set()
        self._transactions: int | None = 0  # of points that are not shown yet
        self._bookmark: Bookmark | None = None  # of the version in the store, where that is of this log
        self._came_to, self._came_s = Cut(), time.monotonic()
        self._looked_s = 0.0
        self._noted_s = time.monotonic()

    def follow(self, bookmark: Bookmark | None = None) -> None:
        """Follows until ``closing`` is set.

        Args:
            bookmark: of the version in the store; without one it is built from nothing.

        Raises:
            LogReplacedError: the store cannot be kept in step with the log any more: it has to be built anew.
            StoreDamagedError: the same.
            KafkaReplicaError: it cannot go on.
        """
        try:
            with suppress(ClosedMeanwhileError):
                self._source, self._rule, opened = open_log(
                    self._following, self._make_source, self._patience, lambda source: self._open(source, bookmark)
                )
                self._barrier = Barrier(opened.ends)
                self._deletions = DeletionCheck(
                    self._following.topics, self._following.tombstones_kept_s, self._source, self._patience
                )
                self._begin(opened, bookmark)
                while not self._closing.is_set():
                    self._step()
                    if not self._barrier.passed:
                        self._mind_the_time()
            self._note()
        finally:
            if hasattr(self, "_source"):
                self._source.close()

    def _open(self, source: Source, bookmark: Bookmark | None) -> Opened:
        self._opened_at = now()
        return source.open(bookmark)

    def _begin(self, opened: Opened, bookmark: Bookmark | None = None) -> None:
        self._board.barrier_set(opened.ends, self._rule.evidence)
        known, lowest = Cut(), dict(opened.beginnings)
        nothing_is_missing = self._deletions.begin(self._opened_at, opened, bookmark)
        if bookmark is not None:
            known, self._bookmark = bookmark.cut, bookmark
            self._barrier.raise_to(known)
            lowest |= {**dict.fromkeys(known, 0), **bookmark.lowest_offsets}
            self._board.set_aside_before(bookmark.bad_records)
            if nothing_is_missing:
                self._show_saved()
            # Else it is shown when no offset was found missing up to the barrier.
        self._log_starts.add(lowest)
        self._read_from(opened.beginnings, known)
        self._mind_log_starts(opened.log_starts)
        self._carry_out(self._rule.answer(Ends(opened.ends, opened.ends)))

    def _read_from(self, beginnings: Mapping[Partition, int], known: Mapping[Partition, int]) -> None:
        for partition, offset in beginnings.items():
            self._rule.add(partition, offset)
            self._assembly.add(partition, known.get(partition, 0))
            self._partitions.add(partition)

    # --- one turn of the loop ---

    def _step(self) -> None:
        try:
            fetched = self._source.read(_READ_S)
        except BrokerUnavailableError as error:
            self._patience.unavailable(self._source, error)
            self._patience.pause()
            return
        self._note_news(fetched)
        self._mind_log_starts(fetched.log_starts)
        self._deletions.take(fetched)
        self._board.read(fetched.reading.positions)
        self._carry_out(self._rule.take(fetched.reading, every_point=self._barrier.passed))
        self._note_counts()
        self._board.ends(Ends(fetched.stable, fetched.reading.high_watermarks), waits=self._rule.waits_for_the_open)
        if self._rule.wants_ends:
            self._ask_ends()
        if self._log_starts.passed and self._point is not None:  # perhaps there is no other point for a long time
            self._reach(self._point, looked=False)
        if time.monotonic() - self._looked_s > _LOOK_EVERY_S:
            self._glance()

    def _note_news(self, fetched: Fetched) -> None:
        if fetched.heard:
            self._patience.well()
        if fetched.trouble is not None:
            self._patience.trouble(fetched.trouble)
        if fetched.gaps and self._source.gaps_are_certain:
            self._barrier.hole()

    def _mind_log_starts(self, log_starts: Cut) -> None:
        # As with holes: what was deleted may have been written anew, further on.
        if self._log_starts.move(log_starts):
            self._barrier.hole()

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
        looked, known = False, len(self._partitions)
        for step in steps:
            if isinstance(step, Settle):
                self._point = None
                self._settle(step.batches)
                continue
            points -= 1
            self._count(step.transactions)
            if (conflate and points) or len(self._partitions) > known:  # it knew nothing of those added since
                continue
            self._point = step
            looked = self._reach(step, looked=looked or step.looked)

    def _settle(self, batches: list[Batch]) -> None:
        """Takes in what is to be in the next version; hands it to the store in parts, if the store wants that."""
        limit = self._store.part_bytes
        if limit is None:
            self._aside.tell(self._assembly.settle(batches))
            return
        for at in range(0, len(batches), _BATCHES_A_PART):
            self._aside.tell(self._assembly.settle(batches[at : at + _BATCHES_A_PART]))
            if self._assembly.size_bytes > limit:
                self._store.stage(self._assembly.take_part())

    def _reach(self, point: Point, *, looked: bool) -> bool:
        """A point is reached: shows it, if it may be shown; says whether all partitions were looked for."""
        if self._barrier.wants_ends and self._barrier.would_admit(point.cut):
            self._mind_the_hole()
        if not self._barrier.admits(point.cut):
            return looked
        if self._log_starts.passed:
            self._expire(point.cut)
        if self._assembly.is_empty and self._bookmark is not None:
            self._deletions.confirm()
            self._stands_for(point.cut)
            return looked
        if not looked and not self._is_all_there():
            return False
        self._deletions.confirm()
        self._show_saved()
        delta = self._assembly.take(point.cut)
        transactions, self._transactions = self._transactions, 0
        # What was there when reading began says nothing of how fast news travel.
        is_news = self._board.ready and delta.record_count
        origins = origins_of(delta.changes.values(), transactions) if is_news else ()
        bookmark = self._mark(point.cut)
        applied = self._store.apply(delta, point.cut, bookmark)
        self._bookmark = bookmark
        self._note_counts()  # before anybody can see the version
        self._board.published(self._store.snapshot(), applied, transactions, origins)
        self._rule.shown()
        return True

    def _expire(self, cut: Cut) -> None:
        """Deletes what Kafka has deleted at the front of the logs, in the version that stands for a cut."""
        starts = self._log_starts.passed
        count, lowest = self._assembly.expire(starts, self._store.offsets())
        self._log_starts.expire(lowest, cut)
        self._board.forget_bad_records(starts)
        _log.info("records below %s were deleted by Kafka: %d keys are deleted with them", Cut(starts), count)

    def _stands_for(self, cut: Cut) -> None:
        """The version in the store stands for a later cut, too: nothing has changed."""
        self._show_saved()
        self._bookmark = self._mark(cut)
        self._note_counts()
        self._board.advanced(cut)

    def _note_counts(self) -> None:
        self._board.counted(self._rule.held_records + self._assembly.record_count, self._assembly.totals)

    def _count(self, transactions: int | None) -> None:
        if transactions is None or self._transactions is None:
            self._transactions = None
        else:
            self._transactions += transactions

    # --- what outlives the process ---

    def _mark(self, cut: Cut) -> Bookmark:
        origin = self._source.origin
        caught_up_ms, tombstones_kept_s = self._deletions.saved(cut)
        return Bookmark(
            cut,
            origin.topic_ids,
            origin.leader_epochs,
            caught_up_ms,
            self._following.selection,
            self._board.life,
            tuple(self._board.bad_records),
            self._assembly.has_families,
            tombstones_kept_s,
            dict(self._log_starts.lowest),
        )

    def _show_saved(self) -> None:
        """What the store has from before is of this log: readers may have it until there is news."""
        if not self._board.has_version and self._bookmark is not None:
            self._board.restored(self._store.snapshot(), self._bookmark.life)

    def _note(self) -> None:
        """Writes down how far, and until when, the version in the store is known to be the newest."""
        self._noted_s = time.monotonic()
        if self._bookmark is not None and self._barrier.passed:
            cut = self._bookmark.cut
            self._bookmark = self._bookmark.moved(cut, *self._deletions.saved(cut))
            self._store.note(self._bookmark)

    # --- questions to the broker ---

    def _ask_ends(self) -> None:
        for _ in range(_QUESTIONS_A_STEP):
            ends = self._patience.insist(self._source, self._source.ends)
            if self._grow(list(ends.high)):
                return
            self._barrier.answer(ends.high)
            self._carry_out(self._rule.answer(ends))
            if not self._rule.wants_ends:
                return

    def _mind_the_hole(self) -> None:
        ends = self._patience.insist(self._source, self._source.ends)
        if not self._grow(list(ends.high)):
            self._barrier.answer(ends.high)

    def _is_all_there(self) -> bool:
        """Asks, after the reading and before its result is shown: the same topics, no partition more?"""
        unread = self._patience.insist(self._source, self._source.look)
        return not self._grow(unread)

    def _grow(self, partitions: list[Partition]) -> bool:
        """Reads partitions that were added, too; whether there are any."""
        added = [partition for partition in partitions if partition not in self._partitions]
        if not added:
            return False
        self._point, asked = None, now()
        beginnings = self._patience.insist(self._source, lambda: self._source.add(added))
        self._deletions.add(asked, added)
        self._log_starts.add(beginnings)
        _log.info("reading partitions that were added: %s", ", ".join(map(str, added)))
        self._read_from(beginnings, {})
        return True

    def _glance(self) -> None:
        """Looks now and then, whether there is news or not."""
        self._looked_s = time.monotonic()
        if self._looked_s - self._noted_s > _NOTE_EVERY_S:
            self._note()
        if self._store.is_damaged:
            raise StoreDamagedError(f"something in {self._store!r} is not what was written there")
        self._deletions.ask_now_and_then()
        asked = now()
        try:
            ends = self._source.ends()  # which looks, too
        except TopicNotFoundError as error:
            self._patience.missing(error)
        except BrokerUnavailableError as error:
            self._patience.unavailable(self._source, error)
        else:
            self._patience.found()
            if not self._grow(list(ends.high)):
                self._deletions.answered(asked, ends)
