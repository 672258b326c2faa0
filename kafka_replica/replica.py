"""The replica: what users hold. What it does is in ``follower``, what it knows on its ``board``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from copy import copy
from threading import RLock, Thread, current_thread
from types import TracebackType
from typing import Any, Literal, NoReturn, Self

from kafka_replica.board import Board
from kafka_replica.broker.settings import reader_settings
from kafka_replica.errors import (
    BadRecordError,
    ConfigurationError,
    NotReadyError,
    ReplicaClosedError,
    UsageError,
    WaitTimeoutError,
)
from kafka_replica.follower import Follower
from kafka_replica.listeners import DEFAULT_PENDING_CHANGES, Changes, Listener, Subscription
from kafka_replica.records import Cut, Partition
from kafka_replica.states import Health, State, Status
from kafka_replica.stores import MemoryStore, Snapshot, Store

_CLOSE_S = 10.0


class Replica:
    """A live, exact copy of one compacted topic.

    What a reader may rely on:

    * every version holds whole committed transactions and nothing else;
    * versions only go forward, and a snapshot never changes;
    * ready means that everything which was in the topic when the replica started is in the version;
    * a record that cannot be replicated stops the replica, or is set aside, counted and listed;
    * ``state`` says what is known now, not what was known once.

    All methods may be called from any thread. Reading begins with ``start()`` or at entering a ``with``.

    Args:
        config: librdkafka's properties as they are; ``bootstrap.servers`` at least.
        topic: the topic to follow; it must have one partition in this version of kafka_replica.
        store: where versions are kept; in memory by default.
        on_bad_record: ``"stop"`` fails the replica at a record that cannot be replicated (one without
            a key); ``"skip"`` sets it aside into ``bad_records``.
        stalled_after_s: how long the broker may be silent before the state is ``stalled``.
        blocked_after_s: how long one open transaction may be in the way before it is ``blocked``.

    Raises:
        ConfigurationError: a property is impossible, or would break one of the promises.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        topic: str,
        store: Store | None = None,
        *,
        on_bad_record: Literal["stop", "skip"] = "stop",
        stalled_after_s: float = 10.0,
        blocked_after_s: float = 1.0,
    ) -> None:
        reader_settings(config)  # refuses early what the reader would refuse later
        if on_bad_record not in {"stop", "skip"}:
            raise ConfigurationError(f"on_bad_record={on_bad_record!r} is not possible; it is 'stop' or 'skip'")
        if not topic or type(topic) is not str:
            raise ConfigurationError(f"topic={topic!r} is no name of a topic; give it as text")
        self.config = dict(config)
        self.topic = topic
        self._store: Store = MemoryStore() if store is None else store
        if self._store.snapshot().version:
            raise ConfigurationError(
                "the store holds a version already, of which nothing says that it is of this topic as it is now; "
                "give each replica a store of its own"
            )
        self._board = Board(Health(stalled_after_s=stalled_after_s, blocked_after_s=blocked_after_s))
        self._follower = Follower(
            self.config, topic, self._store, self._board, skip_bad_records=on_bad_record == "skip"
        )
        self._subscriptions: list[Subscription] = []
        self._lifecycle = RLock()  # a signal handler may close what the same thread is starting
        self._thread: Thread | None = None
        self._pid: int | None = None

    # --- life ---

    def start(self) -> Self:
        """Begins to read, in a thread of its own; returns at once. Calling it again changes nothing.

        Raises:
            ReplicaClosedError: it was closed; make a new one.
        """
        with self._lifecycle:
            self._check_open()
            if self._thread is None:
                self._pid = os.getpid()
                self._board.started()
                self._thread = Thread(target=self._follower.run, name=f"kafka_replica {self.topic}", daemon=True)
                self._thread.start()
        return self

    def close(self) -> None:
        """Ends reading and tells listeners no more. Idempotent. Snapshots stay readable."""
        if self._pid is not None and self._pid != os.getpid():
            return  # a fork has none of the threads, and locks may be held for ever
        self._follower.closing.set()
        with self._lifecycle:
            thread, subscriptions = self._thread, list(self._subscriptions)
        if thread is not None and thread is not current_thread() and not self._board.is_busy_here:
            # Bounded: a signal handler may have interrupted who holds what the thread waits for. It ends then.
            thread.join(_CLOSE_S)
        self._board.stopped()
        from_a_listener = any(subscription.is_current_thread for subscription in subscriptions)
        for subscription in subscriptions:
            subscription.close(wait=not from_a_listener)  # two listeners that close would wait for each other
        self._store.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise UsageError(
            "a replica cannot be pickled, it holds a connection and threads; "
            "take what you need out of a snapshot, or make a replica in the other process"
        )

    # --- reading ---

    def wait_ready(self, timeout_s: float | None = None) -> Snapshot:
        """Waits for the barrier; returns the version at it, or a newer one.

        Raises:
            WaitTimeoutError: not ready in time; the message says what it waits for.
            KafkaReplicaError: the replica failed, with this error.
            ReplicaClosedError: it was closed.
        """
        self._check_started()
        self._board.wait_settled(timeout_s)
        snapshot = self._board.snapshot
        if snapshot is None:
            if self._board.error is not None:
                raise copy(self._board.error)
            self._check_open()
            self._raise_too_slow("is not ready")
        return snapshot

    def snapshot(self) -> Snapshot:
        """The present version, in O(1). It never changes, and lives as long as you hold it.

        Raises:
            NotReadyError: there is none yet; ``wait_ready`` waits for it.
            KafkaReplicaError: the replica failed before there was one.
        """
        self._check_process()
        snapshot = self._board.snapshot
        if snapshot is None:
            if self._board.error is not None:
                raise copy(self._board.error)
            self._check_open()
            raise NotReadyError(
                f"the replica of {self.topic} has no version yet ({self.state}); call wait_ready(timeout_s=...) first"
            )
        return snapshot

    def wait_for(self, positions: Mapping[Partition, int], timeout_s: float | None = None) -> Snapshot:
        """Waits for a version that includes what lies below these offsets; returns it, or a newer one.

        So a service reads what it has written: ``replica.wait_for(transaction.committed.cut)``. A commit that
        returned is not yet a commit that readers see, so asking for a snapshot right after it is too early.

        Args:
            positions: for each partition that matters, the offset after the last record one waits for.
            timeout_s: how long to wait; None waits for ever.

        Raises:
            WaitTimeoutError: not in time; the message says how far it is.
            KafkaReplicaError: the replica failed, with this error.
            ReplicaClosedError: it was closed.
        """
        self._check_started()
        if not self._board.wait_for(positions, timeout_s):
            if self._board.error is not None:
                raise copy(self._board.error)
            self._check_open()
            self._raise_too_slow(f"has not come to {Cut(positions)}")
        return self.snapshot()

    def subscribe(self, listener: Listener, *, max_pending: int = DEFAULT_PENDING_CHANGES) -> Subscription:
        """Tells a listener of the whole present state first, then of each version; see ``listeners``.

        Args:
            listener: called with a ``Change``, from a thread of its own, never two at a time.
            max_pending: how many changes may wait for it before they are merged.

        Raises:
            ReplicaClosedError: it was closed.
        """
        if not callable(listener):
            raise UsageError(f"a listener is something that can be called with a Change, not {listener!r}")
        self._check_process()
        with self._lifecycle:
            self._check_open()
            mailbox = self._board.mailbox(max_pending)
            subscription = Subscription(listener, mailbox, self._board.listener_failed)
            self._subscriptions = [known for known in self._subscriptions if not known.closed]
            self._subscriptions.append(subscription)
        return subscription

    def changes(self, *, timeout_s: float | None = None, max_pending: int = DEFAULT_PENDING_CHANGES) -> Changes:
        """The same as an iterator: the present state, then each version; ends when the replica is closed.

        Args:
            timeout_s: how long to wait for the next version; None waits for ever.
            max_pending: how many changes may wait here before they are merged.

        Raises:
            WaitTimeoutError: there was no next version in time.
            KafkaReplicaError: the replica failed, with this error.
        """
        self._check_process()
        self._check_open()
        return Changes(self._board.mailbox(max_pending), timeout_s)

    # --- looking at it ---

    @property
    def state(self) -> State:
        """What is known of it now."""
        self._check_process()
        return self._board.state

    @property
    def bad_records(self) -> list[BadRecordError]:
        """Records set aside (``on_bad_record="skip"``), the newest 1,000; ``status().counts`` has the number."""
        return self._board.bad_records

    def status(self) -> Status:
        """Everything that can be said of it at this moment."""
        self._check_process()
        return self._board.status()

    def _check_open(self) -> None:
        if self._follower.closing.is_set():
            raise ReplicaClosedError(f"the replica of {self.topic} is closed; make a new one")

    def _check_process(self) -> None:
        if self._pid is not None and self._pid != os.getpid():
            raise UsageError(
                "this process is a fork of the one in which the replica was started, and has none of its threads; "
                "start a replica after the fork"
            )

    def _check_started(self) -> None:
        self._check_process()
        if self._thread is None and not self._follower.closing.is_set():
            raise NotReadyError("the replica was not started; call start(), or use it in a with statement")

    def _raise_too_slow(self, what: str) -> NoReturn:
        status = self.status()
        text = f"the replica of {self.topic} {what} in the time given: {status.state}"
        if status.held_at is not None:
            text += (
                f"; a transaction is open at {status.held_at} and holds back what is behind it: find its producer "
                "(kafka-transactions.sh describe-producers), or wait for its transaction.timeout.ms"
            )
        elif not status.barrier:
            text += "; nothing was heard from the broker: check bootstrap.servers, and that it can be reached"
        else:
            text += f"; read up to {status.positions}, shown {status.cut}, the barrier is at {status.barrier}"
        if status.last_error is not None:
            text += f"; last trouble: {status.last_error}"
        raise WaitTimeoutError(text)
