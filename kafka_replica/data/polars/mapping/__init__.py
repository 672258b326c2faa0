"""Map data with polars."""

from __future__ import annotations

from kafka_replica.data.polars.mapping.transforming import transform

__all__ = ["transform"]
