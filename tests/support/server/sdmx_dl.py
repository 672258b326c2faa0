"""The jar of sdmx-dl (EUPL 1.2), fetched from a Maven repository once, and kept in the cache of the user."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from kafka_replica.embedded.cache import cache_dir, locked
from kafka_replica.embedded.download import download_jars
from kafka_replica.embedded.errors import EmbeddedKafkaError
from kafka_replica.embedded.java import find_java
from kafka_replica.embedded.lockfile import Jar

_JAR: Final = Jar(
    "com.github.nbbrd.sdmx-dl", "sdmx-dl-standalone", "3.0.0-beta.18", 2898797,
    "f3c7bba6a5eed297f7df998adf6e60c6164b188d55fe729adf6bf11767cc4c0e",
)  # fmt: skip


def sdmx_dl() -> tuple[Path, Path]:
    """Return the program java and the jar; skip the test without them, or without a Java that compiles programs."""
    folder = cache_dir() / "sdmx-dl"
    try:
        java = find_java()
        with locked(folder.with_suffix(".lock"), doing="fetching sdmx-dl"):
            folder.mkdir(parents=True, exist_ok=True)
            if not _JAR.matches(folder / _JAR.file_name):
                download_jars([_JAR], folder, lambda _jar: None)
    except EmbeddedKafkaError as error:
        pytest.skip(f"NOT TESTED: sdmx-dl cannot be fetched or run: {error}")
    if not (java.home / "bin/javac").is_file():
        pytest.skip(f"NOT TESTED: sdmx-dl: the Java at {java.home} compiles no programs (Debian: default-jdk-headless)")
    return java.path, folder / _JAR.file_name
