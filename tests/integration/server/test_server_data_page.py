"""The examples in docs/server-data.md run as they are written there, on a real broker."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path

import pytest

from kafka_replica.cli.structure_source import snapshot_of_files
from kafka_replica.embedded import LocalKafka
from kafka_replica.producer import TransactionalProducer
from kafka_replica.testing.pytest_plugin import TopicMaker
from support import plain_http
from support.doc_blocks import programs
from support.docs.needs import needs_curl
from support.server.data_samples import FLOW, LABOUR_CSV, MAP, STRUCTURES, by_command
from support.server.server_tools import ServerProcess
from support.waiting import wait_until

pytestmark = pytest.mark.long


@needs_curl
@pytest.mark.broker
@pytest.mark.runs("docs/server-data.md")
def test_the_examples_run(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """Each example gives the results of the commands, or the report of FMR."""
    topic, snapshot = kafka_topic("data"), snapshot_of_files(STRUCTURES)
    producer = TransactionalProducer(
        {"bootstrap.servers": local_kafka.bootstrap_servers}, topic, transactional_id=topic
    )
    with producer.transaction() as transaction:
        for key in snapshot:
            record = snapshot.get(key)
            assert record is not None
            assert record.value is not None
            transaction.put(key, record.value, headers=record.headers)
    producer.wait_visible(transaction.committed, 60)
    (tmp_path / "data.csv").write_bytes(LABOUR_CSV)
    where = ("--topic", topic, "--bootstrap-server", local_kafka.bootstrap_servers)
    with ServerProcess(tmp_path, *where) as server:
        wait_until(lambda: plain_http.get(f"{server.address}/health/ready").status_code == 200)

        def output(block: str) -> str:
            adapted = block.replace("http://127.0.0.1:8080", server.address).replace("curl ", "curl -sS --fail -g ")
            done = subprocess.run(["sh", "-ec", adapted], cwd=tmp_path, capture_output=True, text=True, check=True)
            return done.stdout

        validate, map_data, fmr = programs("docs/server-data.md")
        (tmp_path / "validate").mkdir()
        expected = by_command("validate", tmp_path / "validate", "labour.csv", "--flow", FLOW)
        first, second, third = validate.splitlines()
        report = json.loads(output(first))
        assert {**report, "version": 1} == expected.report
        assert output(second).splitlines()[0].startswith("severity,rule,component,findings,")
        assert json.loads(output(third))["counts"] == report["counts"]
        output(map_data)
        (tmp_path / "map").mkdir()
        mapped = by_command("map", tmp_path / "map", "labour.csv", "--map", MAP)
        assert (tmp_path / "mapped.csv").read_text() == mapped.good
        with zipfile.ZipFile(tmp_path / "mapped.zip") as archive:
            assert archive.read("rejected.csv").decode() == mapped.rejected
        as_fmr = json.loads(output(fmr))
        assert (as_fmr["Errors"], as_fmr["Datasets"][0]["ObsCount"]) == (True, report["rows"])
