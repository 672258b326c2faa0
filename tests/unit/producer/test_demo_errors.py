"""Errors of the demonstration are messages, and leave nothing behind."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from kafka_replica.demo import scene
from kafka_replica.demo.local_postgres import LocalPostgres
from kafka_replica.demo.stage import DemoError
from kafka_replica.demo.story import run_story
from kafka_replica.embedded import ExistingKafka


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


def test_too_few_rows_are_refused_before_anything_starts() -> None:
    """The changes of the demonstration need more than 100 rows."""
    with pytest.raises(DemoError, match="--rows"):
        run_story(None, None, 100, 1.0)


def test_topics_of_an_existing_kafka_are_deleted_after_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """The topic and the progress topic are deleted, whatever the reason for the end."""

    class NoTopics:
        def __init__(self, _config: object) -> None:
            pass

        def create(self, *_given: object) -> None:
            """Do nothing."""

    deleted: list[str] = []
    monkeypatch.setattr(scene, "Topics", NoTopics)
    monkeypatch.setattr(ExistingKafka, "delete_topic", lambda _self, topic: deleted.append(topic))
    with pytest.raises(KeyboardInterrupt), scene.terminals_topic(ExistingKafka("h:1"), {}) as topic:
        raise KeyboardInterrupt
    assert deleted == [topic, f"{topic}.progress"]
