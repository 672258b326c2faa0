"""Who is told of a new version, and what each may rely on.

* A listener first hears the whole present state (``Change.initial``), or, if there is none yet, the
  first version; from then on every version, in order. It never hears of one version twice, and never
  from two threads at a time.
* A slow listener holds neither the replica nor another listener. It has a mailbox of its own, of a
  bounded size; when that is full, the newest change is merged into the one that waits there, which then
  says so (``Change.conflated``). No change is lost by that: the sum is the same.
* An exception of a listener is logged with the version it failed at, counted and kept
  (``Subscription.last_error``); it hears the next version all the same, and the others are not touched.

Not promised: that a listener hears of a version before or after another listener, or before
``Replica.snapshot`` shows it.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Collection, Iterator
from copy import copy
from dataclasses import dataclass
from threading import Condition, Thread, current_thread
from typing import TypeAlias

from kafka_replica.errors import KafkaReplicaError, WaitTimeoutError
from kafka_replica.records import Cut
from kafka_replica.stores import Snapshot

_log = logging.getLogger("kafka_replica.listeners")

DEFAULT_PENDING_CHANGES = 100


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """One version, as a difference to the one that the listener knew before."""

    snapshot: Snapshot
    """The version itself: read from it, it never changes."""
    previous: Snapshot | None
    """What the listener knew before; None if this is the first it hears."""
    changed: Collection[bytes]
    """Keys with a new record: new keys, and keys written again, whether or not the value differs."""
    deleted: Collection[bytes]
    """Keys that were in the previous version and are not in this one."""
    conflated: int = 1
    """How many versions this one stands for; more than 1 when the listener was slow."""

    @property
    def version(self) -> int:
        """The number of the version."""
        return self.snapshot.version

    @property
    def cut(self) -> Cut:
        """The point of the log that the version stands for."""
        return self.snapshot.cut

    @property
    def initial(self) -> bool:
        """Whether this is the whole state; ``changed`` are all its keys then."""
        return self.previous is None

    @staticmethod
    def first(snapshot: Snapshot) -> Change:
        """The whole of a version."""
        return Change(snapshot, None, snapshot.keys(), ())


class _Merged:
    """Changes that wait as one. Adding another costs its keys alone; the sum is made when it is taken."""

    def __init__(self, first: Change) -> None:
        self._first = first
        self._snapshot = first.snapshot
        self._count = first.conflated
        self._touched: dict[bytes, None] = {}
        self._touch(first)

    def add(self, newer: Change) -> None:
        """Takes in a later change."""
        self._snapshot = newer.snapshot
        self._count += newer.conflated
        self._touch(newer)

    def change(self) -> Change:
        """One change that has the effect of all."""
        snapshot, previous = self._snapshot, self._first.previous
        if self._count == 1:
            return self._first
        if previous is None:
            return Change(snapshot, None, snapshot.keys(), (), self._count)
        changed = tuple(key for key in self._touched if key in snapshot)
        deleted = tuple(key for key in self._touched if key not in snapshot and key in previous)
        return Change(snapshot, previous, changed, deleted, self._count)

    def _touch(self, change: Change) -> None:
        if self._first.previous is not None:  # the whole state has all keys anyway
            self._touched.update(dict.fromkeys(change.changed))
            self._touched.update(dict.fromkeys(change.deleted))


Listener: TypeAlias = Callable[[Change], object]


class Mailbox:
    """Changes for one listener: bounded, conflating, closable. Any threads."""

    def __init__(self, max_pending: int) -> None:
        self._changes: deque[Change | _Merged] = deque()
        self._max_pending = max(1, max_pending)
        self._closed = False
        self._error: KafkaReplicaError | None = None
        self._news = Condition()

    @property
    def closed(self) -> bool:
        """Whether nothing more can be put in."""
        return self._closed

    def put(self, change: Change) -> None:
        """Adds a change, or merges it into the last one when the box is full. Never waits."""
        with self._news:
            if self._closed:
                return
            if len(self._changes) < self._max_pending:
                self._changes.append(change)
            else:
                last = self._changes[-1]
                if isinstance(last, Change):
                    last = self._changes[-1] = _Merged(last)
                last.add(change)
            self._news.notify_all()

    def close(self, error: KafkaReplicaError | None = None) -> None:
        """No more changes will come; what is there can still be taken."""
        with self._news:
            if not self._closed:
                self._closed, self._error = True, error
            self._news.notify_all()

    def take(self, timeout_s: float | None = None) -> Change | None:
        """The next change; None when closed and empty.

        Raises:
            WaitTimeoutError: there was none in the time given.
            KafkaReplicaError: the replica failed, and all that came before was taken.
        """
        with self._news:
            if not self._news.wait_for(lambda: self._changes or self._closed, timeout_s):
                raise WaitTimeoutError(f"no new version in {timeout_s} s; the state of the replica tells why")
            if not self._changes:
                if self._error is not None:
                    raise copy(self._error)
                return None
            first = self._changes.popleft()
        return first if isinstance(first, Change) else first.change()


class Subscription:
    """A listener that is being told, from a thread of its own. ``close()`` ends it."""

    def __init__(self, listener: Listener, mailbox: Mailbox, on_error: Callable[[], None]) -> None:
        self.listener = listener
        self.last_error: BaseException | None = None
        self._mailbox = mailbox
        self._on_error = on_error
        self._closed = False
        self._thread = Thread(target=self._tell, name=f"kafka_replica listener {_name(listener)}", daemon=True)
        self._thread.start()

    @property
    def closed(self) -> bool:
        """Whether it was ended."""
        return self._closed

    @property
    def is_current_thread(self) -> bool:
        """Whether who asks is the listener, while it is being told."""
        return current_thread() is self._thread

    def close(self, *, wait: bool = True) -> None:
        """Ends it; a call that is under way is waited for (``wait``), unless it is the one that closes."""
        self._closed = True
        self._mailbox.close()
        if wait and not self.is_current_thread:
            self._thread.join()

    def _tell(self) -> None:
        while not self._closed:
            try:
                change = self._mailbox.take()
            except KafkaReplicaError:  # of the replica, which tells it to everybody who asks
                return
            if change is None:
                return
            try:
                self.listener(change)
            except BaseException as error:  # noqa: BLE001 - whatever it raises, it hears the next version
                self.last_error = error
                self._on_error()
                _log.exception("listener %s failed at version %d", _name(self.listener), change.version)


class Changes(Iterator[Change]):
    """The changes of a replica, one by one; ``close()`` ends it, and so does letting go of it."""

    def __init__(self, mailbox: Mailbox, timeout_s: float | None) -> None:
        self._mailbox = mailbox
        self._timeout_s = timeout_s

    def __next__(self) -> Change:
        change = self._mailbox.take(self._timeout_s)
        if change is None:
            raise StopIteration
        return change

    def close(self) -> None:
        """No more changes are kept for it."""
        self._mailbox.close()

    def __del__(self) -> None:
        self.close()


def _name(listener: Listener) -> str:
    return getattr(listener, "__qualname__", repr(listener))
