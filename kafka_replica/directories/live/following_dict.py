"""A dict with the objects of a replica's newest version, updated by a thread that follows the replica."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Hashable, Iterator
from contextlib import contextmanager
from math import inf
from threading import Condition
from typing import Any, Final, Generic, TypeVar
from weakref import WeakSet

from kafka_replica.common.error_causes import copy_of
from kafka_replica.common.persistent_map import PersistentMap
from kafka_replica.common.process import after_fork
from kafka_replica.directories.contents.contents import Contents, UndecodedContents
from kafka_replica.directories.contents.schema import Schema
from kafka_replica.directories.live.bad_records import BadRecordHandler
from kafka_replica.directories.live.read_only_dict import ReadOnlyDict
from kafka_replica.directories.versions.received_contents import NextContents, ReceivedContents
from kafka_replica.directories.versions.recent_versions import AnyContents, ContentVersions, incarnation_of
from kafka_replica.directories.versions.topic_selection import TopicSelection
from kafka_replica.errors import BadRecordError, KafkaReplicaError, NotReadyError, UsageError, WaitTimeoutError
from kafka_replica.listeners import Change, Subscription
from kafka_replica.replica import Replica
from kafka_replica.replication.dead_letters import DeadLetters
from kafka_replica.stores import Snapshot

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

_CHECK_EVERY_S: Final = 1.0

_log = logging.getLogger("kafka_replica.directories")

_open: WeakSet[FollowingDict[Any, Any]] = WeakSet()


class FollowingDict(ReadOnlyDict[K, T], Generic[K, T]):
    """A dict that follows a replica, with the objects of its newest version that a look-up can return directly.

    A key is missing from the dict while its record is not decoded yet (on demand), if several records have it, and
    while an error stops the directory. The subclass handles these cases in ``__missing__``.

    The condition ``_changed`` guards all state.

    Args:
        replica: the replica.
        name: the name of the objects' type, for errors and the log.
        topic: the selected part of the replica's versions.
        schema: the functions that convert records to objects.
        dead_letters: receives the bad records that are left out; None if they are not kept.
    """

    def __init__(
        self, replica: Replica, name: str, topic: TopicSelection, schema: Schema[T], dead_letters: DeadLetters | None
    ) -> None:
        super().__init__()
        self._name = name
        self._replica = replica
        self._topic = topic
        self._schema = schema
        self._bad_records = BadRecordHandler[T](name, schema.policy, dead_letters)
        self._versions = ContentVersions[T](schema, on_demand=schema.policy == "on demand")
        self._changed = Condition()
        self._failure: KafkaReplicaError | None = None  # permanent, unlike the error of a bad record
        self._is_closed = False
        self._subscription: Subscription = replica.subscribe(self._follow)
        _open.add(self)

    # --- new versions; called by the thread of the subscription ---

    def _follow(self, change: Change) -> None:
        with (
            self._changed,
            self._failure_stored(),
        ):  # the lock is held until the error is set, so that no look-up misses it
            if self._failure is None:
                self._advance(change)
                self._changed.notify_all()
        self._bad_records.log(change.version)
        if self._failure is None:
            with self._failure_stored():
                self._versions.prepare_for_changes()

    @contextmanager
    def _failure_stored(self) -> Iterator[None]:
        """Store an error that the block raises, so that all later look-ups raise it."""
        try:
            yield
        except KafkaReplicaError as error:
            _log.error("the directory of %s failed: %s", self._name, error)
            self._fail(error)
        except BaseException as error:  # the subscription logs it
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
            if change.rebuilt:
                touched = {*touched, *_moved(before[1].bad_records, snapshot)}
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
            self._drop_all()  # so that every look-up calls __missing__, which raises the error
        else:
            self._refresh(now, was, touched)

    def _cached_keys(self, touched: Collection[bytes] | None) -> list[Any]:
        if touched is None:
            return list(self._present_keys())
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
            gone = [key for key in self._present_keys() if key not in alive]
        else:
            alive, gone = _changed_objects(now, was)
        self._replace(gone, alive)

    def _fail(self, error: KafkaReplicaError) -> None:
        with self._changed:
            self._failure = error.with_traceback(None)
            self._drop_all()
            self._changed.notify_all()

    # --- for the threads of listeners ---

    def _receive(self, received: ReceivedContents[T], snapshot: Snapshot, is_first: bool) -> NextContents[T] | None:
        """Return the contents that a listener receives next; None if a bad record prevents it, or after the close."""
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

    # --- for look-ups, whose thread holds the lock ---

    def _newest_readable(self) -> tuple[Snapshot, Any]:
        """Return the newest version and its contents; raise the error if a bad record stops the directory."""
        newest, error = self._newest(), self._bad_records.stopping
        if error is not None:
            raise copy_of(error)
        return newest

    def _newest(self) -> tuple[Snapshot, Any]:
        """Return the newest version and its contents, even if a bad record stops the directory."""
        if self._failure is not None:
            raise copy_of(self._failure)
        newest = self._versions.newest
        if newest is None:
            self._replica.snapshot()  # raises the error of a failed replica
            raise NotReadyError(
                f"the directory of {self._name} has no version yet; call wait_ready(timeout_s=...) first"
            )
        return newest

    def _stored_at(self, snapshot: Snapshot, timeout_s: float | None) -> AnyContents[T] | None:
        """Return the contents in a version of the replica, for which this waits if necessary; None if not stored."""
        if self._failure is not None:
            raise copy_of(self._failure)
        incarnation = self._replica.incarnation
        stored = self._versions.stored(snapshot, incarnation)
        if stored is None and self._will_reach(snapshot, incarnation):
            self._wait_for_version(snapshot.version, None if timeout_s is None else time.monotonic() + timeout_s)
            stored = self._versions.stored(snapshot, incarnation)
        return stored

    def _will_reach(self, snapshot: Snapshot, incarnation: str) -> bool:
        """Return whether the directory does not have a version yet that the replica has shown, judged by its number."""
        try:
            shown = self._replica.snapshot().version  # the replica shows a version before it passes it to listeners
            return self._version < snapshot.version <= shown and incarnation_of(snapshot) in {None, incarnation}
        except KafkaReplicaError:  # the replica has no version yet
            return False

    @property
    def _version(self) -> int:
        newest = self._versions.newest
        return -1 if newest is None else newest[0].version

    def _wait_for_version(self, version: int, give_up_s: float | None) -> None:
        def is_over() -> bool:
            return self._version >= version or self._failure is not None or self._subscription.closed

        while not is_over() and (left_s := _left(give_up_s)) > 0:
            self._changed.wait(
                min(left_s, _CHECK_EVERY_S)
            )  # with a timeout, because the end of the replica sends no notification
        if self._failure is not None:
            raise copy_of(self._failure)
        if self._version < version:
            why = "; it was closed" if self._subscription.closed else ""
            raise WaitTimeoutError(
                f"the directory of {self._name} did not reach version {version} within the timeout{why}"
            )

    # --- the end ---

    def _stop_following(self) -> None:
        """Stop following the replica; call this without the lock."""
        self._subscription.close()
        _open.discard(self)
        with self._changed:
            self._changed.notify_all()

    def _after_fork(self) -> None:
        """Make every use in a forked process an error, because the fork has no threads and would become outdated."""
        self._changed = Condition()
        self._failure = UsageError(
            "this process is a fork of the one in which the directory was made, and is not kept up to date; create "
            "replica and directory after the fork"
        )
        self._drop_all()


def _left(give_up_s: float | None) -> float:
    return inf if give_up_s is None else give_up_s - time.monotonic()


def _moved(bad_records: PersistentMap[bytes, BadRecordError], snapshot: Snapshot) -> Iterator[bytes]:
    """Yield the keys of bad records that have another place in a version, although they have not changed."""
    for key, bad in bad_records.items():
        try:
            record = snapshot.get(key)
        except BadRecordError:  # a large value that is incomplete: its error is made again
            record = None
        if record is None or (*record.source, record.offset) != (bad.topic, bad.partition, bad.offset):
            yield key


def _changed_objects(now: Contents[T], was: Contents[T]) -> tuple[dict[Any, T], list[Any]]:
    """Return the objects to put into the dict, by the directory's key, and the keys to drop from it."""
    ids = was.ids_of(now.touched) | now.ids_of(now.touched)
    alive = now.single(ids)  # without keys that are deleted or that several records have: __missing__ raises for them
    return alive, [id_ for id_ in ids if id_ not in alive]


def _after_fork() -> None:
    for directory in list(_open):
        directory._after_fork()  # noqa: SLF001 - of this module


after_fork(_after_fork)
