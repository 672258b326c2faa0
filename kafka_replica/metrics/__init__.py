"""Prometheus metrics of replicas, of the structures in them, of producers and services; alerts and a dashboard.

Only this package and the demonstration import prometheus-client. It may import everything that it measures. Read
``replica`` first.
"""

from __future__ import annotations

from kafka_replica.metrics.replica import export, unexport

__all__ = ["export", "unexport"]
