"""Prometheus metrics: ``replica`` for a replica, ``sdmx`` for the structures in it, ``producer`` for a producer.

Only this package imports prometheus-client. It may import everything that it measures. Read ``replica`` first.
"""

from __future__ import annotations

from kafka_replica.metrics.replica import export, unexport

__all__ = ["export", "unexport"]
