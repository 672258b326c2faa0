"""A service that is attacked: no unexpected error, bounded memory, and others are served throughout."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kafka_replica.embedded import LocalKafka
from kafka_replica.sdmx.samples import sample_files
from kafka_replica.testing.pytest_plugin import TopicMaker
from support import plain_http
from support.effort import usual_or_long
from support.memory import peak_bytes
from support.server.hostile_clients import ATTACKS, bodies
from support.server.server_tools import ServerProcess
from support.server.steady_client import Answers, steady_client
from support.waiting import wait_until

pytestmark = pytest.mark.broker

_MB = 1_000_000
_REQUESTS = usual_or_long(1_000, 1_000, 10_000)
_ATTACKERS = 12
_ALLOWED_GROWTH = 1000 * _MB  # two threads for data; 50,000 rows without any value need 300 MB
_LIMITS = {
    "max-upload-bytes": 8 * _MB, "max-response-bytes": 32 * _MB, "cache-bytes": 8 * _MB, "written-bytes": 8 * _MB,
    "header-timeout-s": 2, "write-timeout-s": 3, "upload-timeout-s": 3, "data-timeout-s": 60,
}  # fmt: skip
_EXPECTED = {200, 204, 304, 400, 404, 405, 406, 408, 410, 411, 413, 414, 415, 422, 431, 501, 503}


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_an_attacked_service_serves_others(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """Mixed addresses, headers, bodies, bombs, large uploads and slow clients; another client notices little."""
    topic = kafka_topic("hostile")
    program = str(Path(sys.executable).with_name("kafka-replica"))
    line = [program, "publish", *map(str, sample_files()), "--topic", topic, "-b", local_kafka.bootstrap_servers]
    subprocess.run(line, check=True, capture_output=True, timeout=120)
    options = [word for name, value in _LIMITS.items() for word in (f"--{name}", str(value))]
    with ServerProcess(tmp_path, "-t", topic, "-b", local_kafka.bootstrap_servers, *options) as server:
        wait_until(lambda: plain_http.get(f"{server.address}/health/ready").status_code == 200)
        for attack in dict.fromkeys(ATTACKS):  # imports, and the first use of engines and formats
            attack(server.address, random.Random(0))
        url = f"{server.address}/sdmx/v2/structure/codelist/KR_DEMO/CL_REF_AREA/1.0"
        before, during = list[tuple[int, float]](), list[tuple[int, float]]()
        with steady_client(url, before):
            wait_until(lambda: requests_of(server.address) > 100)
        memory = peak_bytes(server.process.pid)
        with steady_client(url, during), ThreadPoolExecutor(_ATTACKERS) as pool:

            def attack_once(number: int) -> list[int]:
                chance = random.Random(number)
                return chance.choice(ATTACKS)(server.address, chance)

            statuses = Counter(status for found in pool.map(attack_once, range(_REQUESTS)) for status in found)
        growth = peak_bytes(server.process.pid) - memory
        log = server.log.read_text()
        assert plain_http.get(f"{server.address}/health/ready").status_code == 200
    print(f"statuses {dict(statuses)}, growth {growth / _MB:.0f} MB, p90 {p90(before):.1f} and {p90(during):.1f} ms")
    assert set(statuses) <= _EXPECTED, statuses
    assert len(statuses) > 5
    assert "Traceback" not in log, log[log.index("Traceback") - 500 :][:3000]
    assert growth < _ALLOWED_GROWTH
    assert {status for status, _ in during} == {200}
    assert p90(during) < max(100 * p90(before), 2_000)  # milliseconds
    assert sum(len(body) for body, _ in bodies()) > _MB


def requests_of(address: str) -> float:
    """Return the number of requests that the service has answered."""
    text = plain_http.get(f"{address}/metrics").text
    return sum(float(value) for value in re.findall(r"kafka_replica_http_requests_total\{.*?\} (\S+)", text))


def p90(answers: Answers) -> float:
    """Return the time within which nine tenths of the answers came, in ms."""
    times = sorted(took_ms for _, took_ms in answers)
    return times[len(times) * 9 // 10]
