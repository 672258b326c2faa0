"""A version in a history, with its records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeVar, overload

from kafka_replica.history.kept_version import KeptVersion
from kafka_replica.records import Key, Position, Record, key_bytes
from kafka_replica.stores.scanned_snapshot import ScannedSnapshot

T = TypeVar("T")


class VersionRecords(Protocol):
    """The records of all versions that are kept or held, each version by its sequence."""

    def record(self, key: bytes, sequence: int, /) -> Record | None:
        """Return the record of a key in a version."""

    def scan(self, sequence: int, /) -> Iterator[tuple[bytes, bytes]]:
        """Yield the keys of a version with their data, in the order of the keys."""

    def unpack(self, key: bytes, data: bytes, /) -> Record:
        """Decode the record of a key."""


class HistorySnapshot(ScannedSnapshot):
    """A recorded version. It stays readable while it is held, even after the history removed it or was closed.

    A look-up is one seek in RocksDB. Iterating reads all records that the history keeps, in the order of their keys.
    Reading may raise ``StoreError``, because the disk may fail.
    """

    __slots__ = ("__weakref__", "_stored", "kept")

    def __init__(self, stored: VersionRecords, kept: KeptVersion) -> None:
        self._stored = stored
        self.kept = kept
        """The metadata of the version."""

    @property
    def version(self) -> int:  # noqa: D102 - documented by Snapshot
        return self.kept.number

    @property
    def position(self) -> Position:  # noqa: D102
        return self.kept.position

    def __len__(self) -> int:
        return self.kept.keys

    @overload
    def get(self, key: Key, /) -> Record | None: ...
    @overload
    def get(self, key: Key, /, default: Record | T) -> Record | T: ...
    def get(self, key: Key, /, default: Record | T | None = None) -> Record | T | None:
        """Return the record of a key, or ``default``.

        Raises:
            StoreError: the record cannot be read.
        """
        record = self._stored.record(key_bytes(key), self.kept.sequence)
        return default if record is None else record

    def __iter__(self) -> Iterator[bytes]:
        # Generators of this method and the next one keep the snapshot, and so the version, as long as they are used.
        for key, _ in self._stored.scan(self.kept.sequence):
            yield key

    def records(self) -> Iterator[tuple[bytes, Record]]:
        """Return an iterator over keys and records."""
        for key, data in self._stored.scan(self.kept.sequence):
            yield key, self._stored.unpack(key, data)
