"""Fetching jars with Apache Ivy, which lies in every PySpark."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from xml.sax.saxutils import quoteattr

from kafka_replica.errors import EmbeddedKafkaError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kafka_replica.embedded.java import Java

MAVEN_VARIABLE = "KAFKA_REPLICA_MAVEN_ROOT"
# Folders and names say the coordinates, so that they can be read back.
PATTERN = "[organisation]/[module]/[revision]/[artifact]-[revision](-[classifier]).[ext]"
_TIME_LIMIT_S = 900.0


def ivy_jar() -> Path:
    """Ivy's jar inside the installed PySpark.

    Raises:
        MissingExtraError: PySpark is not installed.
        EmbeddedKafkaError: this PySpark has no Ivy in it.
    """
    spec = importlib.util.find_spec("pyspark")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError("Fetching the embedded Kafka broker", "embedded")
    jars = Path(next(iter(spec.submodule_search_locations))) / "jars"
    found = sorted(jars.glob("ivy-*.jar"))
    if not found:
        raise EmbeddedKafkaError(
            f"while fetching Kafka: {jars} holds no ivy-*.jar, which is needed for it; "
            "install the whole of pyspark (not pyspark-client) and try again"
        )
    return found[-1]


def retrieve(
    java: Java,
    coordinates: Iterable[tuple[str, str, str]],
    folder: Path,
    *,
    transitive: bool,
    progress: Callable[[str], None],
) -> str:
    """Download artifacts into ``folder/jars`` as `PATTERN` says; what is missing there was not found.

    Args:
        java: runs Ivy.
        coordinates: (group, artifact, version) of each.
        folder: an empty folder; Ivy's own files go there too.
        transitive: whether to take the dependencies as well, as the POMs say.
        progress: called with the file name of each jar as its download begins.

    Returns:
        What Ivy printed.

    Raises:
        MissingExtraError: PySpark is not installed.
        EmbeddedKafkaError: Ivy could not be run.
    """
    jar = ivy_jar()
    settings, wanted = folder / "ivysettings.xml", folder / "ivy.xml"
    settings.write_text(_settings(folder, use_poms=transitive), encoding="utf-8")
    wanted.write_text(_wanted(coordinates, transitive=transitive), encoding="utf-8")
    command = [
        str(java.path), "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
        *java.network_options, *_proxy_options(), f"-Divy.default.ivy.user.dir={folder}",
        "-cp", str(jar), "org.apache.ivy.Main", "-settings", str(settings), "-ivy", str(wanted),
        "-types", "jar", "bundle", "-retrieve", f"{folder}/jars/{PATTERN}",
    ]  # fmt: skip
    return _run(command, progress)


def _run(command: list[str], progress: Callable[[str], None]) -> str:
    lines: list[str] = []
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace",
        )  # fmt: skip
    except OSError as error:
        raise EmbeddedKafkaError(
            f"while fetching Kafka: {command[0]} could not be started ({error.strerror}); check JAVA_HOME"
        ) from error
    # A server that accepts and then says nothing would hold us for ever.
    limit = threading.Timer(_TIME_LIMIT_S, process.kill)
    limit.daemon = True
    limit.start()
    try:
        with process:
            for line in process.stdout or ():
                lines.append(line.rstrip())
                if line.startswith("downloading ") and ".jar" in line:
                    progress(line.split()[1].rsplit("/", 1)[-1])
    except BaseException:
        process.kill()
        raise
    finally:
        limit.cancel()
    return "\n".join(lines)


def _settings(folder: Path, *, use_poms: bool) -> str:
    root = os.environ.get(MAVEN_VARIABLE, "").rstrip("/")
    where = f" root={quoteattr(root + '/')}" if root else ""
    poms = "" if use_poms else ' usepoms="false"'
    # Ivy's SHA-1 comparison would double the requests; our lock holds SHA-256.
    return (
        '<ivysettings><property name="ivy.checksums" value=""/>'
        '<settings defaultResolver="maven"/>'
        f"<caches defaultCacheDir={quoteattr(str(folder / 'ivy-cache'))}/>"
        f'<resolvers><ibiblio name="maven" m2compatible="true"{poms}{where}/></resolvers></ivysettings>\n'
    )


def _wanted(coordinates: Iterable[tuple[str, str, str]], *, transitive: bool) -> str:
    flag = str(transitive).lower()
    dependencies = "".join(
        f"<dependency org={quoteattr(group)} name={quoteattr(artifact)} rev={quoteattr(version)}"
        f' transitive="{flag}" conf="default->default"/>\n'
        for group, artifact, version in coordinates
    )
    return (
        '<ivy-module version="2.0"><info organisation="kafka-replica" module="broker"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>\n{dependencies}</dependencies></ivy-module>\n"
    )


def _proxy_options() -> list[str]:
    """Java's spelling of the proxy that the environment names for other tools."""
    options: list[str] = []
    for scheme in ("http", "https"):
        named = os.environ.get(f"{scheme}_proxy") or os.environ.get(f"{scheme.upper()}_PROXY")
        if named:
            parts = urlsplit(named if "//" in named else f"//{named}")
            if parts.hostname:
                options += [f"-D{scheme}.proxyHost={parts.hostname}", f"-D{scheme}.proxyPort={parts.port or 80}"]
    return options
