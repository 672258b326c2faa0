"""The folder of a store on disk: whose it is, and which of the databases in it is the present one.

CURRENT           the name of the present database, and the number of the format
kafka-replica.lock
000001/           a database; others are being built, or are read by the last who hold an older version
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from kafka_replica.errors import ConfigurationError, MissingExtraError, StoreDamagedError, StoreError, StoreInUseError

try:
    from filelock import FileLock, Timeout
except ImportError as error:
    raise MissingExtraError("the store on disk", "rocksdb") from error

FORMAT = 1
_CURRENT, _NEXT, _LOCK = "CURRENT", "CURRENT.next", "kafka-replica.lock"


class Folder:
    """A store's folder, for one store at a time.

    Raises:
        ConfigurationError: there are other things in it.
        StoreInUseError: another store has it.
        StoreError: it cannot be written.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._lock = FileLock(path / _LOCK)
        if read_only:
            return
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._refuse_others()
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise StoreInUseError(
                f"opening the store in {path}: another replica has it; give each a folder of its own, or open it with "
                "read_only=True"
            ) from error
        except OSError as error:
            raise StoreError(
                f"opening the store in {path}: {error.strerror}; name a folder that can be made"
            ) from error

    def _refuse_others(self) -> None:
        others = [name for name in self._names() if name not in {_CURRENT, _NEXT, _LOCK} and not name.isdigit()]
        if others:
            raise ConfigurationError(
                f"{self.path} holds other things than a store ({others[0]}); name a folder that is empty, or new"
            )

    def current(self) -> Path | None:
        """The present database, if there is one.

        Raises:
            StoreDamagedError: what is there cannot be understood.
            StoreError: it was written by a newer version of kafka_replica.
        """
        try:
            text = (self.path / _CURRENT).read_text()
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise StoreDamagedError(f"opening the store in {self.path}: {error}; it is built anew") from error
        try:
            plain = json.loads(text)
            number, name = int(plain["format"]), str(plain["database"])
        except (ValueError, KeyError, TypeError) as error:
            raise StoreDamagedError(f"opening the store in {self.path}: {error!r}; it is built anew") from error
        if number > FORMAT:
            raise StoreError(
                f"the store in {self.path} has format {number}, this version of kafka_replica writes {FORMAT}: use a "
                "newer version, or another folder"
            )
        if not (self.path / name).is_dir():
            raise StoreDamagedError(f"opening the store in {self.path}: {name} is gone; it is built anew")
        return self.path / name

    def new(self, others: Iterable[Path]) -> Path:
        """Where the next database may be made; ``others`` may have been removed and still be open."""
        names = [*self._names(), *(path.name for path in others)]
        numbers = [int(name) for name in names if name.isdigit()]
        return self.path / f"{max(numbers, default=0) + 1:06}"

    def switch(self, database: Path) -> None:
        """From now on this database is the present one, also after a crash at any instant.

        Raises:
            StoreError: it could not be written; the other one still is.
        """
        try:
            with (self.path / _NEXT).open("w") as file:
                json.dump({"format": FORMAT, "database": database.name}, file)
                file.flush()
                os.fsync(file.fileno())
            (self.path / _NEXT).replace(self.path / _CURRENT)
        except OSError as error:
            raise StoreError(
                f"writing {self.path / _CURRENT}: {error.strerror}; make room and start the replica again"
            ) from error

    def sweep(self, present: Path | None) -> None:
        """Removes databases that were never finished, or are not read any more."""
        for name in self._names():
            if name.isdigit() and self.path / name != present:
                shutil.rmtree(self.path / name, ignore_errors=True)

    def _names(self) -> list[str]:
        return [path.name for path in self.path.iterdir()]

    def release(self) -> None:
        """Others may have it. Idempotent."""
        self._lock.release()
