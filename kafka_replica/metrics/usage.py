"""Export counts of records by origin as Prometheus metrics.

::

    from kafka_replica.metrics import export_usage

    export_usage(usage, "terminals")  # the Usage of the RoutingTrail in a replica's header stack

The values of labels come from headers, so ``Usage(max_origins=...)`` limits their number.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_replica.common.wording import encodable
from kafka_replica.errors import MissingExtraError
from kafka_replica.headers.pieces.usage import Usage
from kafka_replica.metrics.collectors import Collectors

try:
    from prometheus_client import REGISTRY, CollectorRegistry
    from prometheus_client.metrics_core import CounterMetricFamily, Metric
    from prometheus_client.registry import Collector
except ImportError as error:
    raise MissingExtraError("exporting metrics", "metrics") from error

_LABELS = ("replica", "producer", "source", "cluster", "topic", "mirrored")
_COUNTERS = (  # name, help text, field of OriginUsage
    ("records", "Records read, by the origin in their routing trail; tombstones included.", "records"),
    ("tombstones", "Tombstones read, by the origin in their routing trail.", "tombstones"),
    ("bytes", "Bytes of values read, by the origin in their routing trail.", "size_bytes"),
)


class UsageCollector(Collector):
    """A collector of the counts of any number of replicas, each under its own name."""

    def __init__(self) -> None:
        self._usages: dict[str, Usage] = {}

    def add(self, usage: Usage, name: str) -> None:
        """Add the counts of a replica, which replace counts with the same name."""
        self._usages[name] = usage

    def collect(self) -> Iterator[Metric]:
        """Yield the counts of all origins."""
        rows = [(name, row) for name, usage in list(self._usages.items()) for row in usage.rows()]
        for metric, help_text, field in _COUNTERS:
            counter = CounterMetricFamily(f"kafka_replica_usage_{metric}", help_text, labels=_LABELS)
            for name, row in rows:
                labels = [name, *map(encodable, row[:4]), str(row.is_mirrored).lower()]
                counter.add_metric(labels, getattr(row, field))
            yield counter


_collectors = Collectors(UsageCollector)


def export_usage(usage: Usage, name: str, *, registry: CollectorRegistry = REGISTRY) -> None:
    """Export counts of records by origin to a registry.

    Args:
        usage: the counts.
        name: the value of the label ``replica``, which must differ between the counts in a registry.
        registry: the registry; by default, that of prometheus-client.
    """
    _collectors.of(registry).add(usage, name)
