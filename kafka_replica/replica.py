"""The class that users work with, ``Replica``; ``follower`` reads the log, and ``publisher`` holds the state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from threading import RLock, Thread, current_thread
from types import TracebackType
from typing import Any, Literal, NoReturn, Self

from kafka_replica.broker.reading.readers import make_reader
from kafka_replica.common.error_causes import copy_of
from kafka_replica.common.process import OwnerProcess
from kafka_replica.common.secret_values import hide_secrets
from kafka_replica.common.wording import shortened
from kafka_replica.errors import (
    BadRecordError,
    NotReadyError,
    ReplicaClosedError,
    UsageError,
    WaitTimeoutError,
)
from kafka_replica.filters import KeyFilter
from kafka_replica.headers import Stack
from kafka_replica.large_values.changes import WholeChanges, listener_of_whole
from kafka_replica.large_values.snapshot import LargeValueSnapshot
from kafka_replica.listeners import (
    DEFAULT_PENDING_CHANGES,
    DEFAULT_RECENT_CHANGES,
    Changes,
    Listener,
    Subscription,
)
from kafka_replica.listeners.subscription import join_all
from kafka_replica.publication.difference import Difference, difference
from kafka_replica.publication.health import Health
from kafka_replica.publication.publisher import Publisher
from kafka_replica.publication.recorders import VersionRecorder
from kafka_replica.publication.status import State, Status
from kafka_replica.records import Partition, Position
from kafka_replica.replication.dead_letters import DeadLetters
from kafka_replica.replication.initial_records import InitialRecords
from kafka_replica.replication.opening import MakeReader
from kafka_replica.replication.options import ReplicaOptions, as_boundaries, as_topics
from kafka_replica.replication.record_filter import Validator
from kafka_replica.replication.store_ownership import StoreOwnership
from kafka_replica.replication.supervisor import Supervision, Supervisor
from kafka_replica.stores import MemoryStore, Snapshot, Store

_CLOSE_S = 10.0
_NOTHING_MORE: Mapping[Partition, int] = {}


class Replica:
    """A live, exact copy of one or several compacted topics.

    A replica guarantees the following:

    * Every version consists of complete, committed transactions and nothing else.
    * Versions only go forward, and a snapshot never changes.
    * Once the replica is ready, the version includes everything that was in the topic when the replica started.
    * A record that cannot be replicated stops the replica, or is set aside, counted and listed.
    * ``state`` is computed when it is read, and is therefore never outdated.

    All methods may be called from any thread. Reading starts with ``start()`` or on entering a ``with`` statement.

    Args:
        config: librdkafka's properties; ``bootstrap.servers`` is required.
        topic: the topic to follow; it may have any number of partitions.
        store: where versions are kept; in memory by default.
        topics: several topics to follow, in place of ``topic``.
        boundaries: how the ends of transactions are detected: ``"markers"`` (by the batches of the log: exact, and with
            one partition each transaction becomes a version), ``"quiescence"`` (with the confluent-kafka consumer), or
            ``"auto"``: markers if the broker and the properties allow them.
        one_key_space: read several topics as one: if several topics have a key, its record is that of the topic named
            last. Otherwise each topic has its own key space; see ``Snapshot.of``.
        wait_for_topic: wait for a topic that does not exist, at the start or later. Otherwise the replica fails when
            the topic has been missing for 3 s.
        on_bad_record: ``"stop"`` fails the replica at a record that cannot be replicated (a record without
            a key, or one that ``validator`` refuses); ``"skip"`` adds the record to ``bad_records``, and its
            key is absent until a good record arrives; ``"dead-letter"`` also puts the record into ``dead_letters``.
        dead_letters: receives the records of ``"dead-letter"``, such as ``DeadLetterFile(path)``.
        validator: called by the reading thread with each record that is not a tombstone; raises an exception
            if the record is invalid.
        stalled_after_s: the time without an answer from the broker after which the state is ``stalled``.
        barrier_timeout_s: the time after which a replica that is not ready fails if it has read nothing although the
            broker answers; None waits without limit. Kafka's brokers allow transactions to be open for 900 s.
        blocked_after_s: the time for which an open transaction may hold back records before the state is
            ``blocked``.
        recent_changes: the number of changes kept for ``changes(since=...)``; 0 keeps none.
        kept_versions: the number of versions kept for ``at(version)`` in addition to the current version. Each takes
            the memory (on disk, the space) of the records that newer versions replaced.
        key_filter: selects the keys that are kept; all keys by default. See ``KeyFilter``.
        large_values: show values that were split into chunks as whole values; see ``LargeValueProducer``.
        tombstones_kept_s: how long Kafka keeps tombstones, in seconds; by default the topics are queried
            (``delete.retention.ms``). A replica that took longer to read, or had no contact for longer, rebuilds its
            state if it finds offsets missing, because a missing record may have been a tombstone.
        header_stack: reverses the transformations of the producers' header stack, before ``validator`` and readers see
            a record: verifies signatures, decrypts, decompresses. A record that a piece refuses cannot be replicated.
        initial_records: for a topic that is not compacted: a function that returns the current state of the objects
            whose changes the topic contains, as keys and values in the format of the topic's records, for example from
            a database or a file. The replica calls it whenever it starts without a saved version, and applies the log
            to the result. An exception that it raises ends the replica.

    Raises:
        ConfigurationError: a property is impossible, or would break one of the guarantees.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        topic: str | None = None,
        store: Store | None = None,
        *,
        topics: Sequence[str] | None = None,
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
        kept_versions: int = 0,
        key_filter: KeyFilter | None = None,
        tombstones_kept_s: float | None = None,
        header_stack: Stack | None = None,
        large_values: bool = False,
        initial_records: InitialRecords | None = None,
    ) -> None:
        config = hide_secrets(config)  # also in this frame, which a traceback with local variables shows
        options = ReplicaOptions(
            config=config,
            topics=as_topics(topic, topics),
            boundaries=as_boundaries(boundaries),
            one_key_space=one_key_space,
            wait_for_topic=wait_for_topic,
            on_bad_record=on_bad_record,
            dead_letters=dead_letters,
            validator=validator,
            stalled_after_s=stalled_after_s,
            blocked_after_s=blocked_after_s,
            barrier_timeout_s=barrier_timeout_s,
            recent_changes=recent_changes,
            kept_versions=kept_versions,
            key_filter=key_filter,
            tombstones_kept_s=tombstones_kept_s,
            header_stack=header_stack,
            initial_records=initial_records,
        )
        if large_values:
            options = options.with_large_values()
        self.config = options.config
        """The properties as given; the ``repr`` of a secret is ``***``, and ``str()`` returns its value."""
        self._options = options
        self._has_large_values = large_values
        self.topics = options.topics
        self.topic = options.name
        self.has_key_spaces = options.has_key_spaces
        """True if each topic has its own key space; ``topic_key`` then returns the keys of versions."""
        self._store: Store = MemoryStore() if store is None else store
        self._ownership = StoreOwnership(self._store)
        health = Health(stalled_after_s=options.stalled_after_s, blocked_after_s=options.blocked_after_s)
        self._publisher = Publisher(health, options.recent_changes, options.kept_versions)
        self._supervisor = self._make_supervisor(options)
        self._subscriptions: list[Subscription] = []
        self._lifecycle = RLock()  # reentrant: a signal handler may close it while the same thread starts it
        self._thread: Thread | None = None
        self._owner: OwnerProcess | None = None  # once started

    def _make_supervisor(self, options: ReplicaOptions) -> Supervision:
        """Return an object that fills the store and reports to the publisher; other kinds of replica override it."""
        return Supervisor(options, self._store, self._publisher, self._reader_factory())

    def _reader_factory(self) -> MakeReader:
        """Return the function that makes the log reader; replicas of fake topics override it."""
        return make_reader

    # --- lifecycle ---

    def start(self) -> Self:
        """Start reading in a separate thread, and return immediately. Calling the method again has no effect.

        Raises:
            ReplicaClosedError: the replica is closed; create a new one.
        """
        with self._lifecycle:
            self._check_open()
            if self._thread is None:
                self._owner = OwnerProcess()
                run = partial(self._ownership.run, self._ownership.permit(), self._store, self._supervisor.run)
                thread = Thread(target=run, name=f"kafka_replica {self.topic}", daemon=True)
                try:
                    self._publisher.health.started()
                    self._thread = thread  # before it runs: a signal handler may close the replica meanwhile
                    thread.start()
                except BaseException:  # the system allows no more threads, or a signal handler has raised an exception
                    if self._ownership.revoke():  # otherwise the thread exists, and reads
                        self._thread = None
                        self._publisher.health.not_started()
                    raise
        return self

    def close(self) -> None:
        """Stop reading and calling listeners. The method is idempotent. Snapshots stay readable.

        The method waits a few seconds at most for running calls of listeners and for reading to end. If reading ends
        later, because a validator takes long, for example, nothing more is written to the store; another replica can
        use the store object only then.
        """
        if self._is_fork:
            return  # a forked process has none of the threads, and its locks may never be released
        self._supervisor.closing.set()
        self._ownership.revoke()  # no thread starts to read, although one may be starting
        # A signal handler may have interrupted the holder of a lock that other threads need: it must not wait for them.
        busy = self._publisher.is_busy_here
        with nullcontext() if busy else self._lifecycle:
            thread, subscriptions = self._thread, list(self._subscriptions)
        # The thread is not alive either if a signal handler closes the replica while the thread is being started.
        if thread is not None and thread.is_alive() and thread is not current_thread() and not busy:
            thread.join(_CLOSE_S)
        self._publisher.stopped()
        for subscription in subscriptions:
            subscription.close(wait=False)
        if not busy:
            join_all(subscriptions, _CLOSE_S)
        self._store.close()
        self._ownership.close(self._store)

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:  # a signal handler may have raised it while the thread already reads
            self.close()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise UsageError(
            "a replica cannot be pickled, because it holds a connection and threads; "
            "copy what you need from a snapshot, or create a replica in the other process"
        )

    def __repr__(self) -> str:
        if not hasattr(
            self, "_lifecycle"
        ):  # tracebacks with local variables show replicas whose arguments were refused
            return f"<{type(self).__name__} that could not be created>"
        return f"<{type(self).__name__} {shortened(self.topic)}: {self._summary()}>"

    def _summary(self) -> str:
        if self._is_fork:
            return "of another process"  # its locks may never be released
        snapshot = self._publisher.snapshot
        return f"{self._publisher.state}, {'no version yet' if snapshot is None else snapshot.summary()}"

    # --- reading ---

    def wait_ready(self, timeout_s: float | None = None) -> Snapshot:
        """Wait until the replica is ready, and return the current version.

        Raises:
            WaitTimeoutError: the replica was not ready in time; the message names what it waits for.
            KafkaReplicaError: the replica failed before it was ready; the last version is served after a failure.
            ReplicaClosedError: the replica was closed before it was ready.
        """
        self._check_started()
        if not self._publisher.wait_for(_NOTHING_MORE, timeout_s):
            self._check_not_over()
            self._raise_too_slow("is not ready")
        return self.snapshot()

    def snapshot(self) -> Snapshot:
        """Return the current version, in O(1). A snapshot never changes, and lives as long as you hold it.

        Raises:
            NotReadyError: no version exists yet; ``wait_ready`` waits for the first one, ``wait_for`` for a later one.
            KafkaReplicaError: the replica failed before its first version.
            ReplicaClosedError: the replica was closed before its first version.
        """
        self._check_process()
        snapshot = self._publisher.snapshot
        if snapshot is None:
            self._check_not_over()
            raise NotReadyError(
                f"the replica of {self.topic} has no version yet ({self.state}); call wait_ready(timeout_s=...) first"
            )
        return self._shown(snapshot)

    def _shown(self, snapshot: Snapshot) -> Snapshot:
        return LargeValueSnapshot(snapshot) if self._has_large_values else snapshot

    def wait_for(self, positions: Mapping[Partition, int], timeout_s: float | None = None) -> Snapshot:
        """Wait for a version that includes the records below these offsets; return it, or a newer one.

        This lets a service read its own writes: ``replica.wait_for(transaction.committed.position)``. Readers do not
        see a transaction at the moment when its commit returns, so a snapshot taken right then may lack it.

        Args:
            positions: for each partition of interest, the offset after the last record to wait for.
            timeout_s: how long to wait; None waits without limit.

        Raises:
            WaitTimeoutError: the version was not available in time; the message names the positions reached.
            KafkaReplicaError: the replica failed before it had such a version.
            ReplicaClosedError: the replica was closed before it had such a version.
        """
        self._check_started()
        if not self._publisher.wait_for(positions, timeout_s):
            self._check_not_over()
            self._raise_too_slow(f"did not reach {Position(positions)}")
        return self.snapshot()

    def _call_when(self, positions: Mapping[Partition, int], call: Callable[[], object]) -> Callable[[], None]:
        """Call a function once, as soon as ``wait_for(positions)`` would return, without blocking an event loop.

        Args:
            positions: as for ``wait_for``; an empty mapping means the first version, as in ``wait_ready``.
            call: called from the thread that makes versions, or immediately from this one; also when the replica
                fails or is closed. It must return immediately, for example by calling the loop's function for waking it
                from another thread.

        Returns:
            A function that cancels the call, from any thread.
        """
        self._check_started()
        return self._publisher.call_when(positions, call)

    def subscribe(self, listener: Listener, *, max_pending: int = DEFAULT_PENDING_CHANGES) -> Subscription:
        """Call a listener with the complete current state first, then with each version; see ``listeners``.

        Args:
            listener: called with a ``Change``, from its own thread, never twice at the same time.
            max_pending: the number of changes that may wait for the listener before they are merged.

        Raises:
            ReplicaClosedError: the replica was closed.
        """
        if not callable(listener):
            raise UsageError(f"a listener must be a function of a Change, not {listener!r}")
        self._check_process()
        if self._has_large_values:
            listener = listener_of_whole(listener)
        with self._lifecycle:
            self._check_open()
            mailbox = self._publisher.mailbox(max_pending)
            subscription = Subscription(listener, mailbox, self._publisher.health.listener_failed)
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
        """Return an iterator of changes: the current state, then each version, until the replica is closed.

        With ``since`` the iterator continues after that version: first with the versions made since, each as its own
        change, then with new ones. If the recent changes (``recent_changes``) no longer include all of them, or the
        version is not one of this replica, it begins with the complete state (``Change.initial``), so that there is
        never a gap.

        Args:
            since: the number of a version of this replica, such as ``change.version`` of the last change received.
            incarnation: the ``incarnation`` of the replica that the number comes from. Pass it if the number comes
                from outside the process, because a replica that is created later counts from the beginning.
            timeout_s: how long to wait for the next version; None waits without limit.
            max_pending: the number of changes that may wait before they are merged, not counting those of ``since``.

        Raises:
            WaitTimeoutError: no version followed within the timeout.
            KafkaReplicaError: the error with which the replica failed.
        """
        if since is not None and type(since) is not int:
            raise UsageError(f"since={since!r} is not the number of a version; give change.version or snapshot.version")
        self._check_process()
        self._check_open()
        if incarnation not in {None, self.incarnation}:
            since = None
        kind = WholeChanges if self._has_large_values else Changes
        return kind(self._publisher.mailbox(max_pending, since), timeout_s)

    def record_versions(self, recorder: VersionRecorder) -> Callable[[], None]:
        """Call a recorder with the current version, if there is one, then with each version, before readers see it.

        Versions wait for the recorder: it receives every version exactly once and separately, but delays versions by
        the time that it takes. ``kafka_replica.history.VersionHistory`` is such a recorder; a listener is the better
        choice for most other purposes.

        Args:
            recorder: called with a ``Change`` and the incarnation of its version, in the thread that makes versions
                (for the current version, in the calling thread). The change is the complete state if the difference to
                the previous version is not known. The recorder must not raise, and must not wait for the replica.

        Returns:
            A function that ends the recording once a running call has returned.

        Raises:
            UsageError: the replica has large values; it does not show the records that contain their chunks.
            ReplicaClosedError: the replica was closed.
        """
        self._check_process()
        self._check_open()
        if self._has_large_values:
            raise UsageError("versions of a replica with large_values=True cannot be recorded; use another replica")
        return self._publisher.record(recorder)

    def at(self, version: int) -> Snapshot:
        """Return the version with a number: the current version, or one of the last ``kept_versions`` versions.

        Raises:
            VersionGoneError: the version is no longer kept, or never existed.
        """
        self._check_process()
        return self._shown(self._publisher.at(version))

    def diff(self, before: int | Snapshot, after: int | Snapshot | None = None) -> Difference:
        """Return the differences between two versions, given by number or snapshot; ``after`` defaults to the current.

        With numbers the cost is proportional to the keys changed in between if these are known (``recent_changes``),
        otherwise to all keys.

        Raises:
            VersionGoneError: one of the versions is not kept.
        """
        was = self.at(before) if isinstance(before, int) else before
        now = self.snapshot() if after is None else self.at(after) if isinstance(after, int) else after
        # A snapshot passed by the caller may belong to another replica.
        by_number = isinstance(before, int) and not isinstance(after, Snapshot)
        first, last = sorted((was.version, now.version))
        return difference(was, now, self._publisher.touched(first, last) if by_number else None)

    # --- inspection ---

    @property
    def incarnation(self) -> str:
        """The identifier that distinguishes the replica from all others; version numbers are valid only within it."""
        return self._publisher.incarnation

    @property
    def state(self) -> State:
        """The current state."""
        self._check_process()
        return self._publisher.state

    @property
    def ready(self) -> bool:
        """True if the version shown includes everything that was in the topics at the start; false during a rebuild.

        It stays true after a failure; ``state`` shows whether the replica still follows the topics.
        """
        self._check_process()
        return self._publisher.health.is_ready

    @property
    def bad_records(self) -> list[BadRecordError]:
        """The newest 1,000 records set aside (``on_bad_record="skip"``); ``status().counts`` has their number."""
        return self._publisher.bad_records.newest()

    def status(self) -> Status:
        """Return the complete status at this moment."""
        self._check_process()
        return self._publisher.status()

    @property
    def _is_fork(self) -> bool:
        return self._owner is not None and not self._owner.is_current

    def _check_open(self) -> None:
        if self._supervisor.closing.is_set():
            raise ReplicaClosedError(f"the replica of {self.topic} is closed; create a new one")

    def _check_not_over(self) -> None:
        error = self._publisher.health.error
        if error is not None:
            raise copy_of(error)
        self._check_open()

    def _check_process(self) -> None:
        if self._is_fork:
            raise UsageError(
                "this process is a fork of the one in which the replica was started, and does not have its threads; "
                "start a replica after the fork"
            )

    def _check_started(self) -> None:
        self._check_process()
        if self._thread is None and not self._supervisor.closing.is_set():
            raise NotReadyError("the replica was not started; call start(), or use it in a with statement")

    def _raise_too_slow(self, what: str) -> NoReturn:
        status = self.status()
        text = f"the replica of {self.topic} {what} within the timeout: {status.state}"
        if status.blocking_transaction is not None:
            text += (
                f"; a transaction is open at {status.blocking_transaction} and delays the records behind it: find its "
                "producer (kafka-transactions.sh describe-producers), or wait for its transaction.timeout.ms"
            )
        elif not status.barrier:
            text += "; the broker has not answered"
            text += ": check bootstrap.servers, and that it can be reached" if status.last_error is None else ""
        else:
            text += f"; read up to {status.read_position}, shown {status.position}, the barrier is at {status.barrier}"
        if status.last_error is not None:
            text += f"; last error: {status.last_error}"
        raise WaitTimeoutError(text)
