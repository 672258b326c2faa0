"""A separate environment for tests of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_replica.cli.help import VARIABLES


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Remove the user's settings and started brokers; return the folder of started brokers."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("KAFKA_REPLICA_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "state" / "brokers").mkdir(parents=True)
    return tmp_path / "state" / "brokers"
