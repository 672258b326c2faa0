"""Export the state of live look-ups of SDMX structures as Prometheus metrics.

::

    live = LiveStructures(replica)
    live.prepare()  # decodes everything once: without this, references are not counted
    export_structures(live, name="codes")

Values are read at each scrape, after the look-ups have applied all changes since the previous scrape.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from kafka_replica.errors import KafkaReplicaError, MissingExtraError
from kafka_replica.metrics.collectors import Collectors

try:
    from prometheus_client import REGISTRY, CollectorRegistry
    from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
    from prometheus_client.registry import Collector
except ImportError as error:
    raise MissingExtraError("exporting metrics", "metrics") from error

_PREFIX = "kafka_replica_sdmx_"
_GAUGES = (  # name, help text, field
    ("artefacts", "Artefacts with a record of their own in the newest version.", "artefacts"),
    (
        "dangling_references",
        "References that lead nowhere in the newest version; missing before prepare().",
        "dangling",
    ),
    (
        "unreadable_records",
        "Records of the newest version that cannot be read; missing before prepare().",
        "unreadable",
    ),
)
_CACHE_GAUGES = (
    ("cache_bytes", "Size of the messages that are kept decoded, as they were written.", "size_bytes"),
    ("cache_max_bytes", "Maximum size of the messages that are kept decoded.", "max_bytes"),
    ("cache_contents", "Messages that are kept decoded.", "contents"),
)
_CACHE_COUNTERS = (
    ("cache_hits", "Requests for messages that were already decoded.", "hits"),
    ("cache_misses", "Messages that had to be decoded.", "misses"),
    ("cache_evictions", "Decoded messages that were evicted to keep the bound.", "evictions"),
    ("decode_seconds", "Time spent decoding.", "decode_seconds"),
)


class Cache(Protocol):
    """The statistics of a cache of decoded messages: ``kafka_replica.sdmx.lookups.cache.CacheStats``."""

    @property
    def hits(self) -> int: ...  # noqa: D102
    @property
    def misses(self) -> int: ...  # noqa: D102
    @property
    def evictions(self) -> int: ...  # noqa: D102
    @property
    def decode_seconds(self) -> float: ...  # noqa: D102
    @property
    def contents(self) -> int: ...  # noqa: D102
    @property
    def size_bytes(self) -> int: ...  # noqa: D102
    @property
    def max_bytes(self) -> int: ...  # noqa: D102


class Stats(Protocol):
    """The statistics of live look-ups: ``kafka_replica.sdmx.lookups.live_structures.LiveStats``."""

    @property
    def artefacts(self) -> int: ...  # noqa: D102
    @property
    def dangling(self) -> int | None: ...  # noqa: D102
    @property
    def unreadable(self) -> int | None: ...  # noqa: D102
    @property
    def cache(self) -> Cache: ...  # noqa: D102


class StatsSource(Protocol):
    """An object with these statistics: ``kafka_replica.sdmx.LiveStructures``."""

    def stats(self) -> Stats:
        """Return the current statistics; raise KafkaReplicaError if there is no version."""
        ...


class StructuresCollector(Collector):
    """A collector of the metrics of any number of live look-ups, each under its own name."""

    def __init__(self) -> None:
        self._live: dict[str, StatsSource] = {}

    def add(self, live: StatsSource, name: str) -> None:
        """Add live look-ups, which replace look-ups with the same name."""
        self._live[name] = live

    def remove(self, name: str) -> None:
        """Remove live look-ups."""
        self._live.pop(name, None)

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of all look-ups that have a version and are not closed."""
        found: list[tuple[str, Stats]] = []
        for name, live in list(self._live.items()):
            try:
                found.append((name, live.stats()))
            except KafkaReplicaError:
                continue
        for metric, help_text, field in _GAUGES:
            yield _gauge(metric, help_text, [(name, getattr(stats, field)) for name, stats in found])
        for metric, help_text, field in _CACHE_GAUGES:
            yield _gauge(metric, help_text, [(name, getattr(stats.cache, field)) for name, stats in found])
        for metric, help_text, field in _CACHE_COUNTERS:
            counter = CounterMetricFamily(_PREFIX + metric, help_text, labels=["replica"])
            for name, stats in found:
                counter.add_metric([name], getattr(stats.cache, field))
            yield counter


def _gauge(metric: str, help_text: str, values: list[tuple[str, int | None]]) -> Metric:
    gauge = GaugeMetricFamily(_PREFIX + metric, help_text, labels=["replica"])
    for name, value in values:
        if value is not None:
            gauge.add_metric([name], float(value))
    return gauge


_collectors = Collectors(StructuresCollector)


def export_structures(live: StatsSource, *, name: str, registry: CollectorRegistry = REGISTRY) -> None:
    """Export the metrics of live look-ups to a registry.

    Args:
        live: the ``LiveStructures``; references are counted only after ``live.prepare()``.
        name: the value of the label ``replica``, preferably the name that was given to ``export``, or the topic.
        registry: the registry; by default, that of prometheus-client.
    """
    _collectors.of(registry).add(live, name)


def unexport_structures(name: str, *, registry: CollectorRegistry = REGISTRY) -> None:
    """Stop exporting the metrics of look-ups."""
    collector = _collectors.known(registry)
    if collector is not None:
        collector.remove(name)
