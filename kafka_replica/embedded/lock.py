"""For maintainers: make the lock file anew (``python -m kafka_replica.embedded.lock``)."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from kafka_replica.embedded import ivy
from kafka_replica.embedded.java import find_java
from kafka_replica.embedded.lockfile import KAFKA_VERSION, LOCK_PATH, Jar, sha256_of, write_lock
from kafka_replica.errors import EmbeddedKafkaError, KafkaReplicaError

# The broker speaks to slf4j 1.7; without a backend for that it logs nothing at all.
ROOTS = (
    ("org.apache.kafka", "kafka_2.13", KAFKA_VERSION),
    ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4"),
)


def resolve() -> list[Jar]:
    """The broker's jars and all that they need, downloaded afresh to be measured; takes about 30 s.

    Raises:
        EmbeddedKafkaError: a jar was not to be had, or two would have the same file name.
    """
    with tempfile.TemporaryDirectory(prefix="kafka-replica-lock-") as name:
        folder = Path(name)
        output = ivy.retrieve(find_java(), ROOTS, folder, transitive=True, progress=lambda _: None)
        if "FAILED" in output or "UNRESOLVED" in output:
            raise EmbeddedKafkaError(f"while resolving Kafka {KAFKA_VERSION}: not everything was found\n{output}")
        jars: list[Jar] = []
        for path in sorted((folder / "jars").rglob("*.jar")):
            group, artifact, version = path.relative_to(folder / "jars").parts[:3]
            jar = Jar(group, artifact, version, path.stat().st_size, sha256_of(path))
            if jar.file_name != path.name:
                raise EmbeddedKafkaError(f"{path.name} of {group}:{artifact}:{version} has a name we cannot lock")
            jars.append(jar)
    if len({jar.file_name for jar in jars}) != len(jars) or len(jars) < len(ROOTS):
        raise EmbeddedKafkaError("two jars would have one file name, or there are none")
    return jars


def main() -> int:
    """Write the lock file; 0 when it was done."""
    try:
        jars = resolve()
    except KafkaReplicaError as error:
        print(error, file=sys.stderr)
        return 1
    write_lock(jars)
    print(f"{LOCK_PATH}: {len(jars)} jars, {sum(jar.size_bytes for jar in jars) / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
