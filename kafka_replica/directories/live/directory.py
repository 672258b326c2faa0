"""The directory: a replica's records as typed objects that are kept up to date."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Hashable, ItemsView, Iterator, KeysView, Mapping, ValuesView
from contextlib import contextmanager
from functools import partial
from math import inf
from threading import Condition
from types import TracebackType
from typing import Any, Final, Generic, Literal, Self, TypeVar, overload
from weakref import WeakSet

from kafka_replica.common.error_causes import copy_of
from kafka_replica.common.process import after_fork
from kafka_replica.directories.contents.contents import Contents, UndecodedContents
from kafka_replica.directories.contents.schema import Schema
from kafka_replica.directories.indexes import Index, check_indexes, extractor
from kafka_replica.directories.live.bad_records import BadRecordHandler
from kafka_replica.directories.live.read_only_dict import ReadOnlyDict
from kafka_replica.directories.records.decoding import decoder_for
from kafka_replica.directories.records.interpretation import Interpreter
from kafka_replica.directories.versions.changes import DirectoryListener, typed_listener
from kafka_replica.directories.versions.differences import (
    ContentDifferences,
    Differences,
    RecordDifferences,
)
from kafka_replica.directories.versions.received_contents import NextContents, ReceivedContents
from kafka_replica.directories.versions.recent_versions import ContentVersions
from kafka_replica.directories.versions.topic_selection import TopicSelection
from kafka_replica.directories.versions.view import DirectoryView
from kafka_replica.errors import (
    BadRecordError,
    ConfigurationError,
    KafkaReplicaError,
    NotReadyError,
    UsageError,
    WaitTimeoutError,
)
from kafka_replica.listeners import Change, Subscription
from kafka_replica.listeners.subscription import join_all
from kafka_replica.records import Partition
from kafka_replica.replica import Replica
from kafka_replica.replication.dead_letters import DeadLetters, check_policy
from kafka_replica.stores import Snapshot

__all__ = ["Directory"]

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
D = TypeVar("D")

_LOOK_EVERY_S: Final = 1.0
_CLOSE_S: Final = 10.0  # how long closing waits for running calls of listeners

_log = logging.getLogger("kafka_replica.directories")

_open: WeakSet[Directory[Any, Any]] = WeakSet()


class Directory(ReadOnlyDict[K, T], Generic[K, T]):
    """The typed objects of a replica's newest version by key, with indexes that change together with the version.

    ::

        class Terminal(msgspec.Struct):
            terminal_id: str
            acquirer_id: str

        with Replica(config, "terminals") as replica:
            terminals = Directory(replica, Terminal, indexes={"acquirer": MultiValuedIndex("acquirer_id")})
            terminals.wait_ready(timeout_s=30)
            terminals["T1"].acquirer_id
            terminals.index("acquirer")["A7"]  # a tuple of terminals

    A thread of the directory decodes each record once. Successive look-ups never return to an older version; several
    look-ups in the same version need a ``view``::

        view = terminals.view()  # or terminals.at(snapshot), the same version as another directory of the replica

    A look-up in the directory itself is about as fast as in a dict: the directory is a dict that cannot be changed.
    Like a snapshot, it remains readable after the replica has ended or the directory was closed.

    Args:
        replica: the replica, started or not; with asyncio, ``async_replica.replica``.
        of: the type of the objects: a msgspec struct, dataclass or pydantic model, decoded from JSON.
        key: the directory's key: the name of an attribute, or a function of the object; by default, the key of the
            record as text.
        where: a function that returns True for the objects to keep; by default, all objects are kept.
        indexes: the indexes by name: ``UniqueIndex``, ``MultiValuedIndex``, ``PrefixIndex`` or ``RangeIndex``.
        decode: a function from the value of a record to an object, for values other than JSON.
        interpreter: a function that returns what a record puts, if that is not simply its value under its key; see
            ``kafka_replica.directories.interpreters`` for Kafka Connect, Debezium and others.
        on_demand: whether a record is decoded when it is first looked up, and not when it arrives. This cannot be
            combined with ``key``, ``where``, ``indexes``, ``interpreter`` or ``on_bad_record``; a bad record raises its
            error when it is looked up.
        on_bad_record: the reaction to a record that cannot be decoded, or for which a function fails: ``"stop"`` shows
            no version that has such a record: look-ups raise its error, and listeners are not called, until a version
            has no bad record; ``"skip"`` leaves it out, so that its key is absent, and lists it in ``bad_records``;
            ``"dead-letter"`` also puts it into ``dead_letters``.
        dead_letters: receives the bad records with ``"dead-letter"``.
        topic: the topic of the directory, if the replica has several topics with separate key spaces.

    Raises:
        ConfigurationError: the arguments cannot be combined, or the type cannot be decoded from JSON.
        ReplicaClosedError: the replica was closed.
    """

    @overload
    def __init__(
        self: Directory[str, T],
        replica: Replica,
        of: type[T],
        *,
        key: None = None,
        where: Callable[[T], bool] | None = None,
        indexes: Mapping[str, Index[T]] | None = None,
        decode: Callable[[bytes], T] | None = None,
        interpreter: Interpreter | None = None,
        on_demand: bool = False,
        on_bad_record: Literal["stop", "skip", "dead-letter"] = "stop",
        dead_letters: DeadLetters | None = None,
        topic: str | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: Directory[Any, T],
        replica: Replica,
        of: type[T],
        *,
        key: str,
        where: Callable[[T], bool] | None = None,
        indexes: Mapping[str, Index[T]] | None = None,
        decode: Callable[[bytes], T] | None = None,
        interpreter: Interpreter | None = None,
        on_bad_record: Literal["stop", "skip", "dead-letter"] = "stop",
        dead_letters: DeadLetters | None = None,
        topic: str | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self,
        replica: Replica,
        of: type[T],
        *,
        key: Callable[[T], K],
        where: Callable[[T], bool] | None = None,
        indexes: Mapping[str, Index[T]] | None = None,
        decode: Callable[[bytes], T] | None = None,
        interpreter: Interpreter | None = None,
        on_bad_record: Literal["stop", "skip", "dead-letter"] = "stop",
        dead_letters: DeadLetters | None = None,
        topic: str | None = None,
    ) -> None: ...
    def __init__(
        self,
        replica: Replica,
        of: type[T],
        *,
        key: str | Callable[[T], Any] | None = None,
        where: Callable[[T], bool] | None = None,
        indexes: Mapping[str, Index[T]] | None = None,
        decode: Callable[[bytes], T] | None = None,
        interpreter: Interpreter | None = None,
        on_demand: bool = False,
        on_bad_record: Literal["stop", "skip", "dead-letter"] = "stop",
        dead_letters: DeadLetters | None = None,
        topic: str | None = None,
    ) -> None:
        super().__init__()
        check_policy(on_bad_record, dead_letters)
        functions = (key, where, interpreter)
        if on_demand and (functions != (None, None, None) or indexes or on_bad_record != "stop"):
            raise ConfigurationError(
                "on_demand=True cannot be combined with key, where, indexes, interpreter or on_bad_record, which need "
                "every record"
            )
        if interpreter is not None and not callable(interpreter):
            raise ConfigurationError(f"interpreter={interpreter!r} is not a function of a record")
        self._name = getattr(of, "__name__", repr(of))
        self._replica = replica
        self._topic = TopicSelection(replica.topics, topic, has_key_spaces=replica.has_key_spaces)
        self._schema = Schema(
            decoder_for(of, decode),
            None if key is None else extractor(key, "key="),
            where,
            check_indexes(indexes or {}),
            interpreter,
            "on demand" if on_demand else on_bad_record,
        )
        self._bad_records = BadRecordHandler[T](self._name, self._schema.policy, dead_letters)
        self._versions = ContentVersions[T](self._schema, on_demand=on_demand)
        self._changed = Condition()
        self._failure: KafkaReplicaError | None = None  # which lasts, unlike the error of a bad record
        self._listeners: WeakSet[Subscription] = WeakSet()
        self._is_closed = False
        self._subscription: Subscription = replica.subscribe(self._follow)
        _open.add(self)

    # --- look-ups in the newest version; dict finds existing keys without any of these methods ---

    def __missing__(self, key: K) -> T:
        """Look up a key that the dict lacks, because its record is decoded on demand or several records have it."""
        with self._changed:
            _, contents = self._now()
            found: T = contents.look_up(key)
            if not isinstance(contents, Contents):
                self._replace((), {key: found})
        return found

    @overload  # type: ignore[override]
    def get(self, key: K) -> T | None: ...
    @overload
    def get(self, key: K, default: D) -> T | D: ...
    def get(self, key: K, default: D | None = None) -> T | D | None:
        """Return the object of a key, or a default. Raises the errors of :meth:`view`, and DuplicateValueError."""
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or key in self.view()

    def __len__(self) -> int:
        return len(self.view())

    def __iter__(self) -> Iterator[K]:
        return iter(self.view())

    def keys(self) -> KeysView[K]:  # type: ignore[override]
        """Return the keys of the newest version."""
        return self.view().keys()

    def values(self) -> ValuesView[T]:  # type: ignore[override]
        """Return the objects of the newest version."""
        return self.view().values()

    def items(self) -> ItemsView[K, T]:  # type: ignore[override]
        """Return the keys and objects of the newest version."""
        return self.view().items()

    def index(self, name: str) -> Any:
        """Return an index in the newest version; it is an object of the class with which it was declared.

        Raises:
            UsageError: the directory has no index of this name.
        """
        return self.view().index(name)

    @property
    def error(self) -> KafkaReplicaError | None:
        """The error that look-ups raise at present, such as that of a bad record; None if they find objects.

        A directory that has no version yet has no error.
        """
        error = self._failure or self._bad_records.stopping
        return None if error is None else copy_of(error)

    @property
    def bad_records(self) -> list[BadRecordError]:
        """The records of the newest version that could not be decoded; they are not in the directory, or stop it."""
        with self._changed:
            _, contents = self._newest()
        return list(contents.bad_records.values())

    def retry_bad_records(self) -> list[BadRecordError]:
        """Decode the bad records of the newest version again; return those that are still bad.

        This helps if ``decode``, ``interpreter`` or ``where`` depends on other data, such as a schema that could not be
        fetched; otherwise a bad record remains bad. A directory that was stopped continues if no record is bad any
        more. The replica's version remains the same: earlier views do not change, and listeners receive the objects
        with the next version, together with everything that they have missed.

        Raises:
            NotReadyError: there is no version yet.
        """
        with self._changed:
            snapshot, before = self._newest()
            touched = list(before.bad_records)
            now = self._versions.advance(snapshot, touched) if touched else before
            if now is not before and isinstance(now, Contents):
                was_stopped = self._bad_records.stopping is not None
                self._bad_records.update_stop(now)
                self._show(now, None if was_stopped else before, touched)
        self._bad_records.log(snapshot.version)
        return list(now.bad_records.values())

    # --- versions ---

    def view(self) -> DirectoryView[K, T]:
        """Return the newest version of the directory, in O(1).

        Raises:
            NotReadyError: there is no version yet; see ``wait_ready``.
            BadRecordError: the version has a bad record, with ``on_bad_record="stop"``.
        """
        with self._changed:
            snapshot, contents = self._now()
        return DirectoryView(contents, snapshot)

    def at(self, snapshot: Snapshot, timeout_s: float | None = 60.0) -> DirectoryView[K, T]:
        """Return the directory in a version of its replica, for example the same version of several directories.

        ::

            snapshot = replica.snapshot()
            terminals.at(snapshot)["T1"], acquirers.at(snapshot)["A7"]

        This costs little for the newest versions; for others, all records are decoded.

        Args:
            snapshot: a version of the directory's replica.
            timeout_s: the time to wait until the directory reaches the version, in seconds; None means no limit. The
                directory normally reaches it at once.

        Raises:
            WaitTimeoutError: the directory has not reached the version in time.
            BadRecordError: the version has a bad record, with ``on_bad_record="stop"``.
        """
        with self._changed:
            self._wait_for_version(snapshot.version, None if timeout_s is None else time.monotonic() + timeout_s)
            shown = self._topic.of(snapshot)
            contents = self._versions.at(shown)
        error = self._bad_records.error_of(contents)
        if error is not None:
            raise copy_of(error)
        return DirectoryView(contents, shown)

    def wait_ready(self, timeout_s: float | None = None) -> DirectoryView[K, T]:
        """Wait until the replica is ready and the directory has reached its version; return it, or a newer version.

        Args:
            timeout_s: the time to wait for both, in seconds; None means no limit.

        Raises:
            WaitTimeoutError: the directory has not reached the version in time.
            BadRecordError: the version has a bad record, with ``on_bad_record="stop"``.
            KafkaReplicaError: the error with which the replica failed.
        """
        return self._caught_up(self._replica.wait_ready, timeout_s)

    def wait_for(self, positions: Mapping[Partition, int], timeout_s: float | None = None) -> DirectoryView[K, T]:
        """Wait for a version that includes the records below these offsets; see ``Replica.wait_for``.

        Raises:
            UsageError: ``positions`` is not a mapping from partitions to offsets.
        """
        if not isinstance(positions, Mapping):
            raise UsageError(
                f"wait_for({positions!r}): give offsets by partition, such as transaction.committed.position"
            )
        return self._caught_up(lambda left_s: self._replica.wait_for(positions, left_s), timeout_s)

    def subscribe(self, listener: DirectoryListener[K, T]) -> Subscription:
        """Call a listener with the whole directory, and then with the objects that each version changes.

        As with ``Replica.subscribe``, the listener has its own thread; it receives a ``DirectoryChange``. With
        ``on_bad_record="stop"`` it is not called for a version that has a bad record; the next version without bad
        records brings everything that has changed since. The subscription ends when the directory is closed.

        Raises:
            UsageError: the directory was closed.
            ReplicaClosedError: the replica was closed.
        """
        if self._is_closed:
            raise UsageError(f"the directory of {self._name} was closed; create another one to follow its changes")
        differences: Differences[T]
        if self._schema.policy == "on demand":
            differences = RecordDifferences(self._schema, self._topic)
        else:
            with self._changed:
                differences = ContentDifferences(partial(self._receive, self._versions.received()))
        subscription = self._replica.subscribe(typed_listener(differences, listener))
        with self._changed:
            self._listeners.add(subscription)
        if self.closed:  # meanwhile
            subscription.close(wait=False)
        return subscription

    @property
    def closed(self) -> bool:
        """Return whether the directory or its replica was closed."""
        return self._is_closed or self._subscription.closed

    def close(self) -> None:
        """Stop following the replica and calling listeners; the last version stays readable. Idempotent."""
        self._is_closed = True
        with self._changed:
            listeners = list(self._listeners)
        for listener in listeners:
            listener.close(wait=False)
        self._subscription.close()
        _open.discard(self)
        with self._changed:
            self._changed.notify_all()
        join_all(listeners, _CLOSE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- following the replica; called by the subscription's thread ---

    def _follow(self, change: Change) -> None:
        with self._changed, self._failing():  # the lock is held until the error is set, so that no look-up misses it
            if self._failure is None:
                self._advance(change)
                self._changed.notify_all()
        self._bad_records.log(change.version)
        if self._failure is None:
            with self._failing():
                self._versions.prepare_for_changes()

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Store an error that the block raises, so that all later look-ups raise it."""
        try:
            yield
        except KafkaReplicaError as error:
            _log.error("the directory of %s failed: %s", self._name, error)
            self._fail(error)
        except BaseException as error:  # which the subscription logs
            self._fail(KafkaReplicaError(f"the directory of {self._name} failed: {type(error).__name__}: {error}"))
            raise

    def _advance(self, change: Change) -> None:
        before = self._versions.newest
        snapshot = self._topic.of(change.snapshot)
        touched: Collection[bytes] | None = None
        if change.initial or before is None or (change.rebuilt and self._schema.interpreter is not None):
            now = self._versions.begin(snapshot)  # because a rebuild may have changed the order of records
        else:
            touched = self._topic.keys((*change.changed, *change.deleted))
            now = self._versions.advance(snapshot, touched)
        was = None if before is None else before[1]
        if isinstance(now, Contents) and not isinstance(was, UndecodedContents):
            was_stopped = self._bad_records.stopping is not None
            self._handle_bad_records(now, touched)
            self._show(now, None if was_stopped else was, touched)
        else:  # a reader that misses a dropped key waits for the lock, and then decodes its record in the new version
            self._replace(self._cached_keys(touched), {})

    def _handle_bad_records(self, now: Contents[T], touched: Collection[bytes] | None) -> None:
        self._bad_records.handle(now, touched)

    def _show(self, now: Contents[T], was: Contents[T] | None, touched: Collection[bytes] | None) -> None:
        if self._bad_records.stopping is not None:
            self._forget()  # so that every look-up calls __missing__, which raises the error
        else:
            self._refresh(now, was, touched)

    def _cached_keys(self, touched: Collection[bytes] | None) -> list[Any]:
        if touched is None:
            return list(self._held())
        return [key.decode(errors="replace") for key in touched]

    def _refresh(self, now: Contents[T], was: Contents[T] | None, touched: Collection[bytes] | None) -> None:
        """Update the dict itself to the new version, so that no reader sees an older version after a newer one.

        Keys that no longer exist are dropped first: a reader that looks one up then waits for the lock. After that, one
        ``update``, which no other thread can interrupt, replaces all other objects.
        """
        alive: dict[Any, T]
        gone: list[Any]
        if touched is None or was is None:
            alive = dict(now.objects())
            gone = [key for key in self._held() if key not in alive]
        else:
            alive, gone = _differences(now, was)
        self._replace(gone, alive)

    def _receive(self, received: ReceivedContents[T], snapshot: Snapshot, is_first: bool) -> NextContents[T] | None:
        """Return what a listener receives after a version; None if a bad record prevents it, or after the close."""
        with self._changed:
            if is_first:
                received.replace(None)
            try:
                self._wait_for_version(snapshot.version, None)
            except WaitTimeoutError:
                if self._failure is not None:
                    raise
                return None  # the directory was closed
            if self._is_closed:
                return None
            found = self._versions.next_for(received, self._topic.of(snapshot))
            if self._bad_records.stop_at(found.contents):
                return None
            self._versions.set_received(received, found.contents)
            return found

    # --- helpers ---

    def _now(self) -> tuple[Snapshot, Any]:
        """Return the newest version and its contents, if look-ups may use them."""
        newest, error = self._newest(), self._bad_records.stopping
        if error is not None:
            raise copy_of(error)
        return newest

    def _newest(self) -> tuple[Snapshot, Any]:
        if self._failure is not None:
            raise copy_of(self._failure)
        newest = self._versions.newest
        if newest is None:
            self._replica.snapshot()  # raises the error of a failed replica
            raise NotReadyError(
                f"the directory of {self._name} has no version yet; call wait_ready(timeout_s=...) first"
            )
        return newest

    @property
    def _version(self) -> int:
        newest = self._versions.newest
        return -1 if newest is None else newest[0].version

    def _caught_up(self, wait: Callable[[float | None], Snapshot], timeout_s: float | None) -> DirectoryView[K, T]:
        give_up_s = None if timeout_s is None else time.monotonic() + timeout_s
        snapshot = wait(timeout_s)
        with self._changed:
            self._wait_for_version(snapshot.version, give_up_s)
        return self.view()

    def _wait_for_version(self, version: int, give_up_s: float | None) -> None:
        def is_over() -> bool:
            return self._version >= version or self._failure is not None or self._subscription.closed

        while not is_over() and (left_s := _left(give_up_s)) > 0:
            self._changed.wait(min(left_s, _LOOK_EVERY_S))  # because the end of the replica does not notify
        if self._failure is not None:
            raise copy_of(self._failure)
        if self._version < version:
            why = "; it was closed" if self._subscription.closed else ""
            raise WaitTimeoutError(
                f"the directory of {self._name} did not reach version {version} within the timeout{why}"
            )

    def _fail(self, error: KafkaReplicaError) -> None:
        with self._changed:
            self._failure = error.with_traceback(None)
            self._forget()
            self._changed.notify_all()

    def _after_fork(self) -> None:
        """Make every use in a forked process an error, because the fork has no threads and would become outdated."""
        self._changed = Condition()
        self._failure = UsageError(
            "this process is a fork of the one in which the directory was made, and is not kept up to date; create "
            "replica and directory after the fork"
        )
        self._forget()

    def __repr__(self) -> str:
        newest = self._versions.newest
        state = "no version yet" if newest is None else f"version {newest[0].version}, {len(newest[1]):,} objects"
        return f"<Directory of {self._name}: {self.error or state}>"

    def _repr_html_(self) -> str:
        return self.view()._repr_html_()


def _left(give_up_s: float | None) -> float:
    return inf if give_up_s is None else give_up_s - time.monotonic()


def _differences(now: Contents[T], was: Contents[T]) -> tuple[dict[Any, T], list[Any]]:
    """Return the objects to put into the dict, by the directory's key, and the keys to drop from it."""
    ids = was.ids_of(now.touched) | now.ids_of(now.touched)
    alive = now.single(ids)  # without keys that are deleted or that several records have: __missing__ raises for them
    return alive, [id_ for id_ in ids if id_ not in alive]


def _after_fork() -> None:
    for directory in list(_open):
        directory._after_fork()  # noqa: SLF001 - of this module


after_fork(_after_fork)
