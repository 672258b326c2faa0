"""A replica's state as Prometheus metrics; the one room of prometheus-client.

::

    from kafka_replica.metrics.replica import export

    export(replica)  # into the default registry, under the replica's topic

Values are read off ``Replica.status()`` when Prometheus asks: nothing is counted twice, and a replica
that nobody scrapes pays nothing. Labels are bounded: ``replica`` is the name given, ``topic`` and
``partition`` are those followed, ``state`` is one of seven.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from weakref import WeakKeyDictionary

from kafka_replica.errors import MissingExtraError
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

_GAUGES = (  # name, what it says, the status field
    ("ready", "1 once everything that was there at the start is in the version shown.", "ready"),
    ("stale", "1 while the version shown is one from before, and what is newer is still being read.", "stale"),
    ("keys", "Keys in the version shown.", "keys"),
    ("version", "Number of the version shown.", "version"),
    ("lag_records", "Offsets from the version shown to the high watermark.", "lag_records"),
    ("lag_stable_records", "Offsets from the version shown to the last stable offset.", "lag_stable_records"),
    ("lag_seconds", "For how long the version shown has been behind the high watermark.", "lag_s"),
    ("pending_records", "Records read that no version shows yet.", "pending_records"),
    ("open_transaction_seconds", "For how long one open transaction has been in the way.", "blocked_s"),
    ("open_transactions", "Transactions that began below the version shown and are not decided.", "open_transactions"),
    ("last_heard_seconds", "Time since the broker last said something.", "last_contact_s"),
)
_COUNTERS = (  # name, what it says, the field of status.counts
    ("records", "Records read, tombstones included.", "records"),
    ("tombstones", "Tombstones read.", "tombstones"),
    ("transactions", "Committed transactions shown, as far as they can be told apart.", "transactions"),
    ("versions", "Versions published.", "versions"),
    ("rebuilds", "How often the state was built anew: the log was replaced, or the store damaged.", "rebuilds"),
    ("bad_records", "Records that could not be replicated.", "bad_records"),
    ("listener_errors", "Exceptions raised by listeners.", "listener_errors"),
)
_OFFSETS = (  # name, what it says, the status field
    ("position", "Next offset to be read.", "read_position"),
    ("barrier_offset", "Offset that had to be reached to be ready.", "barrier"),
    ("version_offset", "Offset up to which the version shown stands.", "position"),
    ("last_stable_offset", "Offset below which all transactions are decided.", "last_stable_offset"),
    ("high_watermark", "Offset below which all is replicated.", "high_watermark"),
)
_LABELS = ["replica", "topic"]


class ReplicaCollector(Collector):
    """Collects any number of replicas, each under a name of its own."""

    def __init__(self) -> None:
        self._replicas: dict[str, Replica] = {}

    def add(self, replica: Replica, name: str) -> None:
        """Collects one more; one of the same name is replaced."""
        self._replicas[name] = replica

    def remove(self, name: str) -> None:
        """Collects it no more."""
        self._replicas.pop(name, None)

    def collect(self) -> Iterator[Metric]:
        """What Prometheus asks for."""
        statuses = [((name, replica.topic), replica.status()) for name, replica in list(self._replicas.items())]
        yield from _gauges(statuses)
        yield from _counters(statuses)
        yield from _offsets(statuses)
        yield _states(statuses)
        yield _latencies(statuses)


_collectors: WeakKeyDictionary[CollectorRegistry, ReplicaCollector] = WeakKeyDictionary()


def export(replica: Replica, *, name: str | None = None, registry: CollectorRegistry = REGISTRY) -> None:
    """Shows a replica in a registry.

    Args:
        replica: the replica.
        name: the value of its label ``replica``; its topic if not given. Two replicas of one topic in
            one process need names.
        registry: prometheus-client's default registry if not given.
    """
    collector = _collectors.get(registry)
    if collector is None:
        collector = _collectors[registry] = ReplicaCollector()
        registry.register(collector)
    collector.add(replica, name or replica.topic)


def unexport(name: str, *, registry: CollectorRegistry = REGISTRY) -> None:
    """Shows the replica of that name no more, such as one that is closed."""
    collector = _collectors.get(registry)
    if collector is not None:
        collector.remove(name)


_Statuses = list[tuple[tuple[str, str], Status]]


def _gauges(statuses: _Statuses) -> Iterator[Metric]:
    for name, says, field in _GAUGES:
        gauge = GaugeMetricFamily(f"kafka_replica_{name}", says, labels=_LABELS)
        for labels, status in statuses:
            value = getattr(status, field)
            if value is not None:
                gauge.add_metric(labels, float(value))
        yield gauge


def _counters(statuses: _Statuses) -> Iterator[Metric]:
    for name, says, field in _COUNTERS:
        counter = CounterMetricFamily(f"kafka_replica_{name}", says, labels=_LABELS)
        for labels, status in statuses:
            counter.add_metric(labels, getattr(status.counts, field))
        yield counter


def _offsets(statuses: _Statuses) -> Iterator[Metric]:
    for name, says, field in _OFFSETS:
        gauge = GaugeMetricFamily(f"kafka_replica_{name}", says, labels=[*_LABELS, "partition"])
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
    gauge = GaugeMetricFamily("kafka_replica_state", "1 for the state it is in.", labels=[*_LABELS, "state"])
    for labels, status in statuses:
        for state in State:
            gauge.add_metric((*labels, state.value.replace(" ", "_")), float(status.state is state))
    return gauge
