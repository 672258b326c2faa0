"""Counts and sizes of a history, for metrics."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from kafka_replica.errors import KafkaReplicaError
from kafka_replica.history.journal import Journal


@dataclass(frozen=True, slots=True)
class HistoryStats:
    """Counts and sizes of a history; sizes in bytes."""

    versions: int
    """The number of versions that are kept."""
    keys: int
    """The number of keys of the newest version."""
    live_bytes: int
    """The size of the keys and records of the newest version, before compression."""
    replaced_bytes: int
    """The size of the keys and records that older versions have in addition, before compression."""
    disk_bytes: int
    """The size of the files."""
    held_snapshots: int
    """The number of snapshots in use, whose records are not removed."""
    failures: int
    """The number of failed attempts to record versions since the history was opened."""
    recording_error: str | None
    """The reason why the newest versions are not recorded; None if they are."""

    @classmethod
    def of(cls, journal: Journal, failures: int, error: KafkaReplicaError | None) -> Self:
        """Return the counts and sizes of a journal.

        Raises:
            StoreError: the journal cannot be read.
        """
        catalogue = journal.catalogue()
        oldest, newest = (catalogue.stored(at) if at else None for at in (catalogue.oldest, catalogue.newest))
        return cls(
            versions=catalogue.newest - catalogue.oldest + 1 if newest is not None else 0,
            keys=0 if newest is None else newest.version.keys,
            live_bytes=0 if newest is None else newest.live_bytes,
            replaced_bytes=0 if newest is None or oldest is None else newest.replaced_bytes - oldest.replaced_bytes,
            disk_bytes=_size_of(journal.database.folder),
            held_snapshots=journal.held,
            failures=failures,
            recording_error=None if error is None else str(error),
        )


def _size_of(folder: Path) -> int:
    size = 0
    for file in folder.iterdir():
        with suppress(OSError):  # RocksDB may remove files at any moment
            size += file.stat().st_size
    return size
