"""The service as its users see it: samples are published with the command, and read with a client of registries."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kafka_replica.embedded import LocalKafka
from kafka_replica.sdmx.samples import sample_files
from kafka_replica.testing.pytest_plugin import TopicMaker
from support import plain_http
from support.broker.kafka_tools import producer, write
from support.server.server_tools import ServerProcess
from support.waiting import wait_until

pytestmark = pytest.mark.broker

AREAS = "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=KR_DEMO:CL_REF_AREA(1.0)"
PATH = "structure/codelist/KR_DEMO/CL_REF_AREA/1.0"


def publish(kafka: LocalKafka, topic: str) -> None:
    """Publish the samples with the command."""
    program = str(Path(sys.executable).with_name("kafka-replica"))
    line = [program, "publish", *map(str, sample_files()), "--topic", topic, "-b", kafka.bootstrap_servers]
    subprocess.run(line, check=True, capture_output=True, timeout=120, env={**os.environ, "NO_COLOR": "1"})


@pytest.mark.long
def test_past_versions_are_served_after_a_restart(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """A codelist is deleted; ``asOf`` and pinned paths still show it, also from a new process."""
    topic = kafka_topic("service")
    publish(local_kafka, topic)
    options = ["--topic", topic, "-b", local_kafka.bootstrap_servers]
    options += ["--store", str(tmp_path / "store"), "--history-path", str(tmp_path / "history"), "--kept-versions", "0"]
    with ServerProcess(tmp_path, *options) as server:
        base = f"{server.address}/sdmx/v2/{PATH}"
        wait_until(lambda: plain_http.get(f"{server.address}/health/ready").status_code == 200)
        first = plain_http.get(base)
        assert first.status_code == 200
        assert AREAS.rpartition("=")[2].partition("(")[0].partition(":")[2] in first.text
        version = first.headers["kafka-replica-version"]
        seen = datetime.now(UTC).isoformat()
        write(producer(local_kafka.bootstrap_servers, topic), topic, {AREAS: None})
        wait_until(lambda: plain_http.get(base).status_code == 404)
        latest = plain_http.get(base).headers["kafka-replica-version"]
        assert plain_http.get(base, params={"asOf": seen}).content == first.content
        server.process.send_signal(signal.SIGTERM)
        assert server.wait() == 0, server.log.read_text()
    with ServerProcess(tmp_path, *options) as server:
        wait_until(lambda: plain_http.get(f"{server.address}/health/ready").status_code == 200)
        base = f"{server.address}/sdmx/v2/{PATH}"
        assert plain_http.get(base).status_code == 404
        for found in (
            plain_http.get(base, params={"asOf": seen}),
            plain_http.get(base, params={"asOf": version.partition(".")[0]}),
            plain_http.get(f"{server.address}/version/{version}/sdmx/v2/{PATH}"),
        ):
            assert (found.status_code, found.content) == (200, first.content)
            assert found.headers["kafka-replica-version"] == version
        listed = plain_http.get(f"{server.address}/history").json()["versions"]
        assert [each["version"] for each in listed][-2:] == [latest, version]
        difference = plain_http.get(f"{server.address}/diff/{version}/{latest}").json()
        assert (difference["added"], difference["changed"], difference["deleted"]) == ([], [], [AREAS])
        future = plain_http.get(base, params={"asOf": "2999-01-01"})
        assert future.status_code == 422
        assert "in the future" in future.text


def test_pysdmx_reads_a_live_registry(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """An unmodified client of registries reads codes and data structures of the running service."""
    fmr = pytest.importorskip("pysdmx.api.fmr")
    topic = kafka_topic("service-client")
    publish(local_kafka, topic)
    with ServerProcess(tmp_path, "--topic", topic, "-b", local_kafka.bootstrap_servers) as server:
        wait_until(lambda: plain_http.get(f"{server.address}/health/ready").status_code == 200)
        client: Any = fmr.RegistryClient(f"{server.address}/sdmx/v2/")
        codes = client.get_codes("KR_DEMO", "CL_REF_AREA", "1.0")
        assert {"LU", "BE", "W10"} <= {code.id for code in codes}
        schema = client.get_schema("dataflow", "KR_DEMO", "LABOUR", "1.0")
        assert "REF_AREA" in {component.id for component in schema.components}
        page = plain_http.get(
            f"{server.address}/sdmx/v2/structure/dataflow/KR_DEMO", headers={"Accept": "application/json"}
        )
        assert json.loads(page.content)
        old = plain_http.get(f"{server.address}/sdmx/v1/codelist/KR_DEMO/CL_REF_AREA/1.0?references=parents")
        assert (old.status_code, old.headers["content-type"].partition(";")[0]) == (
            200, "application/vnd.sdmx.structure+xml",
        )  # fmt: skip
