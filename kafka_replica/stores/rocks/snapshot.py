"""A version on disk: a view of RocksDB with its metadata."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from threading import RLock
from typing import TypeVar, overload

from kafka_replica.records import Key, Partition, Position, Record, key_bytes
from kafka_replica.stores.rocks.codec import unpack_record
from kafka_replica.stores.rocks.database import View
from kafka_replica.stores.rocks.scan import DATA, DiffLink, Entries, entries_of_view, shown
from kafka_replica.stores.scanned_snapshot import ScannedSnapshot

T = TypeVar("T")


class KeyCount:
    """The number of keys; counted on first use, if it was not known while they were written.

    Successive versions share a key count: each records how many keys more it has than the first of them.
    """

    __slots__ = ("keys",)

    def __init__(self, keys: int | None) -> None:
        self.keys = keys


class RocksSnapshot(ScannedSnapshot):
    """A version of a store on disk. Reading it may raise ``StoreError``, because the disk may fail.

    Args:
        owner: an object that has to live as long as the version is read.
        view: the view for look-ups; None for the version before the first one.
        partitions: the partitions by index.
        version: the number of the version.
        position: the position that the version represents.
        tally: the number of keys, not counting ``more``.
        more: the number of additional keys.
        link: the keys that newer versions touched.
        has_key_spaces: whether each topic has its own key space.
    """

    __slots__ = (
        "__weakref__",
        "_has_key_spaces",
        "_link",
        "_lock",
        "_more",
        "_owner",
        "_partitions",
        "_position",
        "_tally",
        "_touched",
        "_version",
        "_view",
    )

    def __init__(
        self,
        owner: object,
        view: View | None,
        partitions: Sequence[Partition],
        version: int,
        position: Position,
        tally: KeyCount,
        more: int,
        link: DiffLink,
        *,
        has_key_spaces: bool,
    ) -> None:
        self._has_key_spaces = has_key_spaces
        self._owner = owner
        self._view = view
        self._partitions = partitions
        self._version = version
        self._position = position
        self._tally = tally
        self._more = more
        self._link = link
        self._touched: set[bytes] = set()  # keys touched by the versions up to that of the link
        self._lock = RLock()  # reentrant: a signal handler may read while its own thread is gathering

    @property
    def version(self) -> int:  # noqa: D102 - as the contract says
        return self._version

    @property
    def position(self) -> Position:  # noqa: D102
        return self._position

    def __len__(self) -> int:
        if self._tally.keys is None:
            self._tally.keys = sum(1 for _ in self._entries()) - self._more
        return self._tally.keys + self._more

    @property
    def known_length(self) -> int | None:
        """The number of keys, if the keys of this version or of a related one were counted."""
        return None if self._tally.keys is None else self._tally.keys + self._more

    @overload
    def get(self, key: Key, /) -> Record | None: ...
    @overload
    def get(self, key: Key, /, default: Record | T) -> Record | T: ...
    def get(self, key: Key, /, default: Record | T | None = None) -> Record | T | None:
        """Return the record of a key, or ``default``.

        Raises:
            StoreError: the record cannot be read.
        """
        # pyright does not narrow by __class__.
        raw: bytes = key if key.__class__ is bytes else key_bytes(key)  # pyright: ignore[reportAssignmentType]
        if self._view is None:
            return default
        found = self._view.get(DATA + raw)
        return default if found is None else self._record(self._view, raw, found)

    def __iter__(self) -> Iterator[bytes]:
        return (key for key, _ in self._entries())

    def records(self) -> Iterator[tuple[bytes, Record]]:
        """Return an iterator over keys and records."""
        view = self._view
        if view is None:
            return iter(())
        return ((key, self._record(view, key, data)) for key, data in self._entries())

    def gather(self) -> None:
        """Collect the keys that newer versions touched, each once, so that the links can be freed."""
        with self._lock:
            while (newer := self._link.newer) is not None:
                self._touched.update(*self._link.touched)
                self._link = newer

    def _record(self, view: View, key: bytes, data: bytes) -> Record:
        try:
            return unpack_record(key, data, self._partitions, self._has_key_spaces)
        except (struct.error, IndexError, ValueError) as error:
            view.database.no_record(key, error)

    def _entries(self) -> Entries:
        if self._view is None:
            return iter(())
        entries = shown(self._view.database)  # first: see ``scan``
        self.gather()
        if not self._touched:
            return entries
        return entries_of_view(entries, self._touched.copy(), self._view)
