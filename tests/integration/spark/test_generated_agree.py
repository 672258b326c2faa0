"""Both engines have the same findings on generated structures, constraints and data."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from kafka_replica.data import polars as local
from kafka_replica_spark import dataset_findings
from support.effort import usual_or_long
from support.rules.generated_worlds import generated_world
from support.spark.in_one_job import on_spark, small_jobs, validated

# An example is a batch that runs as one job. Shrinking would start a job each time; the message names the seed.
in_batches = settings(
    max_examples=1, phases=[Phase.explicit, Phase.generate], deadline=None, database=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


def seeds(of: int) -> st.SearchStrategy[list[int]]:
    """Return a strategy for as many different seeds."""
    return st.lists(st.integers(0, 10**6), min_size=of, max_size=of, unique=True)


@pytest.mark.timeout(900)
@pytest.mark.long
@given(batch=seeds(usual_or_long(4, 6, 24)))
@in_batches
def test_generated_structures_give_equal_findings(spark: SparkSession, batch: list[int]) -> None:
    """Each row has the same findings, in all fields and in the same order, and so has the data set."""
    worlds = [generated_world(seed) for seed in batch]
    with small_jobs(spark):
        found = validated(spark, [(world.frame, world.rules) for world in worlds])
        for seed, world, errors in zip(batch, worlds, found, strict=True):
            wanted = local.validate(world.frame, world.rules)["_errors"].to_list()
            differing = [
                (row, one, other) for row, one, other in zip(world.frame.rows(named=True), errors, wanted, strict=True)
                if one != other
            ]  # fmt: skip
            assert not differing, f"world {seed}, row, Spark's findings and polars': {differing[0]}"
            of_all = dataset_findings(on_spark(spark, world.frame), world.rules)
            assert of_all == local.dataset_findings(world.frame, world.rules), f"world {seed}"
