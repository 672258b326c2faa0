"""Export the status of a producer as Prometheus metrics.

::

    with StructureProducer(settings) as producer:
        export_producer(producer)
        close = serve_metrics(9101)

At each scrape, the database is queried, and has to answer within 3 s. The counters of this instance are updated while
the producer works. Labels are bounded: ``producer`` is the producer's id, ``topic`` the configured topic, and ``state``
and ``status`` have a fixed set of values.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from functools import partial
from threading import Lock, Thread
from typing import Any, Protocol

from kafka_replica.errors import ConfigurationError, KafkaReplicaError, MissingExtraError
from kafka_replica.metrics.collectors import Collectors

try:
    from prometheus_client import REGISTRY, CollectorRegistry, start_http_server
    from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
    from prometheus_client.registry import Collector
except ImportError as error:
    raise MissingExtraError("exporting metrics", "metrics") from error

_PREFIX = "kafka_replica_producer_"
_ANSWER_WITHIN_S = 3.0  # Prometheus waits 10 s for all metrics, unless it is configured differently
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


class _StatusQuery:
    """Queries of a producer's status by other threads, because a database may hang; at most one runs at a time."""

    def __init__(self, producer: Producer) -> None:
        self.producer = producer
        self._lock = Lock()
        self._newest: Future[Any] | None = None

    def begin(self) -> Future[Any]:
        """Return the query that is running, or else a new one."""
        with self._lock:
            if self._newest is None or self._newest.done():
                self._newest = Future()
                Thread(target=self._answer, args=[self._newest], name="kafka_replica metrics", daemon=True).start()
            return self._newest

    def _answer(self, answer: Future[Any]) -> None:
        try:
            answer.set_result(self.producer.status())
        except BaseException as error:  # noqa: BLE001 - raised in the thread that waits for the answer
            answer.set_exception(error)


class ProducerCollector(Collector):
    """A collector of the metrics of any number of producers, each under its id."""

    def __init__(self) -> None:
        self._producers: dict[str, _StatusQuery] = {}
        self._announced: set[tuple[str, str]] = set()

    def add(self, producer: Producer) -> None:
        """Add a producer, which replaces a producer with the same id."""
        self._producers[producer.settings.id] = _StatusQuery(producer)

    def announce(self, producer_id: str, topic: str) -> None:
        """Add a producer that waits for its database; nothing else is known about it yet."""
        self._announced.add((producer_id, topic))

    def withdraw(self, producer_id: str, topic: str) -> None:
        """Remove an announced producer."""
        self._announced.discard((producer_id, topic))

    def remove(self, producer_id: str) -> None:
        """Remove a producer."""
        self._producers.pop(producer_id, None)

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; for a producer whose database does not answer, only those that this instance counts."""
        queries = {(name, each.producer.settings.topic): each for name, each in list(self._producers.items())}
        statuses = _answered({labels: query.begin() for labels, query in queries.items()})
        yield from _of_the_database(statuses)
        yield from _of_this_instance({labels: query.producer for labels, query in queries.items()})
        up = _gauge("database_up", f"1 if the database answers within {_ANSWER_WITHIN_S:g} s.")
        for labels in {*queries, *self._announced}:
            up.add_metric(labels, float(labels in statuses))
        yield up


def _answered(queries: Mapping[tuple[str, str], Future[Any]]) -> dict[tuple[str, str], Any]:
    """Return the statuses of the producers whose databases answer in time."""
    end_s = time.monotonic() + _ANSWER_WITHIN_S
    statuses: dict[tuple[str, str], Any] = {}
    for labels, query in queries.items():
        try:
            statuses[labels] = query.result(max(0.0, end_s - time.monotonic()))
        except (KafkaReplicaError, TimeoutError):
            continue
    return statuses


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


_collectors = Collectors(ProducerCollector)


def export_producer(producer: Producer, *, registry: CollectorRegistry = REGISTRY) -> None:
    """Export the metrics of a producer to a registry, under its id.

    Args:
        producer: a ``StructureProducer``.
        registry: the registry; by default, that of prometheus-client.
    """
    _collectors.of(registry).add(producer)


def announce_producer(producer_id: str, topic: str, *, registry: CollectorRegistry = REGISTRY) -> Callable[[], None]:
    """Export that the database of a producer does not answer, while a program waits for it to create the producer.

    Args:
        producer_id: the id of the producer; empty if it is not known yet.
        topic: the topic, as configured.
        registry: the registry; by default, that of prometheus-client.

    Returns:
        A function that removes the announced producer; call it after ``export_producer``.
    """
    collector = _collectors.of(registry)
    collector.announce(producer_id, topic)
    return partial(collector.withdraw, producer_id, topic)


def unexport_producer(producer_id: str, *, registry: CollectorRegistry = REGISTRY) -> None:
    """Stop exporting the metrics of a producer, for example after it was closed."""
    collector = _collectors.known(registry)
    if collector is not None:
        collector.remove(producer_id)


def serve_metrics(port: int, *, registry: CollectorRegistry = REGISTRY) -> Callable[[], None]:
    """Serve a registry over HTTP on all addresses; return a function that stops the server.

    Raises:
        ConfigurationError: the port is not possible, or cannot be opened.
    """
    if type(port) is not int or not 0 <= port <= 65535:
        raise ConfigurationError(f"serving metrics: port={port!r} is not possible; use a number from 0 to 65535")
    try:
        server, thread = start_http_server(port, registry=registry)
    except OSError as error:
        raise ConfigurationError(f"serving metrics on port {port}: {error.strerror}; choose another port") from error

    def close() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return close
