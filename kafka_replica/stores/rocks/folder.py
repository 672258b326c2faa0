"""The folder of a store on disk: its lock, and which of its databases is the current one.

CURRENT                  the name of the current database, and the number of the format
kafka-replica.lock
database-8c1f0a92b7de/   a database; others are being built, or have readers that still hold an older version

Database names are globally unique: RocksDB writes files by name even while it is being closed, and must not write into
another store's folder if its own folder was removed meanwhile.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Collection
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout

from kafka_replica.common.folder_sync import replace_durably, sync_folder
from kafka_replica.common.wording import reason_of
from kafka_replica.errors import ConfigurationError, StoreDamagedError, StoreError, StoreInUseError

FORMAT = 1
_CURRENT, _NEXT, _LOCK = "CURRENT", "CURRENT.next", "kafka-replica.lock"
_DATABASE = re.compile(r"database-[0-9a-f]{12}")  # strict: matching folders may be removed
_HARMLESS = {_CURRENT, _NEXT, _LOCK, "lost+found"}  # the last exists in the root folder of a volume


class StoreFolder:
    """The folder of a store, for one store at a time.

    Raises:
        ConfigurationError: the folder holds other things.
        StoreInUseError: another store uses the folder.
        StoreError: the folder cannot be written.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._lock = FileLock(path / _LOCK, thread_local=False)  # another thread may close the store
        if read_only:
            return
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._refuse_others()
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise StoreInUseError(
                f"opening the store in {path}: another replica uses it; give each replica its own folder, or open it "
                "with "
                "read_only=True"
            ) from error
        except OSError as error:
            raise StoreError(
                f"opening the store in {path}: {error.strerror}; use a folder that can be created"
            ) from error

    def current(self) -> Path | None:
        """Return the current database, if there is one.

        Raises:
            StoreDamagedError: the content of the folder is damaged.
            StoreError: the store was written by a newer version of kafka_replica, or cannot be read.
        """
        try:
            plain = json.loads((self.path / _CURRENT).read_text(encoding="utf-8"))
            number, name = plain["format"], plain["database"]
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(
                f"opening the store in {self.path}: {reason_of(error)}; check that this user may read there"
            ) from error
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged(f"{_CURRENT} is damaged ({error!r})") from error
        if type(number) is not int or number < 1 or not isinstance(name, str):
            raise self._damaged(f"{_CURRENT} is damaged")
        if number > FORMAT:
            raise StoreError(
                f"the store in {self.path} has format {number}, this version of kafka_replica writes {FORMAT}: use a "
                "newer version, or another folder"
            )
        if not _DATABASE.fullmatch(name) or not (self.path / name).is_dir():
            raise self._damaged(f"there is no database {name!r}")
        return self.path / name

    def new(self) -> Path:
        """Return the path for a new database."""
        return self.path / f"database-{uuid4().hex[:12]}"

    def switch(self, database: Path) -> None:
        """Make a database the current one, atomically even in case of a crash or a power cut.

        Raises:
            StoreError: the write failed; the previous database is still current.
        """
        try:
            text = json.dumps({"format": FORMAT, "database": database.name})
            replace_durably(self.path / _CURRENT, text, self.path / _NEXT)
        except OSError as error:
            raise StoreError(
                f"writing {self.path / _CURRENT}: {error.strerror}; free some disk space and restart the replica"
            ) from error

    def forget(self) -> None:
        """Remove the reference to the current database.

        Raises:
            StoreError: the reference could not be removed.
        """
        try:
            (self.path / _CURRENT).unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(
                f"removing {self.path / _CURRENT}: {error.strerror}; check that this user may write there"
            ) from error
        sync_folder(self.path)

    def sweep(self, kept: Collection[Path]) -> None:
        """Remove databases that were never finished, or have no more readers."""
        for name in self._names():
            if _DATABASE.fullmatch(name) and self.path / name not in kept:
                shutil.rmtree(self.path / name, ignore_errors=True)

    def release(self) -> None:
        """Release the lock of the folder. Idempotent."""
        self._lock.release()

    # --- helpers ---

    def _refuse_others(self) -> None:
        others = [name for name in self._names() if name not in _HARMLESS and not _DATABASE.fullmatch(name)]
        if others:
            raise ConfigurationError(
                f"{self.path} contains other files than a store ({others[0]}); use a new or empty folder"
            )

    def _names(self) -> list[str]:
        return [path.name for path in self.path.iterdir()]

    def _damaged(self, what: str) -> StoreDamagedError:
        return StoreDamagedError(
            f"opening the store in {self.path}: {what}; check the disk; a replica that uses it rebuilds it"
        )
