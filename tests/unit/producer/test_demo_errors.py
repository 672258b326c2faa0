"""Errors of the demonstration are messages, and leave nothing behind."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from kafka_replica.demo import context, local_postgres
from kafka_replica.demo.directory_demo import run_directory_demo
from kafka_replica.demo.local_postgres import LocalPostgres
from kafka_replica.demo.output import DemoError
from kafka_replica.demo.terminals import TerminalTable
from kafka_replica.embedded import ExistingKafka
from kafka_replica.producer.errors import OutboxError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_the_message_of_initdb_is_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The demonstration ends with the message; the folder of the server is removed."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    program = folder / "initdb"
    program.write_text("#!/bin/sh\necho 'no such locale' >&2\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(DemoError, match="initdb failed: no such locale"):
        LocalPostgres(folder)
    assert list(folder.iterdir()) == [program]


def test_root_without_the_user_postgres_is_an_error_with_the_reason(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL does not run as root."""

    def chown(*_given: object) -> None:
        raise LookupError("no such user: 'postgres'")

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "chown", chown)
    with pytest.raises(DemoError, match="no such user"):
        LocalPostgres(folder)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("versions", "newest"),
    [
        (["debian/9.6", "debian/16", "debian/17"], "debian/17"),
        (["debian/9.6"], None),
        (["debian/14", "pgsql-16", "brew@15"], "pgsql-16"),
        (["brew@15", "brew@9"], "brew@15"),
        ([], None),
    ],
)
def test_the_newest_installed_postgresql_is_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch, versions: list[str], newest: str | None
) -> None:
    """Versions are compared as numbers, wherever the packages of a system put them; too old ones are ignored."""
    for version in versions:
        binaries = folder / version / "bin"
        binaries.mkdir(parents=True)
        (binaries / "postgres").touch()
    patterns = [(str(folder), f"{name}/bin") for name in ("debian/*", "pgsql-*", "brew@*")]
    monkeypatch.setattr(local_postgres, "_INSTALLED", patterns)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert local_postgres.find_binaries() == (None if newest is None else folder / newest / "bin")


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_both_schemes_of_a_connection_uri(scheme: str) -> None:
    """Both are as common, and PostgreSQL's own library accepts them."""
    table = TerminalTable(f"{scheme}://user:postgres%3A%2F%2F@127.0.0.1:1/x")
    with pytest.raises(OutboxError, match=r"127\.0\.0\.1"), table.created(1, drop=False):
        pass


def test_too_few_rows_are_refused_before_anything_starts() -> None:
    """The changes of the demonstration need more than 100 rows."""
    with pytest.raises(DemoError, match="--rows"):
        run_directory_demo(None, None, 100, 1.0)


def test_topics_of_an_existing_kafka_are_deleted_after_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """The topic and the progress topic are deleted, whatever the reason for the end."""

    class NoTopics:
        def __init__(self, _config: object) -> None:
            pass

        def create(self, *_given: object) -> None:
            """Do nothing."""

    deleted: list[str] = []
    monkeypatch.setattr(context, "Topics", NoTopics)
    monkeypatch.setattr(ExistingKafka, "delete_topic", lambda _self, topic: deleted.append(topic))
    with pytest.raises(KeyboardInterrupt), context.terminals_topic(ExistingKafka("h:1"), {}) as topic:
        raise KeyboardInterrupt
    assert deleted == [topic, f"{topic}.progress"]
