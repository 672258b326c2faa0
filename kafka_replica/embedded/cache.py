"""The folders in which the embedded broker keeps downloaded and generated files, and their locks."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_replica.embedded.errors import EmbeddedKafkaError
from kafka_replica.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator

CACHE_VARIABLE = "KAFKA_REPLICA_CACHE"
STATE_VARIABLE = "KAFKA_REPLICA_STATE"
_CACHE_SETTINGS = f"{CACHE_VARIABLE} or TMPDIR"
_NOT_WRITABLE = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


def cache_dir() -> Path:
    """Return the folder for downloaded files, which may be removed while no broker is running.

    The environment variable ``KAFKA_REPLICA_CACHE`` names the folder; the default is the user's cache folder.

    Raises:
        MissingExtraError: platformdirs is not installed.
        EmbeddedKafkaError: the user has no home folder.
    """
    return _folder(CACHE_VARIABLE, "cache")


def state_dir() -> Path:
    """Return the folder with records of brokers started from the command line (``KAFKA_REPLICA_STATE``).

    Raises:
        MissingExtraError: platformdirs is not installed.
        EmbeddedKafkaError: the user has no home folder.
    """
    return _folder(STATE_VARIABLE, "state")


def _folder(variable: str, kind: str) -> Path:
    named = os.environ.get(variable)
    try:
        folder = Path(named).expanduser() if named else _platformdirs_path(kind).expanduser()
    except RuntimeError as error:
        raise EmbeddedKafkaError(
            f"while looking for the {kind} folder of the embedded Kafka: the user has no home folder ({error}); "
            f"name a folder with {variable}"
        ) from error
    return folder.absolute()


def _platformdirs_path(kind: str) -> Path:
    try:
        import platformdirs  # noqa: PLC0415 - an optional package
    except ImportError:
        raise MissingExtraError("The embedded Kafka broker", "embedded") from None
    if kind == "cache":
        return platformdirs.user_cache_path("kafka-replica")
    return platformdirs.user_state_path("kafka-replica")


@contextmanager
def locked(path: Path, *, doing: str, timeout_s: float = 900.0, setting: str = _CACHE_SETTINGS) -> Iterator[None]:
    """Hold the lock file `path` during the block, against other threads and processes of this machine.

    Args:
        path: the lock file.
        doing: the action that needs the lock, for errors.
        timeout_s: the time to wait for the lock, in seconds.
        setting: the setting that names the folder of the lock file, for errors.

    Raises:
        EmbeddedKafkaError: the lock was not available within `timeout_s`, or its folder cannot be written.
    """
    from filelock import FileLock, Timeout  # noqa: PLC0415 - it imports asyncio, and is rarely needed

    with os_errors_translated(doing, path, setting):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path, timeout=timeout_s)
        try:
            lock.acquire()
        except Timeout:
            raise EmbeddedKafkaError(
                f"while {doing}: another process has held {path} for {timeout_s:.0f} s; "
                "wait until it finishes, or end it if it hangs"
            ) from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def fresh_folder(prefix: str, parent: Path) -> Iterator[Path]:
    """Create a folder that is removed after the block, and remove those of earlier processes that were killed.

    The caller must hold a lock, so that no other process is using folders with this prefix.

    Args:
        prefix: the beginning of the folder's name.
        parent: the folder in which to create it.
    """
    for left_behind in parent.glob(f"{prefix}*"):
        shutil.rmtree(left_behind, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=parent, ignore_cleanup_errors=True) as name:
        yield Path(name)


def is_not_writable(error: EmbeddedKafkaError) -> bool:
    """Return whether an error was caused by a missing permission to write."""
    return isinstance(error.__cause__, OSError) and error.__cause__.errno in _NOT_WRITABLE


@contextmanager
def os_errors_translated(doing: str, where: Path, setting: str = _CACHE_SETTINGS) -> Iterator[None]:
    """Translate an OSError inside the block to an exception of this package, with advice.

    Args:
        doing: the action in the block, for errors.
        where: the path to name if the error names none.
        setting: the setting that names the folder, for errors.

    Raises:
        EmbeddedKafkaError: a file operation failed (full disk, no permission and so on).
    """
    try:
        yield
    except OSError as error:
        place = error.filename2 or error.filename or where
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            advice = f"free some space there, or name a folder elsewhere with {setting}"
        elif error.errno in _NOT_WRITABLE:
            advice = f"make it writable, or name another folder with {setting}"
        elif error.errno in {errno.EEXIST, errno.ENOTDIR}:
            advice = f"a file has the name of a required folder; remove it, or name another folder with {setting}"
        else:
            advice = "check that path, then try again"
        raise EmbeddedKafkaError(f"while {doing}: {error.strerror or error} ({place}); {advice}") from error
