"""Shared fixtures of the tests of the embedded broker."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_replica.embedded import ensure_kafka
from kafka_replica.embedded.lockfile import read_lock


@pytest.fixture(scope="session")
def fetched() -> dict[str, Path]:
    """The jars of the real cache by name."""
    return {path.name: path for path in ensure_kafka().jars}


@pytest.fixture
def odd_folder(tmp_path: Path) -> Path:
    """A folder whose name has spaces and letters beyond ASCII."""
    made = tmp_path / "Übungs-Ordner mit Leerzeichen, żółć 数据"
    made.mkdir()
    return made


@pytest.fixture
def mirror(odd_folder: Path, fetched: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Maven repository in a folder, instead of the network, and an empty cache."""
    root = odd_folder / "mirror"
    for jar in read_lock():
        path = root / jar.repository_path
        path.parent.mkdir(parents=True)
        path.symlink_to(fetched[jar.file_name])
    monkeypatch.setenv("KAFKA_REPLICA_MAVEN_ROOT", root.as_uri())
    monkeypatch.setenv("KAFKA_REPLICA_CACHE", str(odd_folder / "cache"))
    return root
