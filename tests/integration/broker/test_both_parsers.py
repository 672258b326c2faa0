"""A replica holds the same with the compiled parser of record batches and without it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_replica.common.compiled import PARSER, VARIABLE
from kafka_replica.embedded import LocalKafka
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.broker.kafka_tools import all_decided, producer

pytestmark = pytest.mark.broker

PROGRAM = """
import logging, sys
from kafka_replica import KeyFilter, MemoryStore, Replica, RocksStore
logging.basicConfig(level=logging.INFO)
bootstrap, folder, *topics = sys.argv[1:]
for store in (MemoryStore(), MemoryStore(checkpoint=folder + "/file"), RocksStore(folder + "/rocks")):
    with Replica({"bootstrap.servers": bootstrap}, topics=topics, store=store, boundaries="markers") as replica:
        snapshot = replica.wait_ready(timeout_s=60)
        print(sorted(map(tuple, snapshot.values())), replica.status().counts)
store = MemoryStore(checkpoint=folder + "/file")
with Replica({"bootstrap.servers": bootstrap}, topics=topics, store=store) as replica:
    print(sorted(map(tuple, replica.wait_ready(timeout_s=60).values())))
with Replica({"bootstrap.servers": bootstrap}, topics[0], key_filter=KeyFilter.prefix("k1")) as replica:
    print(sorted(map(tuple, replica.wait_ready(timeout_s=60).values())))
"""


def written(kafka: LocalKafka, topic: str, compression: str) -> None:
    """Write new values, tombstones, headers with and without values, and an aborted transaction."""
    writer = producer(
        kafka.bootstrap_servers, f"{topic}-{compression}", **{"linger.ms": "100", "compression.type": compression}
    )
    for number in range(3):
        writer.begin_transaction()
        for key in range(40):
            value = None if key % 7 == number else b"%d" % number + bytes(range(key)) * 30
            all_headers: list[tuple[str, str | bytes | None]] = [
                ("kind", compression.encode()), ("none", None), ("kind", b"%d" % (key % 3)),
            ]  # fmt: skip
            writer.produce(topic, key=f"k{key} {compression}", value=value, headers=all_headers[: key % 4])
        writer.flush()
        writer.abort_transaction() if number == 1 else writer.commit_transaction()


@pytest.mark.long
@pytest.mark.skipif(PARSER is None, reason="NOT TESTED: the compiled parser was not built")
def test_the_same_records(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """All compressions, partitions of two topics, three stores, a restart and a filter: with each parser the same."""
    partitions = {kafka_topic("one"): 1, kafka_topic("many", partitions=3): 3}
    for topic, count in partitions.items():
        for compression in ("none", "gzip", "snappy", "lz4", "zstd"):
            written(local_kafka, topic, compression)
        all_decided(local_kafka.bootstrap_servers, topic, count)
    outputs = {}
    for name, variable in (("compiled", "1"), ("general", "0")):
        folder = tmp_path / name
        folder.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, local_kafka.bootstrap_servers, str(folder), *partitions],
            capture_output=True, text=True, check=False, env={**os.environ, VARIABLE: variable},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert f"reading by markers, with the {name} parser of record batches" in done.stderr
        outputs[name] = done.stdout.splitlines()
    assert outputs["compiled"] == outputs["general"]
    assert len(outputs["compiled"]) == 5
    assert all("k11 zstd" in line for line in outputs["compiled"])
