"""Prepare quick starts: a cached storage format and, if Java supports it, an archive of loaded classes.

Both are created in the cache on first use, the format for each Kafka, the archive for each Kafka and Java. Kafka's own
storage tool writes the format (``bootstrap.checkpoint``: the feature levels of this Kafka), which contains no ids, so
that every broker can use it.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_replica.embedded import config, ports, wire
from kafka_replica.embedded.cache import locked, os_errors_translated
from kafka_replica.embedded.errors import EmbeddedKafkaError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kafka_replica.embedded.install import Installation
    from kafka_replica.embedded.java import Java

# Only the client compiler (C1): a broker for tests does not live long enough to benefit from C2.
QUICK_JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
CHECKPOINT = "bootstrap.checkpoint"
_AOT_SINCE = 25
_WARNS_SINCE = 24


def storage_tool(
    java: Java, installation: Installation, properties: Path, cluster_id: str, options: Sequence[str] = ()
) -> None:
    """Format the data folder next to the file `properties` with Kafka's own tool, which takes less than 1 s.

    Raises:
        EmbeddedKafkaError: the tool failed; the message contains the last line of its output.
    """
    command = [
        str(java.path), "-Xmx128m", *QUICK_JVM, "-cp", installation.class_path,
        "kafka.tools.StorageTool", "format", "--cluster-id", cluster_id, "--config", str(properties), *options,
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command, cwd=properties.parent, capture_output=True, text=True, errors="replace", timeout=120, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EmbeddedKafkaError(
            f"while formatting the data folder of Kafka: {java.path} failed ({error}); check JAVA_HOME"
        ) from error
    if done.returncode != 0:
        words = (done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}").splitlines()
        raise EmbeddedKafkaError(
            f"while formatting the data folder of Kafka: {words[-1]}; check the settings given, "
            "and that the folder is empty or was made by kafka_replica"
        )


def format_template(java: Java, installation: Installation) -> Path:
    """Return the cached checkpoint file for formatting data folders, and create it if necessary.

    Raises:
        EmbeddedKafkaError: the file could not be created.
    """
    template = installation.folder / CHECKPOINT
    if template.is_file():
        return template
    doing = "preparing Kafka's format"
    with locked(installation.folder / "format.lock", doing=doing), os_errors_translated(doing, template):
        if not template.is_file():
            with tempfile.TemporaryDirectory(prefix="format-", dir=installation.folder) as name:
                folder = Path(name)
                config.write_properties(folder / "p", config.broker_settings(1, 2, {}))
                storage_tool(java, installation, folder / "p", config.kafka_uuid())
                (folder / config.DATA_FOLDER / CHECKPOINT).replace(template)
    return template


def class_archive_options(
    java: Java, installation: Installation, progress: Callable[[str], None] | None = None
) -> list[str]:
    """Return the JVM options for the archive of loaded classes, and create the archive if necessary.

    Creating it takes some seconds, once. The options are empty if this Java cannot create an archive; each start then
    takes a second longer.

    Raises:
        EmbeddedKafkaError: the cache cannot be written.
    """
    archive = _archive_path(java, installation)
    refused = archive.with_suffix(".refused")
    if not archive.is_file() and not refused.is_file():
        doing = "preparing a quick start of Kafka"
        with locked(archive.with_suffix(".lock"), doing=doing), os_errors_translated(doing, archive):
            if not archive.is_file() and not refused.is_file():
                if progress:
                    progress(f"{doing} with Java {java.version} (some seconds, once)")
                if not _train(java, installation, archive):
                    refused.write_text(
                        "This Java created no archive; remove this file to try again.\n", encoding="utf-8"
                    )
    if not archive.is_file():
        return []
    if java.version >= _AOT_SINCE:
        return [f"-XX:AOTCache={archive}"]
    return [f"-XX:SharedArchiveFile={archive}", "-Xshare:auto"]


def _archive_path(java: Java, installation: Installation) -> Path:
    """Return the path of this Java's archive, which changes when Java is upgraded in the same folder."""
    parts = [str(java.home), str(java.version)]
    for name in ("release", "lib/modules"):
        with contextlib.suppress(OSError):
            stat = (java.home / name).stat()
            parts += [str(stat.st_size), str(stat.st_mtime_ns)]
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:10]
    return installation.folder / f"java{java.version}-{key}.classes"


def _train(java: Java, installation: Installation, archive: Path) -> bool:
    """Run a broker once, so that Java records the loaded classes; return whether Java has created an archive."""
    with tempfile.TemporaryDirectory(prefix="training-", dir=installation.folder) as name:
        folder = Path(name)
        made = folder / "archive"
        writing = "AOTCacheOutput" if java.version >= _AOT_SINCE else "ArchiveClassesAtExit"
        port = ports.choose()
        settings = config.broker_settings(port, ports.choose(but=(port,)), {})
        data = folder / config.DATA_FOLDER
        data.mkdir()
        shutil.copyfile(format_template(java, installation), data / CHECKPOINT)
        config.write_meta(data / "meta.properties", settings)
        config.write_properties(folder / "server.properties", settings)
        config.write_logging(folder / "log4j2.xml", "WARN")
        command = broker_command(java, installation, folder, 256, [f"-XX:{writing}={made}"])
        with (folder / "log").open("wb") as log, subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder
        ) as process:  # fmt: skip
            try:
                _exercise(process, port)
                process.send_signal(signal.SIGTERM)
                process.wait(120)
            except (EmbeddedKafkaError, OSError, subprocess.TimeoutExpired):
                return False
            finally:
                process.kill()
        if not made.is_file():
            return False
        made.replace(archive)
    return True


def _exercise(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError, ValueError):
            if wire.query_cluster(ports.LOOPBACK, port).brokers:
                break
        time.sleep(0.05)
    wire.create_topic(ports.LOOPBACK, port, "training", 1, {"cleanup.policy": "compact"})


def broker_command(
    java: Java, installation: Installation, folder: Path, heap_mb: int, options: Sequence[str]
) -> list[str]:
    """Return the command line of a broker with its files in `folder`; `options` override those of this package."""
    collector_chosen = any(option.startswith("-XX:+Use") and option.endswith("GC") for option in options)
    # Newer versions of Java warn about code in Kafka and its codecs, which users cannot change.
    quiet = ["--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED"]
    return [
        str(java.path), f"-Xmx{heap_mb}m", QUICK_JVM[0], *(() if collector_chosen else QUICK_JVM[1:]),
        "-Xlog:disable", "-Xlog:all=error", *(quiet if java.version >= _WARNS_SINCE else ()),
        "-Djava.awt.headless=true", f"-Dlog4j2.configurationFile={folder / 'log4j2.xml'}",
        *options, "-cp", installation.class_path, "kafka.Kafka", str(folder / "server.properties"),
    ]  # fmt: skip
