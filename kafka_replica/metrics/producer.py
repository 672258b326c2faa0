"""Export the status of a producer as Prometheus metrics.

::

    with StructureProducer(settings) as producer:
        export_producer(producer)
        close = serve(9101)

The database is queried at each scrape; the counters of this instance are updated while it works. Labels are bounded:
``producer`` is the producer's id, ``topic`` the configured topic, and ``state`` and ``status`` have a fixed set of
values.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from kafka_replica.errors import ConfigurationError, KafkaReplicaError, MissingExtraError

try:
    from prometheus_client import REGISTRY, CollectorRegistry, start_http_server
    from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
    from prometheus_client.registry import Collector
except ImportError as error:
    raise MissingExtraError("exporting metrics", "metrics") from error

_PREFIX = "kafka_replica_producer_"
_LABELS = ["producer", "topic"]
_MODES = ("idle", "running", "suspended", "failed")
_FAILURES = ("2", "3", "4")

_GAUGES: tuple[tuple[str, str, Callable[[Any, float], float | None]], ...] = (
    ("pending_transactions", "Recorded transactions that are not sent yet.", lambda status, _: status.pending),
    (
        "pending_bytes", "Bytes of keys and values that are not sent yet, before compression.",
        lambda status, _: status.pending_bytes,
    ),
    (
        "oldest_pending_age_seconds", "Age of the oldest transaction that is not sent yet; 0 if there is none.",
        lambda status, now_s: (
            0.0 if status.oldest_pending_ms is None else max(0.0, now_s - status.oldest_pending_ms / 1000)
        ),
    ),
    (
        "retrying", "1 while it retries, for example because Kafka cannot be reached.",
        lambda status, _: float(status.retrying),
    ),
    (
        "last_sent_timestamp_seconds", "When the last transaction was noted as sent, since 1970-01-01 UTC.",
        lambda status, _: None if status.last_sent_ms is None else status.last_sent_ms / 1000,
    ),
)  # fmt: skip
_TOTALS: tuple[tuple[str, str, Callable[[Any], float]], ...] = (
    ("recorded_transactions", "Transactions recorded, by all instances.", lambda status: status.recorded),
    ("sent_transactions", "Transactions that Kafka has, from all instances.", lambda status: status.sent),
    (
        "left_out_records",
        "Records not sent because the format cannot represent them.",
        lambda status: status.not_carried,
    ),
    ("skipped_transactions", "Transactions skipped as a whole, by request.", lambda status: status.skipped),
    ("skipped_records", "Records skipped by request, with those of whole transactions.", lambda s: s.skipped_records),
)
_COUNTERS: tuple[tuple[str, str, Callable[[Any], float]], ...] = (
    ("acknowledged_transactions", "Transactions that Kafka acknowledged to this instance.", lambda n: n.transactions),
    ("acknowledged_records", "Records that Kafka acknowledged to this instance, by topic.", lambda n: n.records),
    (
        "acknowledged_bytes",
        "Bytes of keys and values of acknowledged records, before compression.",
        lambda n: n.size_bytes,
    ),
    ("retries", "Retries of this instance.", lambda n: n.retries),
    ("source_failures", "How often the watched source began to fail.", lambda n: n.source_failures),
)


class Producer(Protocol):
    """The part of ``kafka_replica.producer.StructureProducer`` that is measured."""

    @property
    def settings(self) -> Any: ...  # noqa: D102
    @property
    def counts(self) -> Any: ...  # noqa: D102
    @property
    def leads(self) -> bool: ...  # noqa: D102
    def status(self) -> Any: ...  # noqa: D102


class ProducerCollector(Collector):
    """A collector of the metrics of any number of producers, each under its id."""

    def __init__(self) -> None:
        self._producers: dict[str, Producer] = {}

    def add(self, producer: Producer) -> None:
        """Add a producer, which replaces a producer with the same id."""
        self._producers[producer.settings.id] = producer

    def remove(self, producer_id: str) -> None:
        """Remove a producer."""
        self._producers.pop(producer_id, None)

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; for a producer whose database does not answer, only those that this instance counts."""
        producers = {(name, each.settings.topic): each for name, each in list(self._producers.items())}
        statuses: dict[tuple[str, str], Any] = {}
        for labels, producer in producers.items():
            try:
                statuses[labels] = producer.status()
            except KafkaReplicaError:
                continue
        yield from _of_the_database(statuses)
        yield from _of_this_instance(producers)
        up = _gauge("database_up", "1 if the database answers.")
        for labels in producers:
            up.add_metric(labels, float(labels in statuses))
        yield up


def _of_the_database(statuses: Mapping[tuple[str, str], Any]) -> Iterator[Metric]:
    now_s = time.time()
    states = _gauge("state", "1 for the current mode, which is the same for all instances.", "state")
    for labels, status in statuses.items():
        for mode in _MODES:
            states.add_metric((*labels, mode), float(str(status.mode) == mode))
    yield states
    for name, help_text, value_of in _GAUGES:
        gauge = _gauge(name, help_text)
        for labels, status in statuses.items():
            value = value_of(status, now_s)
            if value is not None:
                gauge.add_metric(labels, value)
        yield gauge
    for name, help_text, total in _TOTALS:
        counter = _counter(name, help_text)
        for labels, status in statuses.items():
            counter.add_metric(labels, total(status))
        yield counter
    failed = _gauge(
        "failed_transaction_status", "tx_status of the transaction that suspended it: 2, 3 or 4; 0 if none."
    )
    for labels, status in statuses.items():
        failed.add_metric(labels, 0 if status.failed is None else status.failed.status)
    yield failed


def _of_this_instance(producers: Mapping[tuple[str, str], Producer]) -> Iterator[Metric]:
    leader = _gauge("leader", "1 if this instance publishes, 0 if it stands by.")
    source = _gauge("source_up", "1 unless the watched source cannot be read.")
    unreadable = _gauge("source_unreadable_artefacts", "Artefacts of the watched source that cannot be read.")
    suspensions = _counter("suspensions", "How often this instance suspended the producer, by tx_status.", "status")
    for labels, producer in producers.items():
        leader.add_metric(labels, float(producer.leads))
        source.add_metric(labels, float(producer.counts.source_error is None))
        unreadable.add_metric(labels, len(producer.counts.source_unreadable))
        for status in _FAILURES:
            suspensions.add_metric((*labels, status), producer.counts.suspensions[int(status)])
    yield from (leader, source, unreadable, suspensions)
    for name, help_text, value_of in _COUNTERS:
        counter = _counter(name, help_text)
        for labels, producer in producers.items():
            counter.add_metric(labels, value_of(producer.counts))
        yield counter


def _gauge(name: str, help_text: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(_PREFIX + name, help_text, labels=[*_LABELS, *labels])


def _counter(name: str, help_text: str, *labels: str) -> CounterMetricFamily:
    return CounterMetricFamily(_PREFIX + name, help_text, labels=[*_LABELS, *labels])


_collectors: WeakKeyDictionary[CollectorRegistry, ProducerCollector] = WeakKeyDictionary()


def export_producer(producer: Producer, *, registry: CollectorRegistry = REGISTRY) -> None:
    """Export the metrics of a producer to a registry, under its id.

    Args:
        producer: a ``StructureProducer``.
        registry: the registry; by default, that of prometheus-client.
    """
    collector = _collectors.get(registry)
    if collector is None:
        collector = _collectors[registry] = ProducerCollector()
        registry.register(collector)
    collector.add(producer)


def unexport_producer(producer_id: str, *, registry: CollectorRegistry = REGISTRY) -> None:
    """Stop exporting the metrics of a producer, for example after it was closed."""
    collector = _collectors.get(registry)
    if collector is not None:
        collector.remove(producer_id)


def serve(port: int, *, registry: CollectorRegistry = REGISTRY) -> Callable[[], None]:
    """Serve a registry over HTTP on all addresses; return a function that stops the server.

    Raises:
        ConfigurationError: the port cannot be opened.
    """
    try:
        server, thread = start_http_server(port, registry=registry)
    except OSError as error:
        raise ConfigurationError(f"serving metrics on port {port}: {error.strerror}; choose another port") from error

    def close() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return close
