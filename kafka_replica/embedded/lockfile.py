"""Read the lock file with the jars of the broker: their coordinates, sizes and SHA-256."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from kafka_replica.embedded.errors import EmbeddedKafkaError

KAFKA_VERSION = "4.3.0"
"""The version of Kafka that the embedded broker runs."""
LOCK_PATH = Path(__file__).with_name(f"kafka-{KAFKA_VERSION}.lock")


@dataclass(frozen=True, slots=True, order=True)
class Jar:
    """A jar: Maven coordinates, size in bytes, SHA-256 in lower-case hexadecimal digits."""

    group: str
    artifact: str
    version: str
    size_bytes: int
    sha256: str

    @property
    def file_name(self) -> str:
        """The name of the file in Maven repositories."""
        return f"{self.artifact}-{self.version}.jar"

    @property
    def repository_path(self) -> str:
        """The path of the file relative to the root of a Maven repository."""
        return f"{self.group.replace('.', '/')}/{self.artifact}/{self.version}/{self.file_name}"

    def matches(self, path: Path) -> bool:
        """Return whether the file at `path` exists and has this jar's size and SHA-256."""
        try:
            if path.stat().st_size != self.size_bytes:
                return False
            return sha256_of(path) == self.sha256
        except OSError:
            return False


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in lower-case hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_lock(path: Path = LOCK_PATH) -> tuple[Jar, ...]:
    """Return the locked jars, in class path order.

    Raises:
        EmbeddedKafkaError: the lock file is missing or damaged.
    """
    jars: list[Jar] = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        for line in lines:
            if line and not line.startswith("#"):
                coordinates, size, file_name, sha256 = line.split()
                group, artifact, version = coordinates.split(":")
                jar = Jar(group, artifact, version, int(size), sha256)
                if jar.file_name != file_name or len(sha256) != 64:
                    raise ValueError(line)
                jars.append(jar)
    except (OSError, ValueError) as error:
        raise EmbeddedKafkaError(
            f"while reading which jars belong to Kafka {KAFKA_VERSION}: {path} is missing or damaged ({error}); "
            "install kafka_replica again"
        ) from error
    return tuple(jars)
