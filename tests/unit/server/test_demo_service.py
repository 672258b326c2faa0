"""The end of the demonstration that stays up: its structures over HTTP."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from support import plain_http

PROGRAM = """
from kafka_replica.demo.output import DemoOutput
from kafka_replica.testing import FakeTopic
from kafka_replica_spark.demo import structures_demo

topic = FakeTopic()
topic.put("urn:sdmx:org.sdmx.infomodel.codelist.Codelist=SDMX:CL_FREQ(2.1)", b"value")
with topic.replica() as replica:
    replica.wait_ready(30)
    structures_demo._run_until_interrupted(DemoOutput(), replica, "localhost:9092", "fake")
"""


@pytest.mark.long
def test_the_demonstration_stays_up_as_a_service() -> None:
    """The program prints the address, answers there, and ends without an error at Ctrl-C."""
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = next(line for line in process.stdout if "over HTTP" in line)
            address = line.split()[-1]
            assert plain_http.get(f"{address}health/ready").status_code == 200
            assert plain_http.get(address).json()["structures"][0] == f"{address}sdmx/v2"
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
            assert "closing" in process.stdout.read()
        finally:
            process.kill()
