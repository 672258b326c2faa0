"""The folder of a history: a database, and a file that identifies the folder.

HISTORY     the number of the format; written when the database is complete
COMPLETE    exists while every version that readers saw is recorded
database/   the database

The file prevents a store of versions, which would remove an unknown database, from being opened there.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from threading import Lock
from weakref import WeakValueDictionary

from kafka_replica.common.folder_sync import replace_durably
from kafka_replica.common.wording import reason_of
from kafka_replica.errors import ConfigurationError, StoreDamagedError, StoreError, StoreInUseError
from kafka_replica.history.completeness import COMPLETE, UNFINISHED, CompletenessMark
from kafka_replica.history.journal import Journal
from kafka_replica.history.kept_version import DAMAGE_ADVICE
from kafka_replica.stores.rocks.tuning import Tuning

FORMAT = 1
_FILE, _DATABASE = "HISTORY", "database"
_UNFINISHED = f"{_FILE}.new"
_HARMLESS = {
    _FILE, _UNFINISHED, COMPLETE, UNFINISHED, _DATABASE,
    "lost+found",  # exists in the root folder of a volume
}  # fmt: skip

# Journals in use in this process, perhaps after their history was closed: RocksDB opens no database twice.
_open: WeakValueDictionary[Path, Journal] = WeakValueDictionary()
_opening = Lock()


def open_journal(path: Path, tuning: Tuning) -> Journal:
    """Open the history in a folder, or create one.

    Raises:
        ConfigurationError: the folder holds other things.
        StoreInUseError: another history uses the folder.
        StoreDamagedError: the history is damaged.
        StoreError: the history cannot be opened, or was written by a newer version of kafka_replica.
    """
    with _opening:
        journal = _open.get(path)
        if journal is not None and journal.database.is_here() and not journal.database.is_damaged:
            if journal.is_claimed:
                raise StoreInUseError(f"opening the history in {path}: it is already open; use that one, or close it")
            journal.database.sync_always(tuning.is_synced)
            journal.database.wait_until_resumed()
            journal.is_claimed = True
            journal.discard_unfinished()
        else:
            journal = _open[path] = _opened(path, tuning)
        return journal


def _opened(path: Path, tuning: Tuning) -> Journal:
    file, database = path / _FILE, path / _DATABASE
    try:
        path.mkdir(parents=True, exist_ok=True)
        others = [each.name for each in path.iterdir() if each.name not in _HARMLESS]
        if others:
            raise ConfigurationError(f"{path} contains other files than a history ({others[0]}); use an empty folder")
        if file.exists():
            _check_format(path, file.read_text(encoding="utf-8"))
            return Journal(database, tuning, must_exist=True)
        if _has_versions(database, tuning):
            raise StoreDamagedError(f"opening the history in {path}: {_FILE} is missing; {DAMAGE_ADVICE}")
        shutil.rmtree(database, ignore_errors=True)  # its creation was interrupted
        journal = Journal(database, tuning, must_exist=False)
        journal.database.flush()
        CompletenessMark(path).create()
        replace_durably(file, json.dumps({"format": FORMAT}), path / _UNFINISHED)
    except OSError as error:
        raise StoreError(f"opening the history in {path}: {reason_of(error)}; use a writable folder") from error
    return journal


def _has_versions(database: Path, tuning: Tuning) -> bool:
    """Return whether a database without the file that identifies it has, or may have, versions."""
    if not database.exists():
        return False
    try:
        return Journal(database, tuning, must_exist=True).newest is not None
    except StoreInUseError:
        raise
    except StoreError:  # the creation of a database that has no data yet may have been interrupted at any moment
        return any(database.glob("*.sst"))


def _check_format(path: Path, text: str) -> None:
    try:
        number = json.loads(text)["format"]
    except (ValueError, KeyError, TypeError) as error:
        raise StoreDamagedError(f"opening the history in {path}: {_FILE} is damaged; {DAMAGE_ADVICE}") from error
    if type(number) is not int or number < 1:
        raise StoreDamagedError(f"opening the history in {path}: {_FILE} is damaged; {DAMAGE_ADVICE}")
    if number > FORMAT:
        raise StoreError(
            f"the history in {path} has format {number}, this version of kafka_replica writes {FORMAT}: use a newer "
            "version, or another folder"
        )
