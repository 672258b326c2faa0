"""Carry out structure maps with Spark."""

from __future__ import annotations

from kafka_replica_spark.mapping.streaming import transform_stream
from kafka_replica_spark.mapping.transforming import transform

__all__ = ["transform", "transform_stream"]
