"""A version on disk: a view of RocksDB, and what is known of it."""

from __future__ import annotations

import struct
from collections.abc import ItemsView, Iterator, Sequence, ValuesView
from threading import RLock
from typing import TypeVar, overload

from kafka_replica.records import Key, Partition, Position, Record, key_bytes
from kafka_replica.stores.contract import Snapshot
from kafka_replica.stores.rocks.codec import unpack_record
from kafka_replica.stores.rocks.database import View
from kafka_replica.stores.rocks.scan import DATA, DiffLink, Entries, shown, told_apart

T = TypeVar("T")


class KeyCount:
    """How many keys there are; counted when somebody asks, where nobody could say while they were written.

    Versions that were made one from another share it: each knows how many more it has than the first of them.
    """

    __slots__ = ("keys",)

    def __init__(self, keys: int | None) -> None:
        self.keys = keys


class RocksSnapshot(Snapshot):
    """One version of a store on disk. Reading it may raise ``StoreError``, as anything on a disk may.

    Args:
        owner: what has to live as long as the version is read.
        view: what it looks keys up in; None for the version before the first one.
        partitions: by their numbers.
        version: its number.
        position: what it stands for.
        tally: how many keys there are, but for ``more``.
        more: how many more.
        link: what newer versions touched.
    """

    __slots__ = (
        "__weakref__",
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
    ) -> None:
        self._owner = owner
        self._view = view
        self._partitions = partitions
        self._version = version
        self._position = position
        self._tally = tally
        self._more = more
        self._link = link
        self._touched: set[bytes] = set()  # by the versions up to that of the link
        self._lock = RLock()  # a signal handler may read what the same thread is gathering

    @property
    def version(self) -> int:  # noqa: D102 - as the contract says
        return self._version

    @property
    def position(self) -> Position:  # noqa: D102
        return self._position

    def __len__(self) -> int:
        if self._tally.keys is None:
            self._tally.keys = sum(1 for _ in self._walk()) - self._more
        return self._tally.keys + self._more

    @property
    def known_length(self) -> int | None:
        """Its length, if somebody has counted the keys of this version or a near one."""
        return None if self._tally.keys is None else self._tally.keys + self._more

    @overload
    def get(self, key: Key, /) -> Record | None: ...
    @overload
    def get(self, key: Key, /, default: Record | T) -> Record | T: ...
    def get(self, key: Key, /, default: Record | T | None = None) -> Record | T | None:
        """The record of a key, or ``default``.

        Raises:
            StoreError: it cannot be read.
        """
        if key.__class__ is not bytes:
            key = key_bytes(key)
        if self._view is None:
            return default
        found = self._view.get(DATA + key)
        return default if found is None else self._record(self._view, key, found)

    def __iter__(self) -> Iterator[bytes]:
        return (key for key, _ in self._walk())

    def items(self) -> ItemsView[bytes, Record]:
        """Keys and records, in one walk."""
        return _Items(self)

    def values(self) -> ValuesView[Record]:
        """Records, in one walk."""
        return _Values(self)

    def records(self) -> Iterator[tuple[bytes, Record]]:
        """Keys and records."""
        view = self._view
        if view is None:
            return iter(())
        return ((key, self._record(view, key, data)) for key, data in self._walk())

    def gather(self) -> None:
        """Notes what newer versions touched, each key once, so that the links can be let go of."""
        with self._lock:
            while (newer := self._link.newer) is not None:
                self._touched.update(*self._link.touched)
                self._link = newer

    def _record(self, view: View, key: bytes, data: bytes) -> Record:
        try:
            return unpack_record(key, data, self._partitions)
        except (struct.error, IndexError, ValueError) as error:
            view.database.no_record(key, error)

    def _walk(self) -> Entries:
        if self._view is None:
            return iter(())
        entries = shown(self._view.database)  # first: see ``scan``
        self.gather()
        if not self._touched:
            return entries
        return told_apart(entries, self._touched.copy(), self._view)


class _Items(ItemsView[bytes, Record]):
    """``Mapping.items`` without a look-up for each key."""

    _mapping: RocksSnapshot

    def __iter__(self) -> Iterator[tuple[bytes, Record]]:
        return self._mapping.records()


class _Values(ValuesView[Record]):
    """``Mapping.values`` likewise."""

    _mapping: RocksSnapshot

    def __iter__(self) -> Iterator[Record]:
        return (record for _, record in self._mapping.records())
