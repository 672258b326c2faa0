"""Prometheus metrics of replicas, their structures, producers and services, with alerts and a dashboard.

Only this package and the demonstration import prometheus-client. This package may import everything that it measures.
Read ``replica`` first.
"""

from __future__ import annotations

from kafka_replica.metrics.replica import export, unexport

__all__ = ["export", "unexport"]
