"""Prometheus metrics: ``replica`` for a replica, ``sdmx`` for the structures in it, ``producer`` for a producer.

This package alone imports prometheus-client. It may import everything it measures. Read ``replica`` first.
"""

from __future__ import annotations

from kafka_replica.metrics.replica import export, unexport

__all__ = ["export", "unexport"]
