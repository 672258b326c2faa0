"""The replica: what users hold. What it does is in ``follower``, what it knows on its ``publisher``."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from threading import RLock, Thread, current_thread
from types import TracebackType
from typing import Any, Literal, NoReturn, Self
from weakref import WeakSet

from kafka_replica.broker.reading.readers import Boundaries, check_settings, make_reader
from kafka_replica.common.secret_values import hide_secrets
from kafka_replica.common.wording import shortened
from kafka_replica.errors import (
    BadRecordError,
    ConfigurationError,
    NotReadyError,
    ReplicaClosedError,
    UsageError,
    WaitTimeoutError,
)
from kafka_replica.filters import KeyFilter
from kafka_replica.listeners import (
    DEFAULT_PENDING_CHANGES,
    DEFAULT_RECENT_CHANGES,
    Changes,
    Listener,
    Subscription,
)
from kafka_replica.publication.history import Difference, difference
from kafka_replica.publication.publisher import Publisher
from kafka_replica.publication.status import Health, State, Status
from kafka_replica.records import Partition, Position
from kafka_replica.replication.dead_letters import DeadLetters
from kafka_replica.replication.opening import MakeReader
from kafka_replica.replication.options import ReplicaOptions
from kafka_replica.replication.record_filter import Validator
from kafka_replica.replication.supervisor import Supervisor
from kafka_replica.stores import MemoryStore, Snapshot, Store

_CLOSE_S = 10.0
_in_use: WeakSet[Store] = WeakSet()
_NOTHING_MORE: Mapping[Partition, int] = {}


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
        topic: the topic to follow, or several of them; each with any number of partitions.
        store: where versions are kept; in memory by default.
        boundaries: what tells where transactions end: ``"markers"`` (the log's own batches: exact, and a version
            a transaction), ``"quiescence"`` (the confluent-kafka consumer), or ``"auto"``: markers
            where the broker and the properties allow it.
        one_key_space: read several topics as one: a key that more than one has shows the record of the
            topic named last. Otherwise each topic has keys of its own; see ``Snapshot.of``.
        wait_for_topic: wait for a topic that does not exist, at the start or later; else the replica fails when it
            has not been there for 3 s.
        on_bad_record: ``"stop"`` fails the replica at a record that cannot be replicated (one without
            a key, or one that ``validator`` refuses); ``"skip"`` sets it aside into ``bad_records``, and its key is not
            there until a good record comes; ``"dead-letter"`` also puts it into ``dead_letters``.
        dead_letters: where to, such as ``DeadLetterFile(path)``.
        validator: called with each record that is not a tombstone, by the thread that reads; raises what is wrong
            with it.
        stalled_after_s: how long the broker may be silent before the state is ``stalled``.
        barrier_timeout_s: fails the replica when it is not ready, the broker answers and nothing has been read
            for that long; None waits for ever. Kafka's brokers allow transactions to be open for 900 s.
        blocked_after_s: how long one open transaction may be in the way before it is ``blocked``.
        recent_changes: how many changes are kept for ``changes(since=...)``; 0 keeps none.
        history: how many versions are kept for ``at(version)`` beside the present one. In memory each costs the
            records that newer ones replaced; on disk, the room of these.
        key_filter: which keys are kept at all; all of them by default. See ``KeyFilter``.
        tombstones_kept_s: for how long Kafka keeps deletions, in seconds; by default the topics are asked
            (``delete.retention.ms``). A replica that took longer to read, or heard nothing for longer, builds its
            state anew if offsets are missing in what it reads: a deletion may have been there.

    Raises:
        ConfigurationError: a property is impossible, or would break one of the promises.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        topic: str | Sequence[str],
        store: Store | None = None,
        *,
        boundaries: Literal["auto", "markers", "quiescence"] = "auto",
        one_key_space: bool = False,
        wait_for_topic: bool = True,
        on_bad_record: Literal["stop", "skip", "dead-letter"] = "stop",
        dead_letters: DeadLetters | None = None,
        validator: Validator | None = None,
        stalled_after_s: float = 10.0,
        blocked_after_s: float = 1.0,
        barrier_timeout_s: float | None = 1000.0,
        recent_changes: int = DEFAULT_RECENT_CHANGES,
        history: int = 0,
        key_filter: KeyFilter | None = None,
        tombstones_kept_s: float | None = None,
    ) -> None:
        config = hide_secrets(config)
        kind = _boundaries(boundaries)
        check_settings(config, kind)
        if on_bad_record not in {"stop", "skip", "dead-letter"}:
            raise ConfigurationError(
                f"on_bad_record={on_bad_record!r} is not possible; it is 'stop', 'skip' or 'dead-letter'"
            )
        if (dead_letters is not None) != (on_bad_record == "dead-letter"):
            raise ConfigurationError("on_bad_record='dead-letter' and dead_letters= go together")
        self.config = config
        """The properties as given; secrets among them show ``***`` by ``repr``, and ``str()`` gives their values."""
        self.topics = _topics(topic)
        self.topic = ", ".join(self.topics)
        self._store: Store = MemoryStore() if store is None else store
        _claim(self._store)
        health = Health(stalled_after_s=stalled_after_s, blocked_after_s=blocked_after_s)
        self._publisher = Publisher(health, recent_changes, history)
        options = ReplicaOptions(
            self.config,
            self.topics,
            kind,
            one_key_space,
            on_bad_record,
            wait_for_topic,
            barrier_timeout_s,
            tombstones_kept_s,
            key_filter,
            validator,
            dead_letters,
        )
        self._supervisor = Supervisor(options, self._store, self._publisher, self._source_factory())
        self._subscriptions: list[Subscription] = []
        self._lifecycle = RLock()  # a signal handler may close what the same thread is starting
        self._thread: Thread | None = None
        self._pid: int | None = None

    def _source_factory(self) -> MakeReader:
        """Return what makes the reader of the log; replicas of fake topics have another one."""
        return make_reader

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
                self._publisher.started()
                self._thread = Thread(target=self._supervisor.run, name=f"kafka_replica {self.topic}", daemon=True)
                self._thread.start()
        return self

    def close(self) -> None:
        """Ends reading and tells listeners no more. Idempotent. Snapshots stay readable.

        Waits for the calls of listeners that are under way, and for reading to end, some seconds at most.
        """
        if self._pid is not None and self._pid != os.getpid():
            return  # a fork has none of the threads, and locks may be held for ever
        self._supervisor.closing.set()
        # A signal handler may have interrupted who holds what the others wait for: then it waits for nobody.
        busy = self._publisher.is_busy_here
        with nullcontext() if busy else self._lifecycle:
            thread, subscriptions = self._thread, list(self._subscriptions)
        if thread is not None and thread is not current_thread() and not busy:
            thread.join(_CLOSE_S)
        self._publisher.stopped()
        for subscription in subscriptions:
            subscription.close(wait=False)
        # Two listeners that close would wait for each other.
        if not busy and not any(subscription.is_current_thread for subscription in subscriptions):
            give_up_s = time.monotonic() + _CLOSE_S
            for subscription in subscriptions:
                subscription.join(max(0.0, give_up_s - time.monotonic()))
        self._store.close()
        _in_use.discard(self._store)

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

    def __repr__(self) -> str:
        if not hasattr(self, "_lifecycle"):  # a traceback with locals shows a replica whose arguments were refused
            return f"<{type(self).__name__} that was not made>"
        return f"<{type(self).__name__} {shortened(self.topic)}: {self._summary()}>"

    def _summary(self) -> str:
        if self._pid is not None and self._pid != os.getpid():
            return "of another process"  # locks may be held for ever there
        snapshot = self._publisher.snapshot
        return f"{self._publisher.state}, {'no version yet' if snapshot is None else snapshot.summary()}"

    # --- reading ---

    def wait_ready(self, timeout_s: float | None = None) -> Snapshot:
        """Waits for the barrier; returns the version at it, or a newer one.

        Raises:
            WaitTimeoutError: not ready in time; the message says what it waits for.
            KafkaReplicaError: the replica failed, with this error.
            ReplicaClosedError: it was closed.
        """
        self._check_started()
        if not self._publisher.wait_for(_NOTHING_MORE, timeout_s):
            self._check_not_over()
            self._raise_too_slow("is not ready")
        return self.snapshot()

    def snapshot(self) -> Snapshot:
        """Return the present version, in O(1). It never changes, and lives as long as you hold it.

        Raises:
            NotReadyError: there is none yet; ``wait_ready`` waits for it, and ``wait_for`` for a later one.
            KafkaReplicaError: the replica failed before there was one.
        """
        self._check_process()
        snapshot = self._publisher.snapshot
        if snapshot is None:
            self._check_not_over()
            raise NotReadyError(
                f"the replica of {self.topic} has no version yet ({self.state}); call wait_ready(timeout_s=...) first"
            )
        return snapshot

    def wait_for(self, positions: Mapping[Partition, int], timeout_s: float | None = None) -> Snapshot:
        """Waits for a version that includes what lies below these offsets; returns it, or a newer one.

        So a service reads what it has written: ``replica.wait_for(transaction.committed.position)``. A commit that
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
        if not self._publisher.wait_for(positions, timeout_s):
            self._check_not_over()
            self._raise_too_slow(f"has not come to {Position(positions)}")
        return self.snapshot()

    def call_when(self, positions: Mapping[Partition, int], call: Callable[[], object]) -> Callable[[], None]:
        """Calls once, as soon as ``wait_for(positions)`` would not wait: for event loops, which must not wait in it.

        Args:
            positions: as for ``wait_for``; an empty mapping stands for the first version, as in ``wait_ready``.
            call: called from the thread that makes versions, or at once; also when the replica fails or is
                closed. It has to return at once, and is best the loop's own way of being woken from another thread.

        Returns:
            What takes it back, from any thread.
        """
        self._check_started()
        return self._publisher.call_when(positions, call)

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
            mailbox = self._publisher.mailbox(max_pending)
            subscription = Subscription(listener, mailbox, self._publisher.listener_failed)
            self._subscriptions = [known for known in self._subscriptions if not known.closed]
            self._subscriptions.append(subscription)
        return subscription

    def changes(
        self,
        *,
        since: int | None = None,
        incarnation: str | None = None,
        timeout_s: float | None = None,
        max_pending: int = DEFAULT_PENDING_CHANGES,
    ) -> Changes:
        """The same as an iterator: the present state, then each version; ends when the replica is closed.

        With ``since`` it goes on after that version: first the versions made since, each as a change of its own,
        then those to come. Where they are not all among the recent changes any more (``recent_changes``), or the
        version is none of this replica's, it begins with the whole state (``Change.initial``), never with a gap.

        Args:
            since: the number of a version of this replica, such as ``change.version`` of the last change heard.
            incarnation: the ``incarnation`` of the replica that the number is of. Where the number comes from outside
                the process, give it: a replica made later counts anew.
            timeout_s: how long to wait for the next version; None waits for ever.
            max_pending: how many changes may wait here before they are merged; those since are not counted.

        Raises:
            WaitTimeoutError: there was no next version in time.
            KafkaReplicaError: the replica failed, with this error.
        """
        if since is not None and type(since) is not int:
            raise UsageError(f"since={since!r} is no number of a version; give change.version or snapshot.version")
        self._check_process()
        self._check_open()
        if incarnation not in {None, self.incarnation}:
            since = None
        return Changes(self._publisher.mailbox(max_pending, since), timeout_s)

    def at(self, version: int) -> Snapshot:
        """The version of that number: the present one, or one of the last ``history``.

        Raises:
            VersionGoneError: it is not kept any more, or was never there.
        """
        self._check_process()
        return self._publisher.at(version)

    def diff(self, before: int | Snapshot, after: int | Snapshot | None = None) -> Difference:
        """What has changed from one version to another, by number or as held; the present one by default.

        By number it costs the keys touched in between where these are known (``recent_changes``), else all keys.

        Raises:
            VersionGoneError: one of them is not kept.
        """
        was = self.at(before) if isinstance(before, int) else before
        now = self.snapshot() if after is None else self.at(after) if isinstance(after, int) else after
        # Of versions that were held nobody knows whether they are of this replica.
        by_number = isinstance(before, int) and not isinstance(after, Snapshot) and was.version <= now.version
        return difference(was, now, self._publisher.touched(was.version, now.version) if by_number else None)

    # --- looking at it ---

    @property
    def incarnation(self) -> str:
        """Tells this replica from any other, also of the same topic: numbers of versions count within one life."""
        return self._publisher.incarnation

    @property
    def state(self) -> State:
        """What is known of it now."""
        self._check_process()
        return self._publisher.state

    @property
    def bad_records(self) -> list[BadRecordError]:
        """Records set aside (``on_bad_record="skip"``), the newest 1,000; ``status().counts`` has the number."""
        return self._publisher.bad_records

    def status(self) -> Status:
        """Everything that can be said of it at this moment."""
        self._check_process()
        return self._publisher.status()

    def _check_open(self) -> None:
        if self._supervisor.closing.is_set():
            raise ReplicaClosedError(f"the replica of {self.topic} is closed; make a new one")

    def _check_not_over(self) -> None:
        if self._publisher.error is not None:
            raise copy(self._publisher.error)
        self._check_open()

    def _check_process(self) -> None:
        if self._pid is not None and self._pid != os.getpid():
            raise UsageError(
                "this process is a fork of the one in which the replica was started, and has none of its threads; "
                "start a replica after the fork"
            )

    def _check_started(self) -> None:
        self._check_process()
        if self._thread is None and not self._supervisor.closing.is_set():
            raise NotReadyError("the replica was not started; call start(), or use it in a with statement")

    def _raise_too_slow(self, what: str) -> NoReturn:
        status = self.status()
        text = f"the replica of {self.topic} {what} in the time given: {status.state}"
        if status.blocking_transaction is not None:
            text += (
                f"; a transaction is open at {status.blocking_transaction} and holds back what is behind it: find its "
                "producer (kafka-transactions.sh describe-producers), or wait for its transaction.timeout.ms"
            )
        elif not status.barrier:
            text += "; nothing was heard from the broker"
            text += ": check bootstrap.servers, and that it can be reached" if status.last_error is None else ""
        else:
            text += f"; read up to {status.read_position}, shown {status.position}, the barrier is at {status.barrier}"
        if status.last_error is not None:
            text += f"; last trouble: {status.last_error}"
        raise WaitTimeoutError(text)


def _claim(store: Store) -> None:
    if store in _in_use:
        raise ConfigurationError(
            f"another replica has {store!r}; give each replica a store of its own, or close that one"
        )
    _in_use.add(store)


def _boundaries(name: str) -> Boundaries:
    try:
        return Boundaries(name)
    except ValueError as error:
        possible = ", ".join(repr(str(kind)) for kind in Boundaries)
        raise ConfigurationError(f"boundaries={name!r} is not possible; it is one of {possible}") from error


def _topics(topic: str | Sequence[str]) -> tuple[str, ...]:
    topics = tuple(topic) if isinstance(topic, list | tuple) else (topic,)
    if not topics or len(set(topics)) != len(topics) or not all(name and type(name) is str for name in topics):
        raise ConfigurationError(f"topic={topic!r} is no name of a topic, or list of different names; give it as text")
    return topics
