"""Export the state of directories of objects as Prometheus metrics.

::

    terminals = Directory(replica, Terminal)
    export_directory(terminals, "terminals")

Values are read at each scrape. A directory is no longer exported after it or its replica was closed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sized
from typing import Protocol

from kafka_replica.errors import KafkaReplicaError, MissingExtraError
from kafka_replica.metrics.collectors import Collectors

try:
    from prometheus_client import REGISTRY, CollectorRegistry
    from prometheus_client.metrics_core import GaugeMetricFamily, Metric
    from prometheus_client.registry import Collector
except ImportError as error:
    raise MissingExtraError("exporting metrics", "metrics") from error

_FAILED = "1 while look-ups raise an error, such as that of a bad record, and listeners are not called."
_BAD_RECORDS = "Records of the newest version that could not be decoded; missing without a version."


class DirectoryState(Protocol):
    """The state of a directory: ``kafka_replica.directories.Directory``."""

    @property
    def closed(self) -> bool: ...  # noqa: D102
    @property
    def error(self) -> KafkaReplicaError | None: ...  # noqa: D102
    @property
    def bad_records(self) -> Sized:
        """The bad records of the newest version; raises KafkaReplicaError if there is no version."""
        ...


class DirectoryCollector(Collector):
    """A collector of the metrics of any number of directories, each under its own name."""

    def __init__(self) -> None:
        self._directories: dict[str, DirectoryState] = {}

    def add(self, directory: DirectoryState, name: str) -> None:
        """Add a directory, which replaces a directory with the same name."""
        self._directories[name] = directory

    def remove(self, name: str) -> None:
        """Remove a directory."""
        self._directories.pop(name, None)

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of all directories that are not closed."""
        failed = GaugeMetricFamily("kafka_replica_directory_failed", _FAILED, labels=["directory"])
        bad_records = GaugeMetricFamily("kafka_replica_directory_bad_records", _BAD_RECORDS, labels=["directory"])
        for name, directory in list(self._directories.items()):
            if directory.closed:
                continue
            failed.add_metric([name], float(directory.error is not None))
            count = _bad_records(directory)
            if count is not None:
                bad_records.add_metric([name], count)
        yield failed
        yield bad_records


def _bad_records(directory: DirectoryState) -> int | None:
    try:
        return len(directory.bad_records)
    except KafkaReplicaError:
        return None


_collectors = Collectors(DirectoryCollector)


def export_directory(directory: DirectoryState, name: str, *, registry: CollectorRegistry = REGISTRY) -> None:
    """Export the metrics of a directory to a registry.

    Args:
        directory: the ``Directory``.
        name: the value of the label ``directory``, which must differ between the directories in a registry.
        registry: the registry; by default, that of prometheus-client.
    """
    _collectors.of(registry).add(directory, name)


def unexport_directory(name: str, *, registry: CollectorRegistry = REGISTRY) -> None:
    """Stop exporting the metrics of a directory."""
    collector = _collectors.known(registry)
    if collector is not None:
        collector.remove(name)
