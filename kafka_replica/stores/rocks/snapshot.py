"""A version on disk: a view of RocksDB, and what is known of it.

A key is looked up in the view. Going through all keys goes through what the database holds now (views of rocksdict
cannot be gone through), leaving out each key that was touched since, and looks these up. Which ones were touched
is known from links: each version has one, which names the keys that the next version touched, and that version's
link. They refer forward only, so that what nobody holds is let go of. What is staged has its keys beside it.
The order decides: first the database is opened for going through, then the staged keys, then the links are read;
the writer sets a link before it removes what was staged for it. So no touched key is missed.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, ItemsView, Iterator, Sequence, ValuesView
from typing import TypeVar, overload

from kafka_replica.errors import StoreDamagedError
from kafka_replica.records import Cut, Key, Partition, Record, key_bytes, key_text
from kafka_replica.stores.contract import Snapshot
from kafka_replica.stores.rocks.codec import unpack_record
from kafka_replica.stores.rocks.database import View

T = TypeVar("T")

DATA, AFTER_DATA = b"d", b"e"  # keys of records begin with the one and are below the other
OLD, AFTER_OLD = b"o", b"p"  # what keys had before something was staged for them


class Link:
    """What was touched by the version after one; ``newer`` is set last, and makes ``touched`` valid."""

    __slots__ = ("newer", "touched")

    def __init__(self) -> None:
        self.touched: tuple[Collection[bytes], ...] = ()
        self.newer: Link | None = None


class Tally:
    """How many keys there are; counted when somebody asks, where nobody could say while they were written.

    Versions that were made one from another share it: each knows how many more it has than the first of them.
    """

    __slots__ = ("keys",)

    def __init__(self, keys: int | None) -> None:
        self.keys = keys


class RocksSnapshot(Snapshot):
    """One version of a store on disk. Reading it may raise ``StoreError``, as anything on a disk may."""

    __slots__ = ("_cut", "_link", "_more", "_partitions", "_tally", "_version", "_view")

    def __init__(
        self,
        view: View | None,
        partitions: Sequence[Partition],
        version: int,
        cut: Cut,
        tally: Tally,
        more: int,
        link: Link,
    ) -> None:
        self._view = view
        self._partitions = partitions
        self._version = version
        self._cut = cut
        self._tally = tally
        self._more = more
        self._link = link

    @property
    def version(self) -> int:  # noqa: D102 - as the contract says
        return self._version

    @property
    def cut(self) -> Cut:  # noqa: D102
        return self._cut

    def __len__(self) -> int:
        if self._tally.keys is None:
            self._tally.keys = sum(1 for _ in self._walk()) - self._more
        return self._tally.keys + self._more

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
        return default if found is None else self._record(key, found)

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
        return ((key, self._record(key, data)) for key, data in self._walk())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} version {self.version} of {self.cut}>"  # counting may take a while

    def _record(self, key: bytes, data: bytes) -> Record:
        try:
            return unpack_record(key, data, self._partitions)
        except (struct.error, IndexError) as error:
            raise StoreDamagedError(
                f"reading {key_text(key)} in {self!r}: what is stored for it is no record; start the replica anew "
                "with an empty folder"
            ) from error

    def _walk(self) -> Iterator[tuple[bytes, bytes]]:
        """Keys and what is stored for them."""
        view = self._view
        if view is None:
            return iter(())
        present = view.items(DATA, AFTER_DATA)
        touched = {key[1:] for key, _ in view.items(OLD, AFTER_OLD)}
        link = self._link
        while (newer := link.newer) is not None:
            touched.update(*link.touched)
            link = newer
        if not touched:
            return ((key[1:], data) for key, data in present)
        return _told_apart(view, present, touched)


def _told_apart(
    view: View, present: Iterator[tuple[bytes, bytes]], touched: set[bytes]
) -> Iterator[tuple[bytes, bytes]]:
    for key, data in present:
        if key[1:] not in touched:
            yield key[1:], data
    for key in touched:
        then = view.get(DATA + key)
        if then is not None:
            yield key, then


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
