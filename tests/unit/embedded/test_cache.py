"""The cache of the embedded broker: no home folder, no permission to write, and what killed processes left."""

from __future__ import annotations

import errno
import os
import pwd
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from kafka_replica.embedded import class_archive, config, faststart, install, wire
from kafka_replica.embedded.cache import cache_dir, fresh_folder, state_dir
from kafka_replica.embedded.class_archive import class_archive_options
from kafka_replica.embedded.errors import EmbeddedKafkaError
from kafka_replica.embedded.install import Installation, ensure_kafka
from kafka_replica.embedded.java import Java
from kafka_replica.embedded.launch import BrokerOptions, Launcher
from kafka_replica.embedded.lockfile import Jar, sha256_of
from kafka_replica.embedded.ports import Ports
from kafka_replica.embedded.registry import Registry

JAVA = Java(Path("/nowhere/bin/java"), 17, Path("/nowhere"), "PATH")


@pytest.mark.parametrize(
    ("folder", "variable"), [(cache_dir, "KAFKA_REPLICA_CACHE"), (state_dir, "KAFKA_REPLICA_STATE")]
)
@pytest.mark.parametrize("named", ["", "~/folder"])
def test_no_home_folder_is_a_sentence(
    folder: Callable[[], Path], variable: str, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names the variable that helps."""

    def unknown(_uid: int) -> NoReturn:
        raise KeyError

    for name in ("HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.setenv(variable, named)
    with pytest.raises(EmbeddedKafkaError, match=f"the user has no home folder .* name a folder with {variable}"):
        folder()


def test_a_new_folder_replaces_those_that_killed_processes_left(tmp_path: Path) -> None:
    """Folders with other names stay."""
    for name in ("fetching-abc", "fetching-def", "lib"):
        (tmp_path / name / "inner").mkdir(parents=True)
    with fresh_folder("fetching-", tmp_path) as made:
        assert {path.name for path in tmp_path.iterdir()} == {made.name, "lib"}
    assert [path.name for path in tmp_path.iterdir()] == ["lib"]


@pytest.fixture
def one_jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the only jar of a prepared cache."""
    content = tmp_path / "content"
    content.write_bytes(b"a jar")
    jar = Jar("g", "a", "1", 5, sha256_of(content))
    monkeypatch.setattr(install, "read_lock", lambda: (jar,))
    monkeypatch.setenv("KAFKA_REPLICA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(
        install, "download_jars", lambda _jars, folder, _report: shutil.copy(content, folder / "a-1.jar")
    )
    return ensure_kafka().jars[0]


def refuse_writing(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Let the system refuse to create and lock files in the cache, as for a user without permission."""
    real = os.open

    def refusing(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        if str(path).endswith(".lock"):
            raise OSError(number, os.strerror(number), str(path))
        return real(path, flags, *rest, **named)

    monkeypatch.setattr(os, "open", refusing)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_a_complete_cache_that_cannot_be_written_is_used(
    number: int, one_jar: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy has other times than the original; its jars are used if their SHA-256 are right; no archive is made."""
    os.utime(one_jar, (1, 1))
    refuse_writing(monkeypatch, number)
    found = ensure_kafka()
    assert (found.jars, found.download_count) == ((one_jar,), 0)
    assert class_archive_options(JAVA, found) == []
    one_jar.write_bytes(b"A jar")
    with pytest.raises(EmbeddedKafkaError, match=r"fetching Kafka .* make it writable"):
        ensure_kafka()


@pytest.mark.parametrize(
    ("number", "expected_text"),
    [
        (errno.EROFS, "make it writable, or name another folder with KAFKA_REPLICA_STATE$"),
        (errno.ENOSPC, "free some space there, or name a folder elsewhere with KAFKA_REPLICA_STATE$"),
        (errno.ENOTDIR, "a file has the name of a required folder; .* with KAFKA_REPLICA_STATE$"),
    ],
)
def test_errors_of_the_list_of_brokers_name_the_variable_of_its_folder(
    number: int, expected_text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variable of the cache would change nothing."""
    monkeypatch.setenv("KAFKA_REPLICA_STATE", str(tmp_path))
    refuse_writing(monkeypatch, number)
    with pytest.raises(EmbeddedKafkaError, match=expected_text), Registry().changing("default"):
        pass


def test_errors_of_the_data_name_the_settings_of_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of the data is not in the cache."""

    def refuse(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(config, "write_properties", refuse)
    supervised = SimpleNamespace(folder=tmp_path)
    plan = BrokerOptions({}, (), 256, "WARN", (), 10)
    launcher = Launcher(JAVA, Installation(tmp_path, ()), plan, supervised, ())  # type: ignore[arg-type]
    with pytest.raises(EmbeddedKafkaError, match=r"elsewhere with data_dir \(--data\) or TMPDIR"):
        launcher.launch(Ports(1, 2), last=True)


def test_a_full_disk_is_an_error(one_jar: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a lack of permission means that the cache was prepared in advance."""
    refuse_writing(monkeypatch, errno.ENOSPC)
    with pytest.raises(EmbeddedKafkaError, match="free some space"):
        class_archive_options(JAVA, Installation(one_jar.parent.parent, (one_jar,)))


@pytest.mark.parametrize(
    ("failure", "is_refused"),
    [
        (None, True),
        (EmbeddedKafkaError("the broker ended:\nUnrecognized VM option 'ArchiveClassesAtExit'"), True),
        (EmbeddedKafkaError("no answer within 60 s"), False),
    ],
)
def test_only_a_java_that_creates_no_archive_is_not_tried_again(
    failure: EmbeddedKafkaError | None, is_refused: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker that did not start, for example on a busy machine, says nothing about Java."""
    starts: list[Path] = []

    def train(_java: Java, _installation: Installation, folder: Path, _made: Path) -> None:
        starts.append(folder)
        if failure is not None:
            raise failure

    monkeypatch.setattr(class_archive, "_train", train)
    messages: list[str] = []
    for _ in range(2):
        assert class_archive_options(JAVA, Installation(tmp_path, ()), messages.append) == []
    assert len(starts) == (1 if is_refused else 2)
    assert len(list(tmp_path.glob("*.refused"))) == is_refused
    assert any("the next start tries again" in message for message in messages) is not is_refused
    assert not list(tmp_path.glob("training-*"))


@pytest.mark.parametrize("variable", ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"])
def test_a_garbage_collector_in_a_variable_replaces_the_usual_one(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Java does not start with two collectors."""

    def command(options: list[str]) -> list[str]:
        return faststart.broker_command(JAVA, Installation(tmp_path, ()), tmp_path, 256, options)

    for name in faststart._OPTION_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert "-XX:+UseSerialGC" in command([])
    assert "-XX:+UseSerialGC" not in command(["-XX:+UseZGC"])
    monkeypatch.setenv(variable, "-Dx=y -XX:+UseStringDeduplication")
    assert "-XX:+UseSerialGC" in command([])
    monkeypatch.setenv(variable, "-Dx=y -XX:+UseG1GC -XX:MaxGCPauseMillis=100")
    assert "-XX:+UseSerialGC" not in command([])


@pytest.mark.thorough
def test_a_port_that_another_process_has_taken_is_not_the_last_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broker that runs once is started with other ports then, as every broker is."""
    launches: list[tuple[int, int]] = []

    def launch(_self: Launcher, chosen: tuple[int, int], *, last: bool) -> int | None:
        launches.append(chosen)
        assert not last
        return 1 if len(launches) == 3 else None

    monkeypatch.setattr(Launcher, "launch", launch)
    topics: list[int] = []
    monkeypatch.setattr(wire, "create_topic", lambda _host, port, *_: topics.append(port))
    class_archive._train(JAVA, Installation(tmp_path, ()), tmp_path, tmp_path / "archive")
    assert len(launches) == 3
    assert topics == [launches[-1][0]]
