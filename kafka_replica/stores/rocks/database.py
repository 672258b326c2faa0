"""One RocksDB database: the only module that knows rocksdict, and what its errors mean."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from kafka_replica.errors import ConfigurationError, MissingExtraError, StoreDamagedError, StoreError, StoreInUseError

try:
    import rocksdict
except ImportError as error:
    raise MissingExtraError("the store on disk", "rocksdb") from error

_NOT_FOUND = "key not found"
_DAMAGED = ("Corruption", "checksum", "Checksum", "does not exist", "No such file")


@dataclass(frozen=True, slots=True)
class Tuning:
    """What a database may use; sizes in bytes."""

    block_cache_bytes: int = 64 << 20
    write_buffer_bytes: int = 32 << 20
    is_synced: bool = False
    """Whether each version waits until the disk has it: for power cuts. A crash of the process needs no such thing."""

    def __post_init__(self) -> None:
        if self.block_cache_bytes < 0 or self.write_buffer_bytes < 1 << 16:
            raise ConfigurationError(
                "block_cache_bytes is a number of bytes, 0 or more, and write_buffer_bytes at least 65536"
            )

    def options(self) -> rocksdict.Options:
        """As RocksDB wants it."""
        table = rocksdict.BlockBasedOptions()
        table.set_block_cache(rocksdict.Cache(self.block_cache_bytes))
        table.set_bloom_filter(10, block_based=False)
        table.set_cache_index_and_filter_blocks(True)
        table.set_pin_l0_filter_and_index_blocks_in_cache(True)
        options = rocksdict.Options(raw_mode=True)
        options.create_if_missing(True)
        options.set_block_based_table_factory(table)
        options.set_write_buffer_size(self.write_buffer_bytes)
        options.set_max_write_buffer_number(2)
        options.set_max_total_wal_size(4 * self.write_buffer_bytes)
        options.set_keep_log_file_num(2)
        options.set_compression_type(rocksdict.DBCompressionType.lz4())
        return options


class Batch:
    """Writes that happen together or not at all."""

    __slots__ = ("_batch", "delete", "delete_range", "put")

    def __init__(self) -> None:
        self._batch = rocksdict.WriteBatch(raw_mode=True)
        self.put = self._batch.put
        self.delete = self._batch.delete
        self.delete_range = self._batch.delete_range

    def hand_over(self) -> rocksdict.WriteBatch:
        """What rocksdict takes."""
        return self._batch


class View:
    """A database as it was at one moment. Any thread; it keeps the database open."""

    __slots__ = ("_database", "_snapshot")

    def __init__(self, database: Database, snapshot: Any) -> None:
        self._snapshot = snapshot
        self._database = database

    def get(self, key: bytes) -> bytes | None:
        """The value of a key.

        Raises:
            StoreError: it cannot be read.
        """
        try:
            found: bytes = self._snapshot[key]
        except Exception as error:  # noqa: BLE001 - rocksdict has no others
            if str(error) == _NOT_FOUND:
                return None
            self._database.explain(error, "reading")
        return found

    def items(self, first: bytes, end: bytes) -> Iterator[tuple[bytes, bytes]]:
        """What the database holds now, *not* what this view shows; see ``Database.items``."""
        return self._database.items(first, end)


class Database:
    """One folder of RocksDB. One thread writes, any thread reads.

    Args:
        folder: where it is; made if it is not there.
        tuning: what it may use.
        read_only: reads what another process may have open, as it was at this moment.

    Raises:
        StoreInUseError: somebody else has it open.
        StoreDamagedError: it is damaged.
        StoreError: it cannot be opened.
    """

    def __init__(self, folder: Path, tuning: Tuning, *, read_only: bool = False) -> None:
        self.folder = folder
        self.is_unwanted = False
        """Whether the folder is removed when nobody reads it any more."""
        self.is_damaged = False
        """Whether something in it could not be read for what it is."""
        access = rocksdict.AccessType.read_only() if read_only else rocksdict.AccessType.read_write()
        try:
            self._db = rocksdict.Rdict(str(folder), tuning.options(), access_type=access)
        except Exception as error:  # noqa: BLE001
            self.explain(error, "opening")
        self._stat = self.folder.stat()
        self._logged, self._unlogged = rocksdict.WriteOptions(), rocksdict.WriteOptions()
        # Attributes, whatever rocksdict's stubs say.
        self._logged.sync = tuning.is_synced
        self._unlogged.disable_wal = True  # type: ignore[method-assign,assignment]

    def is_here(self) -> bool:
        """Whether its folder is still the one that was opened."""
        try:
            return os.path.samestat(self.folder.stat(), self._stat)
        except OSError:
            return False

    def get(self, key: bytes) -> bytes | None:
        """The newest value of a key.

        Raises:
            StoreError: it cannot be read.
        """
        try:
            found: bytes | None = self._db.get(key)
        except Exception as error:  # noqa: BLE001
            self.explain(error, "reading")
        return found

    def write(self, batch: Batch, *, is_logged: bool = True) -> None:
        """Writes all of it at once.

        Args:
            batch: what.
            is_logged: whether it is there after a crash at once; else after the next ``flush``, whole.

        Raises:
            StoreError: nothing of it was written.
        """
        try:
            self._db.write(batch.hand_over(), self._logged if is_logged else self._unlogged)
        except Exception as error:  # noqa: BLE001
            self.explain(error, "writing")

    def flush(self) -> None:
        """Everything written so far is on disk afterwards.

        Raises:
            StoreError: it could not be written.
        """
        try:
            self._db.flush()
        except Exception as error:  # noqa: BLE001
            self.explain(error, "writing")

    def view(self) -> View:
        """As it is now."""
        return View(self, self._db.snapshot())

    def items(self, first: bytes, end: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Keys from ``first`` to before ``end`` and their values, in order, as they are at this call.

        rocksdict's iterators over a snapshot go through the present instead (0.3.29), so that a version has to be
        told from that by other means.

        Raises:
            StoreError: they cannot be read.
        """
        try:
            entries = self._db.items(from_key=first)  # made now, and shows from then on what there is now
        except Exception as error:  # noqa: BLE001
            self.explain(error, "reading")
        return self._before(entries, end)

    def _before(self, entries: Any, end: bytes) -> Iterator[tuple[bytes, bytes]]:
        while True:
            try:
                entry = next(entries, None)
            except Exception as error:  # noqa: BLE001
                self.explain(error, "reading")
            if entry is None or entry[0] >= end:
                return
            yield entry

    def explain(self, error: Exception, doing: str) -> NoReturn:
        """Raises the error as ours."""
        text = str(error)
        what = f"{doing} the store in {self.folder}: {text}"
        if "lock" in text.lower():
            raise StoreInUseError(f"{what}; another process has it open: close that one, or use a folder of its own")
        if any(sign in text for sign in _DAMAGED):
            self.is_damaged = True
            raise StoreDamagedError(
                f"{what}; files were damaged or removed: check the disk, and start the replica, which builds it anew"
            ) from error
        if "No space" in text:
            raise StoreError(
                f"{what}; the disk is full: make room and start the replica again, it goes on where it was"
            ) from error
        raise StoreError(f"{what}; check that the disk works and that this user may write there") from error

    def __del__(self) -> None:
        if self.is_unwanted:
            database = self.__dict__.pop("_db", None)
            with suppress(Exception):  # it goes to the bin anyway
                database.close()
            shutil.rmtree(self.folder, ignore_errors=True)
