"""Prometheus metrics of replicas, their structures, producers and services, with alerts and a dashboard.

Only this package and the demonstration import prometheus-client, for which the exporting functions need the extra
``metrics``; they are imported on first use, because alerts and dashboard do not need it. This package may import
everything that it measures. Read ``replica`` first.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from kafka_replica.metrics.directories import export_directory, unexport_directory
    from kafka_replica.metrics.producer import export_producer, serve_metrics, unexport_producer
    from kafka_replica.metrics.replica import export_replica, unexport_replica
    from kafka_replica.metrics.sdmx import export_structures, unexport_structures
    from kafka_replica.metrics.usage import export_usage

__all__ = [
    "export_directory",
    "export_producer",
    "export_replica",
    "export_structures",
    "export_usage",
    "serve_metrics",
    "unexport_directory",
    "unexport_producer",
    "unexport_replica",
    "unexport_structures",
]

_MODULES: Final = {
    "export_replica": "replica", "unexport_replica": "replica",
    "export_directory": "directories", "unexport_directory": "directories",
    "export_producer": "producer", "unexport_producer": "producer", "serve_metrics": "producer",
    "export_structures": "sdmx", "unexport_structures": "sdmx",
    "export_usage": "usage",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
