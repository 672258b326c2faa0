"""The directory: a replica's records as typed objects that are kept up to date."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, ItemsView, Iterator, KeysView, Mapping, ValuesView
from functools import partial
from types import TracebackType
from typing import Any, Final, Generic, Literal, Self, TypeVar, overload
from weakref import WeakSet

from kafka_replica.common.error_causes import copy_of
from kafka_replica.directories.contents.contents import Contents
from kafka_replica.directories.contents.schema import BadRecordPolicy
from kafka_replica.directories.indexes import Index
from kafka_replica.directories.live.arguments import check_arguments, schema_of, type_name
from kafka_replica.directories.live.following_dict import FollowingDict
from kafka_replica.directories.records.interpretation import Interpreter
from kafka_replica.directories.versions.changes import DirectoryListener, typed_listener
from kafka_replica.directories.versions.differences import (
    ContentDifferences,
    Differences,
    RecordDifferences,
)
from kafka_replica.directories.versions.topic_selection import TopicSelection
from kafka_replica.directories.versions.view import DirectoryView
from kafka_replica.errors import (
    BadRecordError,
    KafkaReplicaError,
    UsageError,
)
from kafka_replica.listeners import Subscription
from kafka_replica.listeners.subscription import join_all
from kafka_replica.records import Partition
from kafka_replica.replica import Replica
from kafka_replica.replication.dead_letters import DeadLetters, check_policy
from kafka_replica.stores import Snapshot

__all__ = ["Directory"]

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
D = TypeVar("D")

_CLOSE_S: Final = 10.0  # how long closing waits for running calls of listeners


class Directory(FollowingDict[K, T], Generic[K, T]):
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
        topic: the topic of the directory, if the replica has several topics with separate key spaces. With ``key`` or
            an ``interpreter``, a directory without ``topic`` has the objects of all topics.

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
        check_policy(on_bad_record, dead_letters)
        check_arguments(key, where, indexes, interpreter, on_demand=on_demand, on_bad_record=on_bad_record)
        self._listeners: WeakSet[Subscription] = WeakSet()
        selection = TopicSelection(replica.topics, topic, has_key_spaces=replica.has_key_spaces)
        if key is None and interpreter is None:
            selection.check_has_keys()
        policy: BadRecordPolicy = "on demand" if on_demand else on_bad_record
        super().__init__(
            replica,
            type_name(of),
            selection,
            schema_of(of, key, where, indexes, decode, interpreter, policy, selection.topics),
            dead_letters,
        )

    # --- look-ups in the newest version; dict finds existing keys without any of these methods ---

    def __missing__(self, key: K) -> T:
        """Look up a key that the dict lacks, because its record is decoded on demand or several records have it."""
        with self._changed:
            _, contents = self._newest_readable()
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
        """The records of the newest version that could not be decoded; they stop the directory, or are left out."""
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
            snapshot, contents = self._newest_readable()
        return DirectoryView(contents, snapshot)

    def at(self, snapshot: Snapshot, timeout_s: float | None = 60.0) -> DirectoryView[K, T]:
        """Return the directory in a version of its replica, for example the same version of several directories.

        ::

            snapshot = replica.snapshot()
            terminals.at(snapshot)["T1"], acquirers.at(snapshot)["A7"]

        This costs little for the newest versions; for others, all records are decoded.

        Args:
            snapshot: a version of the directory's replica, of its ``VersionHistory``, or of another replica of the same
                topics.
            timeout_s: the time to wait until the directory reaches the version, in seconds; None means no limit. The
                directory normally reaches it immediately.

        Raises:
            WaitTimeoutError: the directory has not reached the version in time.
            BadRecordError: the version has a bad record, with ``on_bad_record="stop"``.
            UsageError: ``snapshot`` is not a version, or one of other topics.
        """
        if not isinstance(snapshot, Snapshot):
            raise UsageError(f"at({snapshot!r}): give a snapshot, such as replica.snapshot() or replica.at(version)")
        with self._changed:
            contents = self._stored_at(snapshot, timeout_s)
        if contents is None:  # without the lock, because decoding all records may take long
            contents = self._versions.whole(self._topic.of_given(snapshot))
        error = self._bad_records.error_of(contents)
        if error is not None:
            raise copy_of(error)
        return DirectoryView(contents, self._topic.of(snapshot))

    def wait_ready(self, timeout_s: float | None = None) -> DirectoryView[K, T]:
        """Wait until the replica is ready and the directory has reached its version; return it, or a newer version.

        Args:
            timeout_s: the time to wait for both, in seconds; None means no limit.

        Raises:
            WaitTimeoutError: the directory has not reached the version in time.
            BadRecordError: the version has a bad record, with ``on_bad_record="stop"``.
            KafkaReplicaError: the error with which the replica failed.
        """
        return self._view_after(self._replica.wait_ready, timeout_s)

    def wait_for(self, positions: Mapping[Partition, int], timeout_s: float | None = None) -> DirectoryView[K, T]:
        """Wait for a version that includes the records below these offsets; see ``Replica.wait_for``.

        Raises:
            UsageError: ``positions`` is not a mapping from partitions to offsets.
        """
        if not isinstance(positions, Mapping):
            raise UsageError(
                f"wait_for({positions!r}): give offsets by partition, such as transaction.committed.position"
            )
        return self._view_after(lambda left_s: self._replica.wait_for(positions, left_s), timeout_s)

    def subscribe(self, listener: DirectoryListener[K, T]) -> Subscription:
        """Call a listener with the whole directory, and then with the objects that each version changes.

        As with ``Replica.subscribe``, the listener has its own thread; it receives a ``DirectoryChange``. With
        ``on_bad_record="stop"`` it is not called for a version that has a bad record; the next version without bad
        records then has everything that changed since. The subscription ends when the directory is closed.

        Raises:
            UsageError: the directory was closed, or the listener is not a function.
            ReplicaClosedError: the replica was closed.
        """
        if not callable(listener):
            raise UsageError(f"subscribe({listener!r}): a listener must be a function of a DirectoryChange")
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
        if self.closed:  # it was closed in the meantime
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
        self._stop_following()
        join_all(listeners, _CLOSE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _view_after(self, wait: Callable[[float | None], Snapshot], timeout_s: float | None) -> DirectoryView[K, T]:
        """Wait for a version of the replica, and then until the directory has reached it; return the view."""
        give_up_s = None if timeout_s is None else time.monotonic() + timeout_s
        snapshot = wait(timeout_s)
        with self._changed:
            self._wait_for_version(snapshot.version, give_up_s)
        return self.view()

    def __repr__(self) -> str:
        newest = self._versions.newest
        state = "no version yet" if newest is None else f"version {newest[0].version}, {len(newest[1]):,} objects"
        return f"<Directory of {self._name}: {self.error or state}>"

    def _repr_html_(self) -> str:
        return self.view()._repr_html_()
