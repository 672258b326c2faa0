"""Prepare quick starts: an archive of loaded classes, created in the cache once for each Kafka and Java."""

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING

from kafka_replica.embedded import ports, wire
from kafka_replica.embedded.cache import fresh_folder, is_not_writable, locked, os_errors_translated
from kafka_replica.embedded.errors import EmbeddedKafkaError
from kafka_replica.embedded.launch import BrokerOptions, Launcher
from kafka_replica.embedded.process import SupervisorProcess

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kafka_replica.embedded.install import Installation
    from kafka_replica.embedded.java import Java

_AOT_SINCE = 25
_DOING = "preparing a quick start of Kafka"
_OPTIONS = BrokerOptions(
    settings={}, jvm_options=(), heap_mb=256, log_level="WARN", format_options=(), start_timeout_s=60.0
)
_TRIES = 5
_MOST_FAILURES = 3  # a start that fails takes long
_ENDING_S = 120.0  # Java writes the archive when it ends
_UNKNOWN_OPTION = "Unrecognized VM option"


def class_archive_options(
    java: Java, installation: Installation, progress: Callable[[str], None] | None = None
) -> list[str]:
    """Return the JVM options for the archive of loaded classes, and create the archive if necessary.

    Creating it takes some seconds, once. The options are empty if this Java cannot create an archive, if creating it
    failed this time, or if the cache cannot be written; each start then takes a second longer.

    Raises:
        EmbeddedKafkaError: the cache cannot be written for another reason than missing permission, such as a full disk.
    """
    archive = _archive_path(java, installation)
    try:
        _ensure(java, installation, archive, progress or (lambda _: None))
    except EmbeddedKafkaError as error:
        if not is_not_writable(error):
            raise
    return reading_options(java, archive) if archive.is_file() else []


def writing_option(java: Java, archive: Path) -> str:
    """Return the JVM option with which a program writes the classes that it has loaded to an archive when it ends."""
    return f"-XX:{'AOTCacheOutput' if java.version >= _AOT_SINCE else 'ArchiveClassesAtExit'}={archive}"


def reading_options(java: Java, archive: Path) -> list[str]:
    """Return the JVM options with which a program loads its classes from an archive, as far as it fits."""
    if java.version >= _AOT_SINCE:
        return [f"-XX:AOTCache={archive}"]
    return [f"-XX:SharedArchiveFile={archive}", "-Xshare:auto"]


def _ensure(java: Java, installation: Installation, archive: Path, progress: Callable[[str], None]) -> None:
    """Create the archive, unless there is one, or a file that says that this Java creates none."""
    refused, failed = archive.with_suffix(".refused"), archive.with_suffix(".failed")
    if archive.is_file() or refused.is_file():
        return
    with locked(archive.with_suffix(".lock"), doing=_DOING), os_errors_translated(_DOING, archive):
        if archive.is_file() or refused.is_file():
            return
        progress(f"{_DOING} with Java {java.version} (some seconds, once)")
        with fresh_folder(f"training-{archive.stem}-", installation.folder) as folder:
            made = folder / "archive"
            try:
                _train(java, installation, folder, made)
            except EmbeddedKafkaError as error:
                failures = failed.stat().st_size + 1 if failed.is_file() else 1
                failed.write_text("." * failures, encoding="utf-8")
                if _UNKNOWN_OPTION not in str(error) and failures < _MOST_FAILURES:
                    progress(f"{_DOING} failed; the next start tries again: {error}")
                    return
            if made.is_file():
                made.replace(archive)
                return
        refused.write_text("This Java created no archive; remove this file to try again.\n", encoding="utf-8")


def _archive_path(java: Java, installation: Installation) -> Path:
    """Return the path of this Java's archive, which changes when Java is upgraded in the same folder."""
    parts = [str(java.home), str(java.version)]
    for name in ("release", "lib/modules"):
        with contextlib.suppress(OSError):
            stat = (java.home / name).stat()
            parts += [str(stat.st_size), str(stat.st_mtime_ns)]
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:10]
    return installation.folder / f"java{java.version}-{key}.classes"


def _train(java: Java, installation: Installation, folder: Path, made: Path) -> None:
    """Run a broker once in a folder, so that Java writes the loaded classes to the file `made` when it ends.

    Raises:
        EmbeddedKafkaError: the broker did not start, answer or end.
    """
    supervised = SupervisorProcess(folder, 0.0)
    try:
        launcher = Launcher(java, installation, _OPTIONS, supervised, [writing_option(java, made)])
        port = 0
        for left in reversed(range(_TRIES)):
            port = ports.choose_port()
            if launcher.launch(ports.Ports(port, ports.choose_port(but=(port,))), last=left == 0) is not None:
                break
        wire.create_topic(ports.LOOPBACK, port, "training", 1, {"cleanup.policy": "compact"})
        supervised.stop_broker(_ENDING_S)
        if supervised.was_killed():
            raise EmbeddedKafkaError(f"while {_DOING}: the broker did not end within {_ENDING_S:g} s, or was killed")
    finally:
        supervised.quit(0.0)
