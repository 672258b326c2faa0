"""Maps on polars."""

from __future__ import annotations

from kafka_replica.local.mapping.transforming import transform

__all__ = ["transform"]
