"""The base of snapshots on disk, which read items and values in one scan instead of with a look-up for each key."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import ItemsView, Iterator, ValuesView

from kafka_replica.records import Record
from kafka_replica.stores.contract import Snapshot


class ScannedSnapshot(Snapshot):
    """A snapshot whose records are read in one scan."""

    __slots__ = ()

    @abstractmethod
    def records(self) -> Iterator[tuple[bytes, Record]]:
        """Return an iterator over keys and records."""

    def items(self) -> ItemsView[bytes, Record]:
        """Return keys and records, read in one scan."""
        return _Items(self)

    def values(self) -> ValuesView[Record]:
        """Return the records, read in one scan."""
        return _Values(self)


class _Items(ItemsView[bytes, Record]):
    """A view like ``Mapping.items``, without a look-up for each key."""

    _mapping: ScannedSnapshot

    def __iter__(self) -> Iterator[tuple[bytes, Record]]:
        return self._mapping.records()


class _Values(ValuesView[Record]):
    """A view like ``Mapping.values``, without a look-up for each key."""

    _mapping: ScannedSnapshot

    def __iter__(self) -> Iterator[Record]:
        return (record for _, record in self._mapping.records())
