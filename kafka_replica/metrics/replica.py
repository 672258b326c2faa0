"""Export the state of a replica as Prometheus metrics.

::

    from kafka_replica.metrics import export_replica

    export_replica(replica)  # into the default registry, under the replica's topic

Values are read from ``Replica.status()`` at each scrape: there are no second counters, and a replica that is not
scraped has no cost. A replica that was closed is no longer exported. Labels are bounded: ``replica`` is the given name,
``topic`` and ``partition`` are those that the replica follows, and ``state`` is one of the values of ``State``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from kafka_replica.errors import MissingExtraError
from kafka_replica.metrics.collectors import Collectors
from kafka_replica.publication.latency import BOUNDS_S
from kafka_replica.publication.status import State, Status
from kafka_replica.records import Position
from kafka_replica.replica import Replica

try:
    from prometheus_client import REGISTRY, CollectorRegistry
    from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
    from prometheus_client.registry import Collector
except ImportError as error:
    raise MissingExtraError("exporting metrics", "metrics") from error

_GAUGES = (  # name, help text, status field
    ("ready", "1 once the version shown contains everything that was in the topic at the start.", "ready"),
    (
        "stale",
        "1 while the version shown is from before a restart or rebuild.",
        "stale",
    ),
    ("keys", "Keys in the version shown.", "keys"),
    ("version", "Number of the version shown.", "version"),
    ("lag_records", "Offsets from the version shown to the high watermark.", "lag_records"),
    ("lag_stable_records", "Offsets from the version shown to the last stable offset.", "lag_stable_records"),
    (
        "lag_seconds",
        "For how long the version shown has been behind the high watermark; while stalled or failed, the silence.",
        "lag_s",
    ),
    ("pending_records", "Records read that no version shows yet.", "pending_records"),
    (
        "open_transaction_seconds",
        "Age of the open transaction that holds the last stable offset.",
        "blocked_s",
    ),
    (
        "open_transactions",
        "Transactions that began below the version shown and are not decided; with markers they block nothing.",
        "open_transactions",
    ),
    (
        "last_contact_seconds",
        "Time since the last answer of a broker; before the first one, since the start.",
        "last_contact_s",
    ),
)
_COUNTERS = (  # name, help text, field of status.counts
    ("records", "Records read, tombstones included.", "records"),
    ("tombstones", "Tombstones read.", "tombstones"),
    ("transactions", "Committed transactions shown, as far as they can be distinguished.", "transactions"),
    ("versions", "Versions published.", "versions"),
    ("rebuilds", "How often the state was rebuilt: the log was replaced, or the store damaged.", "rebuilds"),
    ("bad_records", "Records that could not be replicated.", "bad_records"),
    ("listener_errors", "Exceptions raised by listeners.", "listener_errors"),
    (
        "unconfirmed_ends",
        "Queries of end offsets for which too few brokers answered to exclude a newer leader.",
        "unconfirmed_ends",
    ),
)
_OFFSETS = (  # name, help text, status field
    ("position", "Next offset to be read.", "read_position"),
    ("barrier_offset", "Offset that had to be reached to be ready.", "barrier"),
    ("version_offset", "Offset up to which the version shown contains records.", "position"),
    ("last_stable_offset", "Offset below which all transactions are decided.", "last_stable_offset"),
    ("high_watermark", "Offset below which all records are replicated in Kafka.", "high_watermark"),
)
_LABELS = ["replica", "topic"]


class ReplicaCollector(Collector):
    """A collector of the metrics of any number of replicas, each under its own name."""

    def __init__(self) -> None:
        self._replicas: dict[str, Replica] = {}

    def add(self, replica: Replica, name: str) -> None:
        """Add a replica, which replaces a replica with the same name."""
        self._replicas[name] = replica

    def remove(self, name: str) -> None:
        """Remove a replica."""
        self._replicas.pop(name, None)

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of all replicas that are not closed: a closed one would always look healthy."""
        replicas = list(self._replicas.items())
        shown = [((name, replica.topic), replica.status()) for name, replica in replicas]
        statuses = [(labels, status) for labels, status in shown if status.state is not State.STOPPED]
        yield from _gauges(statuses)
        yield from _counters(statuses)
        yield from _offsets(statuses)
        yield _states(statuses)
        yield _parsers(statuses)
        yield _latencies(statuses)


_collectors = Collectors(ReplicaCollector)


def export_replica(replica: Replica, *, name: str | None = None, registry: CollectorRegistry = REGISTRY) -> None:
    """Export the metrics of a replica to a registry.

    Args:
        replica: the replica.
        name: the value of the label ``replica``; None means the replica's topic. Several replicas of the same topic in
            one process need different names.
        registry: the registry; by default, that of prometheus-client.
    """
    _collectors.of(registry).add(replica, name or replica.topic)


def unexport_replica(name: str, *, registry: CollectorRegistry = REGISTRY) -> None:
    """Stop exporting the metrics of a replica, for example after it was closed."""
    collector = _collectors.known(registry)
    if collector is not None:
        collector.remove(name)


_Statuses = list[tuple[tuple[str, str], Status]]


def _gauges(statuses: _Statuses) -> Iterator[Metric]:
    for name, help_text, field in _GAUGES:
        gauge = GaugeMetricFamily(f"kafka_replica_{name}", help_text, labels=_LABELS)
        for labels, status in statuses:
            value = getattr(status, field)
            if value is not None:
                gauge.add_metric(labels, float(value))
        yield gauge


def _counters(statuses: _Statuses) -> Iterator[Metric]:
    for name, help_text, field in _COUNTERS:
        counter = CounterMetricFamily(f"kafka_replica_{name}", help_text, labels=_LABELS)
        for labels, status in statuses:
            counter.add_metric(labels, getattr(status.counts, field))
        yield counter


def _offsets(statuses: _Statuses) -> Iterator[Metric]:
    for name, help_text, field in _OFFSETS:
        gauge = GaugeMetricFamily(f"kafka_replica_{name}", help_text, labels=[*_LABELS, "partition"])
        for (replica, _topic), status in statuses:
            offsets: Position = getattr(status, field)
            for partition, offset in offsets.items():
                gauge.add_metric((replica, partition.topic, str(partition.partition)), offset)
        yield gauge


def _latencies(statuses: _Statuses) -> Metric:
    histogram = HistogramMetricFamily(
        "kafka_replica_end_to_end_latency_seconds",
        "From the source's recording of a transaction to the version that shows it, by the records' headers.",
        labels=_LABELS,
    )
    for labels, status in statuses:
        bounds = [*(str(bound) for bound in BOUNDS_S), "+Inf"]
        buckets = list(zip(bounds, accumulate(status.latencies.counts), strict=True))
        histogram.add_metric(labels, buckets, status.latencies.sum_s)
    return histogram


def _states(statuses: _Statuses) -> Metric:
    gauge = GaugeMetricFamily("kafka_replica_state", "1 for the current state.", labels=[*_LABELS, "state"])
    for labels, status in statuses:
        for state in State:
            gauge.add_metric((*labels, state.value.replace(" ", "_")), float(status.state is state))
    return gauge


def _parsers(statuses: _Statuses) -> Metric:
    gauge = GaugeMetricFamily(
        "kafka_replica_parser", "1 for the parser of record batches: compiled or general.", labels=[*_LABELS, "parser"]
    )
    for labels, status in statuses:
        if status.parser is not None:
            gauge.add_metric((*labels, status.parser), 1.0)
    return gauge
