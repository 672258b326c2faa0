"""The initial data of the jobs on the cluster and on Spark Connect; imports none of the tests' helpers for Spark."""

from __future__ import annotations

from pathlib import Path

from kafka_replica import MemoryStore, Position
from kafka_replica.stores.delta import Delta
from kafka_replica.transactions.resume_point import ResumePoint
from support.spark.spark_world import SOURCE, samples

FLOW = "KR_DEMO:LABOUR(1.0)"
AREAS = "KR_DEMO:CL_REF_AREA(1.0)"


def checkpoint(path: Path) -> None:
    """Return the samples, in a checkpoint file."""
    snapshot = samples()
    store = MemoryStore(path)
    cut = Position({SOURCE: len(snapshot)})
    store.apply(Delta(list(snapshot.values())), cut, ResumePoint(cut))
    store.close()
