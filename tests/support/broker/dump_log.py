"""Kafka's own view of a log: DumpLogSegments, run on the segment files of the embedded broker."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kafka_replica.embedded import LocalKafka, ensure_kafka, find_java
from kafka_replica.embedded.download import download_jars
from kafka_replica.embedded.errors import EmbeddedKafkaError
from kafka_replica.embedded.lockfile import Jar

_BATCH = re.compile(
    r"baseOffset: (\d+) lastOffset: (\d+) count: (\d+) .*producerId: (-?\d+) producerEpoch: (-?\d+) .*"
    r"isTransactional: (\w+) isControl: (\w+)"
)
_RECORD = re.compile(r"\| offset: (\d+) .*?(?:key: (\S+))?(?: payload: (\S+))?$")
_MARKER = re.compile(r"endTxnMarker: (\w+)")
_TOOLS = Jar(
    "org.apache.kafka", "kafka-tools", "4.3.0", 698592,
    "b88bc6ccc520d648142515526e4042c285612ce94b032434a88e3e936e38b600",
)  # fmt: skip


@dataclass
class DumpedBatch:
    """A batch as Kafka's tool prints it."""

    first: int
    end: int
    count: int
    producer_id: int
    producer_epoch: int
    transactional: bool
    control: bool
    marker: str | None = None
    records: list[tuple[int, str, str | None]] = field(default_factory=list)


@pytest.fixture(scope="session")
def tools_jar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return Kafka's tools, which a broker does not need."""
    folder = tmp_path_factory.mktemp("tools")
    try:
        download_jars([_TOOLS], folder, lambda _: None)
    except EmbeddedKafkaError as error:
        pytest.skip(f"NOT PROVEN against Kafka's own DumpLogSegments: {error}")
    return folder / _TOOLS.file_name


def dump(kafka: LocalKafka, tools: Path, topic: str, partition: int = 0) -> list[DumpedBatch]:
    """Return all batches in a partition's current segment files."""
    log = kafka.data_dir / "data" / f"{topic}-{partition}"
    segments = sorted(str(path) for path in log.glob("*.log"))
    jars = os.pathsep.join([*map(str, ensure_kafka().jars), str(tools)])
    done = subprocess.run(
        [str(find_java().path), "-cp", jars, "org.apache.kafka.tools.DumpLogSegments",
         "--print-data-log", "--files", ",".join(segments)],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    batches: list[DumpedBatch] = []
    for line in done.stdout.splitlines():
        if match := _BATCH.match(line):
            first, last, count, producer, epoch = map(int, match.groups()[:5])
            transactional, control = (word == "true" for word in match.groups()[5:])
            batches.append(DumpedBatch(first, last + 1, count, producer, epoch, transactional, control))
        elif match := _MARKER.search(line):
            batches[-1].marker = match[1]
        elif match := _RECORD.match(line):
            batches[-1].records.append((int(match[1]), match[2], match[3]))
    return batches
