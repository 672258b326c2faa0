"""Translate RocksDB's errors into our exceptions, with advice."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from kafka_replica.errors import StoreDamagedError, StoreError, StoreInUseError


class Advice(NamedTuple):
    """The advice in the messages of errors, which depends on the purpose of a database; ``name`` is what it holds."""

    name: str = "the store"
    damaged: str = "check the disk; a replica that uses it rebuilds it"
    full: str = "free some disk space and restart the replica; it resumes from its last version"


STORE_ADVICE = Advice()

_IN_USE = ("lock hold by", "While lock file")
_FULL = ("No space left", "File too large", "quota exceeded")
_DAMAGED = ("Corruption", "checksum", "does not exist", "No such file")


def is_full(error: Exception, folder: Path) -> bool:
    """Return whether rocksdict's error reports that the disk is full."""
    return any(sign in _signs(error, folder) for sign in _FULL)


def translate_error(error: Exception, doing: str, folder: Path, advice: Advice = STORE_ADVICE) -> StoreError:
    """Return our exception for rocksdict's error.

    Args:
        error: the exception from rocksdict, which contains only text.
        doing: the current operation, such as "reading".
        folder: the folder of the database.
        advice: what to do about it.
    """
    signs = _signs(error, folder)
    what = f"{doing} {advice.name} in {folder}: {' '.join(str(error).split())}"
    if any(sign in signs for sign in _IN_USE):
        return StoreInUseError(
            f"{what}; it is already open, in another process or for a snapshot still in use: release it there, "
            "or use another folder"
        )
    if any(sign in signs for sign in _FULL):
        return StoreError(f"{what}; the disk is full: {advice.full}")
    if any(sign in signs for sign in _DAMAGED):
        return StoreDamagedError(f"{what}; files were damaged or removed: {advice.damaged}")
    return StoreError(f"{what}; check that the disk works and that this user may write there")


def _signs(error: Exception, folder: Path) -> str:
    return " ".join(str(error).split()).replace(str(folder), "")  # a folder's name could contain any of the signs
