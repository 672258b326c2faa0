"""All parts work below folders whose names have spaces and letters beyond ASCII."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_replica import Replica, RocksStore
from kafka_replica.embedded import LocalKafka
from kafka_replica.producer import TransactionalProducer

pytestmark = pytest.mark.broker
_TIMEOUT_S = 60.0


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.timeout(900)
def test_the_demonstration_runs_below_an_odd_path(odd_folder: Path, mirror: Path) -> None:
    """Kafka's jars and data, Java's archives, temporary files and the home folder are there; no locale is set."""
    environment = {name: value for name, value in os.environ.items() if name != "LANG" and not name.startswith("LC_")}
    for variable in ("HOME", "TMPDIR"):
        environment[variable] = str(odd_folder / variable)
        (odd_folder / variable).mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "kafka_replica_spark.demo"],
        env=environment, cwd=odd_folder, capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "Each step had the expected result" in done.stdout
    assert (odd_folder / "cache").is_dir()


@pytest.mark.long
def test_a_store_and_a_broker_keep_their_data_below_an_odd_path(odd_folder: Path) -> None:
    """Data written there is found again by the next start."""
    with LocalKafka(data_dir=odd_folder / "broker") as kafka:
        kafka.create_topic("t", config={"cleanup.policy": "compact"})
        config = {"bootstrap.servers": kafka.bootstrap_servers}
        producer = TransactionalProducer(config, "t", "writer")
        with producer.transaction() as transaction:
            transaction.put("k", b"v")
        producer.wait_visible(transaction.committed, _TIMEOUT_S)
        for _ in range(2):
            with Replica(config, "t", store=RocksStore(odd_folder / "store")) as replica:
                assert replica.wait_ready(timeout_s=_TIMEOUT_S)["k"].value == b"v"
        kafka.restart()
        with Replica(config, "t") as replica:
            assert replica.wait_ready(timeout_s=_TIMEOUT_S)["k"].value == b"v"
