"""The world of the documentation's pages: a topic with the samples, a replica, and commands."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafka_replica import Replica
from kafka_replica.cli.structure_source import snapshot_of_files
from kafka_replica.embedded import ExistingKafka, LocalKafka
from kafka_replica.producer import TransactionalProducer
from kafka_replica.sdmx.samples import extra_files, sample_files
from support.doc_blocks import blocks
from support.paths import SDMX_DATA

FILES = (*sample_files(), *extra_files(), SDMX_DATA / "queries.sdmx-json.json")
STRUCTURES = tuple(file for file in FILES if file.suffix != ".csv")


@dataclass(frozen=True)
class PageWorld:
    """A topic with the samples, and a folder with the sample files in ``samples``."""

    bootstrap: str
    topic: str
    folder: Path
    replica: Replica
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def config(self) -> dict[str, Any]:
        """The client's properties."""
        return {"bootstrap.servers": self.bootstrap}

    @property
    def here(self) -> dict[str, str]:
        """The names on the pages, and those of this test."""
        return {"localhost:9092": self.bootstrap, "sdmx.structures": self.topic}

    def names(self, **more: Any) -> dict[str, Any]:
        """Return what programs of pages begin with."""
        snapshot = self.replica.snapshot()
        return {"replica": self.replica, "snapshot": snapshot, "config": self.config, "topic": self.topic, **more}

    def run_python(
        self, page: str, names: dict[str, Any], replacing: Mapping[str, str] | None = None, **of: Any
    ) -> None:
        """Execute the Python of a page, or some of it, in the order of the page, with the same names."""
        for block in blocks(page, language="python", **of):
            code = block.program({**self.here, **(replacing or {})})
            exec(compile(code, f"{page}:{block.line}", "exec", dont_inherit=True), names)

    def run_shell(self, page: str, replacing: Mapping[str, str] | None = None, status: int = 0, **of: Any) -> list[str]:
        """Execute commands of a page in the folder; return what each block prints."""
        printed = []
        for block in blocks(page, **of):
            done = self.shell(block.program({**self.here, **(replacing or {})}))
            assert done.returncode == status, (str(block), done.returncode, done.stdout, done.stderr)
            printed.append(done.stdout)
        return printed

    def shell(self, commands: str) -> subprocess.CompletedProcess[str]:
        """Run commands; the first that fails ends them."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "KAFKA_REPLICA_BOOTSTRAP_SERVERS": self.bootstrap, **self.variables}
        return subprocess.run(
            ["bash", "-ec", commands], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=240,
            check=False,
        )  # fmt: skip


def copy_samples(folder: Path) -> None:
    """Make a folder with all sample files."""
    folder.mkdir()
    for file in FILES:
        shutil.copy(file, folder)


def publish_samples(kafka: LocalKafka | ExistingKafka, topic: str) -> None:
    """Write all samples in one transaction."""
    config = {"bootstrap.servers": kafka.bootstrap_servers}
    producer = TransactionalProducer(config, topic, transactional_id=topic)
    snapshot = snapshot_of_files(STRUCTURES)
    with producer.transaction() as transaction:
        for key in snapshot:
            record = snapshot.get(key)
            if record is not None and record.value is not None:
                transaction.put(key, record.value, headers=record.headers)
    producer.wait_visible(transaction.committed, 60)
