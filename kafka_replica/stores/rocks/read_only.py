"""Read a store that another process may be writing at the same time."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from kafka_replica.errors import StoreDamagedError, StoreError
from kafka_replica.stores.rocks.database import Database
from kafka_replica.stores.rocks.folder import StoreFolder
from kafka_replica.stores.rocks.generation import Generation
from kafka_replica.stores.rocks.tuning import Tuning

_LOOKS = 100
_PAUSE_S = 0.02
_NOT_DATA = ("LOCK", "LOG", "rocksdict-config")  # files of RocksDB and rocksdict other than data


def open_read_only(folder: StoreFolder, tuning: Tuning) -> Generation:
    """Open the current state.

    RocksDB opens a database in steps: first the list of its files, then the files, then its log. Data that moved from
    the log to a file in between is found in neither, and files that the writer replaced are gone. In both cases, the
    list of files has changed afterwards, and this function starts over.

    Raises:
        StoreDamagedError: the store is damaged.
        StoreError: there is no store, or the store cannot be opened.
    """
    for _ in range(_LOOKS):
        before = _state_marker(folder)
        try:
            generation = _open(folder, tuning)
        except StoreDamagedError:
            if _state_marker(folder) == before:
                raise
        else:
            if _state_marker(folder) == before:
                return generation
        time.sleep(_PAUSE_S)
    raise StoreError(f"reading the store in {folder.path}: it changed constantly; try again")


def _open(folder: StoreFolder, tuning: Tuning) -> Generation:
    database = folder.current()
    if database is None:
        raise StoreError(
            f"reading the store in {folder.path}: it contains no version; give the folder of a store, and wait "
            "until its replica is ready"
        )
    return Generation(Database(database, tuning, must_exist=True, links=_links_to(database)), is_ours=False)


def _links_to(database: Path) -> Path:
    """Create a temporary folder of links to the files of a database.

    rocksdict writes a file of its own when it opens a database, even for reading only. That file must not be in a
    folder that another process uses, and cannot be on a read-only file system.

    Raises:
        StoreDamagedError: the database no longer exists.
        StoreError: this process may not read the database, or the links cannot be created.
    """
    doing = f"reading the store in {database.parent}"
    try:
        files = [file for file in database.iterdir() if not file.name.startswith(_NOT_DATA)]
    except FileNotFoundError as error:
        raise StoreDamagedError(f"{doing}: {database.name} no longer exists; try again") from error
    except OSError as error:
        raise StoreError(f"{doing}: {error}; check that this user may read there") from error
    try:
        links = Path(tempfile.mkdtemp(prefix="kafka-replica-"))
        for file in files:
            (links / file.name).symlink_to(file)
    except OSError as error:
        raise StoreError(f"{doing}: {error}; set TMPDIR to a folder that can be written") from error
    return links


def _state_marker(folder: StoreFolder) -> list[tuple[Any, ...]]:
    """Return a value that changes whenever the current database or its list of files changes."""
    try:
        database = folder.current()
    except StoreDamagedError:
        database = None
    return [_file_marker(file) for file in [folder.path / "CURRENT", *_lists_of(database)]]


def _lists_of(database: Path | None) -> list[Path]:
    """Return RocksDB's lists of files of a database; none if the writer has just removed it."""
    try:
        files = [] if database is None else sorted(database.iterdir())
    except FileNotFoundError:
        return []
    return [file for file in files if file.name.startswith("MANIFEST-")]


def _file_marker(file: Path) -> tuple[Any, ...]:
    try:
        stat = file.stat()
    except OSError:
        return (file,)
    return file, stat.st_ino, stat.st_mtime_ns, stat.st_size
