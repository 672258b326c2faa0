"""The broker's jars in the user's cache: fetched once, checked against the lock, mended when damaged."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_replica.embedded import ivy
from kafka_replica.embedded.cache import cache_dir, explained, locked
from kafka_replica.embedded.java import find_java
from kafka_replica.embedded.lockfile import KAFKA_VERSION, LOCK_PATH, Jar, read_lock
from kafka_replica.errors import EmbeddedKafkaError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafka_replica.embedded.java import Java

_STAMP = "checked.json"
_ROOM_NEEDED_BYTES = 200_000_000


@dataclass(frozen=True, slots=True)
class Installation:
    """A Kafka in the cache.

    Attributes:
        folder: everything of this version; removing it frees the space.
        jars: the broker's jars, all of them checked, in the order of the class path.
        fetched: how many of them this call had to download.
    """

    folder: Path
    jars: tuple[Path, ...]
    fetched: int = 0

    @property
    def class_path(self) -> str:
        """The value of Java's ``-cp``; always spelt alike, as class data archives want it."""
        return os.pathsep.join(str(jar) for jar in self.jars)


def ensure_kafka(java: Java | None = None, progress: Callable[[str], None] | None = None) -> Installation:
    """Apache Kafka in the user's cache, fetched if it is not there (45 MB, mostly under 30 s).

    Only the jars of the lock file are fetched, and only those whose SHA-256 is right are used; a missing or
    damaged one is fetched again. Several processes may call this at once: one fetches, the others wait.

    Args:
        java: runs the download; found with `find_java` if not given.
        progress: called with short sentences while something is downloaded.

    Raises:
        MissingExtraError: a package of the extra ``embedded`` is not installed.
        EmbeddedKafkaError: no Java, no network, no room, or jars that are not the locked ones.
    """
    wanted = read_lock()
    digest = hashlib.sha256(LOCK_PATH.read_bytes()).hexdigest()[:8]
    folder = cache_dir() / f"kafka-{KAFKA_VERSION}-{digest}"
    lib = folder / "lib"
    jars = tuple(lib / jar.file_name for jar in wanted)
    if _unchanged(lib, wanted):
        return Installation(folder, jars)
    doing = f"fetching Kafka {KAFKA_VERSION}"
    with locked(folder.parent / f"{folder.name}.lock", doing=doing), explained(doing, folder):
        lib.mkdir(parents=True, exist_ok=True)
        # Another process may have been here while we waited.
        lacking = [] if _unchanged(lib, wanted) else [j for j in wanted if not j.matches(lib / j.file_name)]
        if lacking:
            _fetch(lacking, len(wanted), lib, java or find_java(), progress or (lambda _: None))
        _write_stamp(lib, wanted)
    return Installation(folder, jars, fetched=len(lacking))


def _fetch(lacking: list[Jar], of: int, lib: Path, java: Java, progress: Callable[[str], None]) -> None:
    """Download `lacking` beside `lib`, check them, and only then move them in."""
    if shutil.disk_usage(lib).free < _ROOM_NEEDED_BYTES:
        raise EmbeddedKafkaError(
            f"while fetching Kafka {KAFKA_VERSION}: less than {_ROOM_NEEDED_BYTES // 1_000_000} MB are free where "
            f"{lib} lies; free some space, or name a folder elsewhere with KAFKA_REPLICA_CACHE"
        )
    progress(
        f"fetching Apache Kafka {KAFKA_VERSION}: {len(lacking)} of {of} jars, "
        f"{sum(jar.size_bytes for jar in lacking) / 1e6:.0f} MB, into {lib}"
    )
    sizes = {jar.file_name: jar.size_bytes for jar in lacking}
    count = 0

    def one_more(file_name: str) -> None:
        nonlocal count
        count += 1
        progress(f"{count}/{len(lacking)} {file_name} ({sizes.get(file_name, 0) / 1e6:.1f} MB)")

    with tempfile.TemporaryDirectory(prefix="fetching-", dir=lib.parent) as name:
        coordinates = [(jar.group, jar.artifact, jar.version) for jar in lacking]
        output = ivy.retrieve(java, coordinates, Path(name), transitive=False, progress=one_more)
        root = Path(name) / "jars"
        come = {jar: _downloaded(root, jar) for jar in lacking}
        missing = [jar for jar, path in come.items() if not path.is_file()]
        if missing:
            raise EmbeddedKafkaError(_why_missing(missing, len(lacking), output))
        for jar, path in come.items():
            if not jar.matches(path):
                raise EmbeddedKafkaError(
                    f"while fetching Kafka {KAFKA_VERSION}: the {jar.file_name} that came is not the locked one "
                    "(its SHA-256 differs), so it is not used; try again, and if it stays so, "
                    f"ask who runs the repository or proxy (or the one named by {ivy.MAVEN_VARIABLE})"
                )
        for jar, path in come.items():
            path.replace(lib / jar.file_name)
    # Java would refuse archives of classes that came from other files.
    for archive in lib.parent.glob("*.classes"):
        archive.unlink()


def _downloaded(root: Path, jar: Jar) -> Path:
    return root / jar.group / jar.artifact / jar.version / jar.file_name


def _why_missing(missing: list[Jar], of: int, output: str) -> str:
    causes = (
        ("No space left on device", "the disk is full; free some space"),
        ("PKIX path", "Java does not trust the server's certificate; set JAVA_HOME to a Java that does"),
        ("UnknownHostException", "the server's name is not known; check the network"),
        ("(?i)timed? ?out", "the server does not answer; check the network"),
        ("(?i)connection refused|unreachable|ConnectException", "no connection; check the network"),
        ("status code: ?407|(?i:proxy auth)", "the proxy wants a password; use a repository within reach"),
    )
    said = next((text for pattern, text in causes if re.search(pattern, output)), None)
    cause = said or f"{missing[0].file_name} was not found"
    return (
        f"while fetching Kafka {KAFKA_VERSION}: {len(missing)} of {of} jars did not come: {cause}, or name "
        f"a Maven repository within reach with {ivy.MAVEN_VARIABLE}, or use a Kafka that runs already with "
        "KAFKA_REPLICA_BOOTSTRAP_SERVERS"
    )


def _unchanged(lib: Path, wanted: tuple[Jar, ...]) -> bool:
    """Whether the jars are the files that were checked last; cheap, as it reads no contents."""
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
