"""Read a version of a store that another process may be writing."""

from __future__ import annotations

import os
from pathlib import Path

from kafka_replica.errors import StoreError
from kafka_replica.stores.checkpoint import load
from kafka_replica.stores.contract import Snapshot
from kafka_replica.stores.memory_snapshot import NOWHERE, MemorySnapshot, PresentRecords, Version


def look(path: str | os.PathLike[str]) -> Snapshot:
    """Return the current version of a store on disk (a folder) or a checkpoint (a file), which others may be writing.

    Raises:
        MissingExtraError: the path is the folder of a store, and the extra ``rocksdb`` is not installed.
        StoreDamagedError: the data is damaged.
        StoreError: there is nothing readable at the path.
    """
    where = Path(path)
    if where.is_dir():
        from kafka_replica.stores.rocks import RocksStore  # noqa: PLC0415 - needs an extra

        return RocksStore(where, read_only=True).snapshot()
    try:
        found = load(where)
    except OSError as error:
        raise StoreError(
            f"reading the store in {where}: {error.strerror}; give the folder of a store, or a checkpoint file, "
            "that this user may read"
        ) from error
    resume_point = found.note.resume_point
    version = Version(found.note.version, resume_point.position, len(found.records), resume_point)
    return MemorySnapshot(PresentRecords(found.records, NOWHERE, found.saved), version)
