"""The ownership of a store: while a replica uses a store, no other replica in the process can use it."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from weakref import WeakKeyDictionary

from kafka_replica.errors import ConfigurationError
from kafka_replica.stores import Store

_owners: WeakKeyDictionary[Store, StoreOwnership] = WeakKeyDictionary()


class StoreOwnership:
    """The ownership of a replica's store. The later of the end of closing and the end of reading releases the store.

    A thread may start long after a signal handler interrupted the code that starts it. Therefore it reads only with a
    permit, which is valid until the replica is closed or the start has failed.

    Args:
        store: the store; the object does not refer to it, because ``_owners`` would then keep it alive.

    Raises:
        ConfigurationError: another replica uses the store.
    """

    def __init__(self, store: Store) -> None:
        if store in _owners:
            raise ConfigurationError(
                f"another replica uses {store!r}; give each replica a store of its own, or close that one, and wait "
                "until its validator has returned"
            )
        self._is_closed = self._is_reading = False
        self._unused_permit: object = None
        self._lock = RLock()  # reentrant: a signal handler may close the replica while the same thread closes it
        _owners[store] = self

    def permit(self) -> object:
        """Return a permit for one thread."""
        self._unused_permit = permit = object()
        return permit

    def revoke(self) -> bool:
        """Revoke the permit; return False if a thread has used it."""
        with self._lock:
            was_unused, self._unused_permit = self._unused_permit is not None, None
            return was_unused

    def run(self, permit: object, store: Store, read: Callable[[], object]) -> None:
        """Read until the end if the permit is valid, without a reference to the replica, which may be freed meanwhile.

        Args:
            permit: the permit of this thread.
            store: the store that is owned.
            read: reads until the replica is closed or has failed.
        """
        if self._start(permit):
            try:
                read()
            finally:
                self._end(store)

    def close(self, store: Store) -> None:
        """Note that the replica is closed."""
        with self._lock:
            self._is_closed = True
            self._release_if_over(store)

    def _start(self, permit: object) -> bool:
        """Use a permit; return whether the thread may read."""
        with self._lock:
            if self._is_closed or self._is_reading or permit is not self._unused_permit:
                return False
            self._unused_permit, self._is_reading = None, True
            return True

    def _end(self, store: Store) -> None:
        """Note that reading has ended."""
        with self._lock:
            self._is_reading = False
            self._release_if_over(store)

    def _release_if_over(self, store: Store) -> None:
        """Release the store if this replica is closed and no longer reads, unless another replica owns it."""
        if self._is_closed and not self._is_reading and _owners.get(store) is self:
            _owners.pop(store, None)
