"""Spark Connect: client and driver are two processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.spark.cluster_world import connect_server, job


@pytest.mark.timeout(900)
@pytest.mark.long
def test_on_spark_connect(tmp_path: Path) -> None:
    """Frames, the data source and validation work; broadcasts and streams are rejected, with advice."""
    pytest.importorskip("zstandard", reason="PySpark's Connect client needs zstandard: Spark Connect is NOT tested")
    with connect_server(tmp_path) as address:
        found = job("connect_job.py", address, tmp_path)
    broadcast, stream = found.pop("refused")
    assert broadcast.startswith("broadcasting codelists on Spark Connect: it has no broadcast variables; join with")
    assert "foreachBatch runs in the server" in stream
    assert found == {
        "session": "pyspark.sql.connect.session",
        "equal": True,
        "metadata": [1, 1],
        "good": 1500,
        "bad": 500,
    }
