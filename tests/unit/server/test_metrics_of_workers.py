"""The metrics of a service with several workers, which count in files of one folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from kafka_replica.metrics.server import FOLDER_VARIABLE, SummedMetrics

_COUNTS = """
from kafka_replica.metrics.server import RequestMetrics
metrics = RequestMetrics()
metrics.begun()
metrics.ended("sdmx", "GET", 200, 0.1, 10)
"""


def test_a_worker_that_starts_does_not_disturb_a_scrape(tmp_path: Path) -> None:
    """A worker creates its files empty; a scrape at this time has the counts of the other workers."""
    subprocess.run([sys.executable, "-c", _COUNTS], env=os.environ | {FOLDER_VARIABLE: str(tmp_path)}, check=True)
    assert list(tmp_path.glob("*.db"))
    for name in ("counter_1.db", "histogram_1.db", "gauge_livesum_1.db"):
        (tmp_path / name).touch()
    text, _ = SummedMetrics(tmp_path).exposition()
    assert b'kafka_replica_http_requests_total{method="GET",route="sdmx",status="200"} 1.0' in text
