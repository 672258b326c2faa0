"""An index of one version, made when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import RLock
from typing import Final, Generic, TypeAlias, TypeVar

from kafka_replica.sdmx.lookups.index.persistent import PersistentMap
from kafka_replica.sdmx.urn import Urn

T = TypeVar("T")

Pending: TypeAlias = PersistentMap[Urn, None] | None
"""URNs whose records may differ from those that an index was made of; None where all may."""

NOTHING_PENDING: Final[PersistentMap[Urn, None]] = PersistentMap()


class Kept(Generic[T]):
    """An index and how far it is: made; to be made of an older one and what has changed since; or of nothing.

    Any number of threads may ask; one makes it, the others wait.
    """

    __slots__ = ("_lock", "_made", "_older")

    def __init__(self, base: T | None = None, pending: Pending = NOTHING_PENDING) -> None:
        self._older = base, pending  # one reference, let go of after the index is there: see ``moved``
        self._made: T | None = None
        self._lock = RLock()  # a signal handler may ask what the same thread is making

    @property
    def made(self) -> T | None:
        """The index, if it has been made."""
        return self._made

    @property
    def is_begun(self) -> bool:
        """Whether it was made, of this version or of one before."""
        return self._older[0] is not None or self._made is not None

    def get(self, make: Callable[[T | None, Pending], T]) -> T:
        """The index; ``make`` is given the older one, if there is one, and which URNs may differ."""
        if self._made is None:
            with self._lock:
                if self._made is None:
                    self._made = make(*self._older)
                    self._older = None, NOTHING_PENDING
        return self._made

    def moved(self, changed: Iterable[Urn] | None) -> Kept[T]:
        """That of another version, which differs by the records of these URNs; None: all may differ. Never waits."""
        base, pending = self._older
        if self._made is not None:
            base, pending = self._made, NOTHING_PENDING
        if base is None:
            return Kept()
        if pending is None or changed is None:
            return Kept(base, None)
        return Kept(base, pending.putting_all(changed, None))
