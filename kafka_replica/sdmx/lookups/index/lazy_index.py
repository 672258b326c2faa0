"""An index of one version, built on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import RLock
from typing import Final, Generic, TypeAlias, TypeVar

from kafka_replica.common.persistent_map import PersistentMap
from kafka_replica.sdmx.urns.urn import Urn

T = TypeVar("T")

Pending: TypeAlias = PersistentMap[Urn, None] | None
"""URNs whose records may differ from the records that an index was built from; None if all may differ."""

NOTHING_PENDING: Final[PersistentMap[Urn, None]] = PersistentMap()


class LazyIndex(Generic[T]):
    """An index and its state: built, derivable from an older index and the changes since, or not begun.

    Thread-safe; one thread builds the index, the others wait.
    """

    __slots__ = ("_lock", "_made", "_older")

    def __init__(self, base: T | None = None, pending: Pending = NOTHING_PENDING) -> None:
        self._older = base, pending  # one reference, released after the index exists: see ``updated``
        self._made: T | None = None
        self._lock = RLock()  # a signal handler may request the index that the same thread is building

    @property
    def made(self) -> T | None:
        """The index, if it has been built."""
        return self._made

    @property
    def is_begun(self) -> bool:
        """True if the index was built, for this version or an earlier one."""
        return self._older[0] is not None or self._made is not None

    def get(self, make: Callable[[T | None, Pending], T]) -> T:
        """Return the index; ``make`` gets the older index, if there is one, and the URNs that may differ."""
        if self._made is None:
            with self._lock:
                if self._made is None:
                    self._made = make(*self._older)
                    self._older = None, NOTHING_PENDING
        return self._made

    def updated(self, changed: Iterable[Urn] | None) -> LazyIndex[T]:
        """Return the index of a version that differs in the records of these URNs (None: any). Never blocks."""
        base, pending = self._older
        if self._made is not None:
            base, pending = self._made, NOTHING_PENDING
        if base is None:
            return LazyIndex()
        if pending is None or changed is None:
            return LazyIndex(base, None)
        return LazyIndex(base, pending.set_all(changed, None))
