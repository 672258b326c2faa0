"""Read a version of a store that another process may be writing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from kafka_replica.errors import StoreError
from kafka_replica.records import NOWHERE
from kafka_replica.stores.checkpoint import load
from kafka_replica.stores.contract import Snapshot
from kafka_replica.stores.memory_snapshot import MemorySnapshot, PresentRecords, Version


class StoredVersion(NamedTuple):
    """The current version of a store.

    Attributes:
        snapshot: the version.
        has_key_spaces: whether each topic has its own key space, so that ``snapshot.of`` returns the keys of a topic.
    """

    snapshot: Snapshot
    has_key_spaces: bool


def look(path: str | os.PathLike[str]) -> StoredVersion:
    """Return the current version of a store on disk (a folder) or a checkpoint (a file), which others may be writing.

    Raises:
        MissingExtraError: the path is the folder of a store, and the extra ``rocksdb`` is not installed.
        StoreDamagedError: the data is damaged.
        StoreError: there is nothing readable at the path.
    """
    where = Path(path)
    if where.is_dir():
        from kafka_replica.stores.rocks import RocksStore  # noqa: PLC0415 - needs an extra

        store = RocksStore(where, read_only=True)
        stored = store.resume_point
        return StoredVersion(store.snapshot(), stored is not None and stored.has_key_spaces)
    try:
        found = load(where)
    except OSError as error:
        raise StoreError(
            f"reading the store in {where}: {error.strerror}; give the folder of a store, or a checkpoint file, "
            "that this user may read"
        ) from error
    resume_point = found.note.resume_point
    version = Version(found.note.version, resume_point.position, len(found.records), resume_point)
    snapshot = MemorySnapshot(PresentRecords(found.records, NOWHERE, found.saved), version)
    return StoredVersion(snapshot, resume_point.has_key_spaces)
