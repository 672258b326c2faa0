"""What RocksDB's errors mean, and what to do about each."""

from __future__ import annotations

from pathlib import Path

from kafka_replica.errors import StoreDamagedError, StoreError, StoreInUseError

_IN_USE = ("lock hold by", "While lock file")
_FULL = ("No space left", "File too large", "quota exceeded")
_DAMAGED = ("Corruption", "checksum", "does not exist", "No such file")


def is_full(error: Exception, folder: Path) -> bool:
    """Return whether rocksdict's error says that there is no room for a file."""
    return any(sign in _signs(error, folder) for sign in _FULL)


def explained(error: Exception, doing: str, folder: Path) -> StoreError:
    """The error as ours.

    Args:
        error: what rocksdict raised; all that it tells is text.
        doing: what was being done to the store, such as "reading".
        folder: where the database is.
    """
    signs = _signs(error, folder)
    what = f"{doing} the store in {folder}: {' '.join(str(error).split())}"
    if any(sign in signs for sign in _IN_USE):
        return StoreInUseError(
            f"{what}; it is open already, in another process or for a snapshot that is still held: let go of it there, "
            "or use a folder of its own"
        )
    if any(sign in signs for sign in _FULL):
        return StoreError(f"{what}; the disk is full: make room and start the replica again, it goes on where it was")
    if any(sign in signs for sign in _DAMAGED):
        return StoreDamagedError(
            f"{what}; files were damaged or removed: check the disk, and start the replica, which builds it anew"
        )
    return StoreError(f"{what}; check that the disk works and that this user may write there")


def _signs(error: Exception, folder: Path) -> str:
    return " ".join(str(error).split()).replace(str(folder), "")  # a folder's name may read like anything
