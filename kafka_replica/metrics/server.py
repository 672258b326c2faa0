"""Count the requests to the HTTP service as Prometheus metrics, and write the text that Prometheus scrapes.

Labels are bounded: ``route`` is one of the service's routes, ``method`` is GET, HEAD, OPTIONS, POST or ``other``, and
``status`` is an HTTP status.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from kafka_replica.errors import MissingExtraError

try:
    from prometheus_client import (
        CollectorRegistry,
        Counter,
        Gauge,
        Histogram,
        Metric,
        PlatformCollector,
        ProcessCollector,
    )
    from prometheus_client.exposition import generate_latest
    from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
except ImportError as error:
    raise MissingExtraError("exporting metrics", "metrics") from error

FOLDER_VARIABLE: Final = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable that makes prometheus-client count in files in a folder, which outlive the process."""
_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST"})
_BUCKETS_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_PREFIX = "kafka_replica_http_"


class RequestMetrics:
    """The counts of requests, in a separate registry that also has the metrics of the process."""

    def __init__(self) -> None:
        self.registry = _registry()
        labels = ("route", "method")
        self._requests = Counter(
            f"{_PREFIX}requests",
            "Requests that have ended; status 0: the client left before a response.",
            (*labels, "status"),
            registry=self.registry,
        )
        self._durations = Histogram(
            f"{_PREFIX}request_duration_seconds", "From the request to the end of its response.", labels,
            buckets=_BUCKETS_S, registry=self.registry,
        )  # fmt: skip
        self._bytes = Counter(f"{_PREFIX}response_bytes", "Bytes of responses.", labels, registry=self.registry)
        self._running = _gauge("requests_in_progress", "Requests in progress.", self.registry)
        self._streams = _gauge("change_streams", "Open streams of changes.", self.registry)
        self._series: dict[tuple[str, str, int], tuple[Counter, Histogram, Counter]] = {}  # finding labels takes longer

    def begun(self) -> None:
        """Count a request as in progress until ``ended`` is called."""
        self._running.inc()

    def streams(self, count: int) -> None:
        """Set the number of open streams of changes."""
        self._streams.set(count)

    def ended(self, route: str, method: str, status: int, duration_s: float, bytes_sent: int) -> None:
        """Count a request that has ended and is no longer in progress; see ``counted``."""
        self._running.dec()
        self.counted(route, method, status, duration_s, bytes_sent)

    def counted(self, route: str, method: str, status: int, duration_s: float, bytes_sent: int) -> None:
        """Count a request that has ended, for which ``begun`` was not called.

        Args:
            route: the route.
            method: the HTTP method.
            status: the HTTP status; 0 means that there was no response.
            duration_s: the time from the request to the end of its response, in seconds.
            bytes_sent: the size of the response.
        """
        key = (route, method if method in _METHODS else "other", status)
        series = self._series.get(key)
        if series is None:
            labels = key[:2]
            series = self._series[key] = (
                self._requests.labels(*labels, str(status)),
                self._durations.labels(*labels),
                self._bytes.labels(*labels),
            )
        requests, durations, sent = series
        requests.inc()
        durations.observe(duration_s)
        sent.inc(bytes_sent)

    def exposition(self) -> tuple[bytes, str]:
        """Return the text that Prometheus scrapes, and its media type."""
        return generate_latest(self.registry), _MEDIA_TYPE


class _FolderCollector(MultiProcessCollector):
    """Adds up the files of a folder, except those that a starting process has created and not filled yet."""

    def collect(self) -> Iterable[Metric]:
        """Return the sums. prometheus-client fails if a file is empty."""
        files = [str(path) for path in Path(self._path).glob("*.db") if _is_filled(path)]
        found: Iterable[Metric] = self.merge(files, accumulate=True)  # type: ignore[no-untyped-call]
        return found


class SummedMetrics:
    """The summed counts of requests to several processes, together with the metrics of the main process.

    Args:
        folder: the folder in which the processes count; see ``FOLDER_VARIABLE``. The counts of a process remain when it
            has ended.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self.registry = _registry()
        _FolderCollector(self.registry, self._folder)  # type: ignore[no-untyped-call]
        self.workers = Gauge(f"{_PREFIX}workers", "Workers that accept connections.", registry=self.registry)
        self.restarts = Counter(
            f"{_PREFIX}worker_restarts", "Workers that ended unexpectedly and were replaced.", registry=self.registry
        )

    def ended(self, process: int) -> None:
        """Remove the gauges of a process that has ended, such as its requests in progress."""
        mark_process_dead(process, self._folder)  # type: ignore[no-untyped-call]

    def exposition(self) -> tuple[bytes, str]:
        """Return the text that Prometheus scrapes, and its media type."""
        return generate_latest(self.registry), _MEDIA_TYPE


def _is_filled(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:  # gauges of a process that has just ended
        return False


def _registry() -> CollectorRegistry:
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    return registry


def _gauge(name: str, help_text: str, registry: CollectorRegistry) -> Gauge:
    # With several processes, the values of those that are alive are added up.
    return Gauge(_PREFIX + name, help_text, registry=registry, multiprocess_mode="livesum")
