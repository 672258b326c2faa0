"""Make the lock file of the embedded broker's jars again (``.venv/bin/python .ci/lock_kafka.py``); takes about 30 s.

Apache Ivy, which is part of PySpark, follows the dependencies of Kafka. Ivy runs only here: users download exactly
what the lock file names.
"""

import subprocess
import sys
import tempfile
from importlib.metadata import files
from pathlib import Path

from kafka_replica.embedded.java import find_java
from kafka_replica.embedded.lockfile import KAFKA_VERSION, LOCK_PATH, Jar, sha256_of

ROOTS = (
    ("org.apache.kafka", "kafka_2.13", KAFKA_VERSION),
    # The broker speaks to slf4j 1.7; without a backend for that it logs nothing at all.
    ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4"),
)
HEADER = f"""\
# Apache Kafka {KAFKA_VERSION}, its dependencies and a logging backend: what is fetched, and nothing else.
# group:artifact:version  size in bytes  file name  SHA-256
# Made by: .ci/lock_kafka.py
"""
SETTINGS = """\
<ivysettings><settings defaultResolver="maven"/><caches defaultCacheDir="{folder}/cache"/>
<resolvers><ibiblio name="maven" m2compatible="true"/></resolvers></ivysettings>
"""
WANTED = """\
<ivy-module version="2.0"><info organisation="kafka-replica" module="broker"/>
<configurations><conf name="default"/></configurations><dependencies>{dependencies}</dependencies></ivy-module>
"""
DEPENDENCY = '<dependency org="{}" name="{}" rev="{}" conf="default->default"/>'
# Folders and names say the coordinates, so that they can be read back.
PATTERN = "[organisation]/[module]/[revision]/[artifact]-[revision](-[classifier]).[ext]"


def resolve(folder: Path) -> list[Jar]:
    """Download the jars and all that they need into the folder."""
    ivy = next(path for path in files("pyspark") or () if path.match("jars/ivy-*.jar")).locate()
    settings, wanted = folder / "ivysettings.xml", folder / "ivy.xml"
    settings.write_text(SETTINGS.format(folder=folder))
    wanted.write_text(WANTED.format(dependencies="".join(DEPENDENCY.format(*root) for root in ROOTS)))
    done = subprocess.run(
        [find_java().path, f"-Divy.default.ivy.user.dir={folder}", "-cp", ivy, "org.apache.ivy.Main",
         "-settings", settings, "-ivy", wanted, "-types", "jar", "bundle", "-retrieve", f"{folder}/jars/{PATTERN}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0 or "FAILED" in done.stdout or "UNRESOLVED" in done.stdout:
        sys.exit(f"not everything was found:\n{done.stdout}{done.stderr}")
    jars = []
    for path in (folder / "jars").rglob("*.jar"):
        group, artifact, version = path.relative_to(folder / "jars").parts[:3]
        jar = Jar(group, artifact, version, path.stat().st_size, sha256_of(path))
        if jar.file_name != path.name:
            sys.exit(f"{path.name} of {group}:{artifact}:{version} has a name that cannot be locked")
        jars.append(jar)
    if len({jar.file_name for jar in jars}) != len(jars):
        sys.exit("two jars would have one file name")
    return sorted(jars)


def main() -> None:
    """Write the lock file."""
    with tempfile.TemporaryDirectory(prefix="kafka-replica-lock-") as name:
        jars = resolve(Path(name))
    lines = [
        f"{jar.group}:{jar.artifact}:{jar.version} {jar.size_bytes} {jar.file_name} {jar.sha256}\n" for jar in jars
    ]
    LOCK_PATH.write_text(HEADER + "".join(lines))
    print(f"{LOCK_PATH}: {len(jars)} jars, {sum(jar.size_bytes for jar in jars) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
