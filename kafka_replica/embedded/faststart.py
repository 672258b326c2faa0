"""Prepare quick starts: a storage format in the cache, and JVM options for a short-lived broker.

The format is created on first use, once for each Kafka. Kafka's own storage tool writes it (``bootstrap.checkpoint``:
the feature levels of this Kafka). It contains no ids, so that every broker can use it.
"""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

from kafka_replica.embedded import config
from kafka_replica.embedded.cache import fresh_folder, locked, os_errors_translated
from kafka_replica.embedded.errors import EmbeddedKafkaError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kafka_replica.embedded.install import Installation
    from kafka_replica.embedded.java import Java

# Only the client compiler (C1): a broker for tests does not live long enough to benefit from C2.
QUICK_JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
CHECKPOINT = "bootstrap.checkpoint"
_WARNS_SINCE = 24
_OPTION_VARIABLES = ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS")  # Java adds them to its options
_collector_option = re.compile(r"-XX:\+Use\w*GC\b")


def storage_tool(
    java: Java, installation: Installation, properties: Path, cluster_id: str, options: Sequence[str] = ()
) -> None:
    """Format the data folder next to the file `properties` with Kafka's own tool, which takes less than 1 s.

    Raises:
        EmbeddedKafkaError: the tool failed; the message contains the last line of its output.
    """
    command = [
        str(java.path), "-Xmx128m", *_quick_options(()), "-cp", installation.class_path,
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
            with fresh_folder("format-", installation.folder) as folder:
                config.write_properties(folder / "p", config.broker_settings(1, 2, {}))
                storage_tool(java, installation, folder / "p", config.kafka_uuid())
                (folder / config.DATA_FOLDER / CHECKPOINT).replace(template)
    return template


def broker_command(
    java: Java, installation: Installation, folder: Path, heap_mb: int, options: Sequence[str]
) -> list[str]:
    """Return the command line of a broker with its files in `folder`; `options` override those of this package."""
    # Newer versions of Java warn about code in Kafka and its codecs, which users cannot change.
    quiet = ["--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED"]
    return [
        str(java.path), f"-Xmx{heap_mb}m", *_quick_options(options),
        "-Xlog:disable", "-Xlog:all=error", *(quiet if java.version >= _WARNS_SINCE else ()),
        "-Djava.awt.headless=true", f"-Dlog4j2.configurationFile={folder / 'log4j2.xml'}",
        *options, "-cp", installation.class_path, "kafka.Kafka", str(folder / "server.properties"),
    ]  # fmt: skip


def _quick_options(chosen: Sequence[str]) -> tuple[str, ...]:
    """Return the options for a quick start; without a garbage collector if the user has chosen one, in any way.

    Java refuses to start with two.
    """
    variables = [os.environ.get(name, "") for name in _OPTION_VARIABLES]
    is_chosen = _collector_option.search(" ".join([*chosen, *variables]))
    return QUICK_JVM[:1] if is_chosen else QUICK_JVM
