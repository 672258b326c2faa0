"""Install the broker's jars in the user's cache: download them once, and replace jars that do not match the lock."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafka_replica.embedded.cache import cache_dir, fresh_folder, is_not_writable, locked, os_errors_translated
from kafka_replica.embedded.download import download_jars
from kafka_replica.embedded.errors import EmbeddedKafkaError
from kafka_replica.embedded.lockfile import KAFKA_VERSION, LOCK_PATH, Jar, read_lock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_STAMP = "checked.json"
_ROOM_NEEDED_BYTES = 200_000_000


@dataclass(frozen=True, slots=True)
class Installation:
    """A Kafka installation in the cache.

    Attributes:
        folder: the folder of this version, which may be removed to free the space.
        jars: the broker's checked jars, in class path order.
        download_count: the number of jars that were downloaded just now.
    """

    folder: Path
    jars: tuple[Path, ...]
    download_count: int = 0

    @property
    def class_path(self) -> str:
        """The value of Java's option ``-cp``, always in the same form, because archives of classes require this."""
        return os.pathsep.join(str(jar) for jar in self.jars)


def ensure_kafka(progress: Callable[[str], None] | None = None) -> Installation:
    """Return Apache Kafka in the user's cache, and download it if it is missing (45 MB, usually less than 30 s).

    Only the jars in the lock file are downloaded, and only jars with the right SHA-256 are used; a missing or
    damaged jar is downloaded again. A complete cache that cannot be written is used as it is. If several processes
    call this at the same time, one downloads and the others wait.

    Args:
        progress: is called with short messages during a download.

    Raises:
        MissingExtraError: a package of the extra ``embedded`` is not installed.
        EmbeddedKafkaError: a jar cannot be downloaded or does not match the lock, or there is no disk space.
    """
    wanted = read_lock()
    digest = hashlib.sha256(LOCK_PATH.read_bytes()).hexdigest()[:8]
    folder = cache_dir() / f"kafka-{KAFKA_VERSION}-{digest}"
    lib = folder / "lib"
    jars = tuple(lib / jar.file_name for jar in wanted)
    if _unchanged(lib, wanted):
        return Installation(folder, jars)
    try:
        return Installation(folder, jars, _ensure(wanted, lib, progress or (lambda _: None)))
    except EmbeddedKafkaError as error:
        if is_not_writable(error) and all(jar.matches(lib / jar.file_name) for jar in wanted):
            return Installation(folder, jars)
        raise


def _ensure(wanted: tuple[Jar, ...], lib: Path, progress: Callable[[str], None]) -> int:
    """Download the jars that are missing in `lib` or damaged; return their number."""
    folder = lib.parent
    doing = f"fetching Kafka {KAFKA_VERSION}"
    with locked(folder.parent / f"{folder.name}.lock", doing=doing), os_errors_translated(doing, folder):
        lib.mkdir(parents=True, exist_ok=True)
        # Another process may have downloaded the jars while this one waited for the lock.
        lacking = [] if _unchanged(lib, wanted) else [j for j in wanted if not j.matches(lib / j.file_name)]
        if lacking:
            _fetch(lacking, len(wanted), lib, progress)
        _write_stamp(lib, wanted)
    return len(lacking)


def _fetch(lacking: list[Jar], of: int, lib: Path, progress: Callable[[str], None]) -> None:
    """Download jars to a temporary folder, and move them into `lib` when all are complete."""
    if shutil.disk_usage(lib).free < _ROOM_NEEDED_BYTES:
        raise EmbeddedKafkaError(
            f"while fetching Kafka {KAFKA_VERSION}: less than {_ROOM_NEEDED_BYTES // 1_000_000} MB are free in "
            f"{lib}; free some space, or set another folder with KAFKA_REPLICA_CACHE"
        )
    progress(
        f"fetching Apache Kafka {KAFKA_VERSION}: {len(lacking)} of {of} jars, "
        f"{sum(jar.size_bytes for jar in lacking) / 1e6:.0f} MB, into {lib}"
    )

    def report(jar: Jar) -> None:
        progress(f"{lacking.index(jar) + 1}/{len(lacking)} {jar.file_name} ({jar.size_bytes / 1e6:.1f} MB)")

    with fresh_folder("fetching-", lib.parent) as fetched:
        download_jars(lacking, fetched, report)
        for jar in lacking:
            (fetched / jar.file_name).replace(lib / jar.file_name)
    # Java rejects archives of classes from other jars, so they must be created again.
    for archive in lib.parent.glob("*.classes"):
        archive.unlink()


def _unchanged(lib: Path, wanted: tuple[Jar, ...]) -> bool:
    """Return whether the jars are unchanged since their last check, by their sizes and times, not their contents."""
    try:
        stamp = json.loads((lib / _STAMP).read_text(encoding="utf-8"))
        return bool(stamp == _state(lib, wanted))
    except (OSError, ValueError):
        return False


def _state(lib: Path, wanted: tuple[Jar, ...]) -> dict[str, list[int | str]]:
    state: dict[str, list[int | str]] = {}
    for jar in wanted:
        stat = (lib / jar.file_name).stat()
        state[jar.file_name] = [jar.sha256, stat.st_size, stat.st_mtime_ns]
    return state


def _write_stamp(lib: Path, wanted: tuple[Jar, ...]) -> None:
    fresh = lib / f".{_STAMP}.{os.getpid()}"
    fresh.write_text(json.dumps(_state(lib, wanted)), encoding="utf-8")
    fresh.replace(lib / _STAMP)
