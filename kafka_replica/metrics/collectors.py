"""The collector of each kind in each registry, which is created and registered at its first use."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from kafka_replica.errors import MissingExtraError, UsageError

try:
    from prometheus_client import CollectorRegistry
    from prometheus_client.registry import Collector
except ImportError as error:
    raise MissingExtraError("exporting metrics", "metrics") from error

C = TypeVar("C", bound=Collector)


class Collectors(Generic[C]):
    """The collectors of one kind by registry.

    Args:
        make: returns a new collector.
    """

    def __init__(self, make: Callable[[], C]) -> None:
        self._make = make
        self._collectors: WeakKeyDictionary[CollectorRegistry, C] = WeakKeyDictionary()
        self._lock = Lock()

    def of(self, registry: CollectorRegistry) -> C:
        """Return the collector of a registry. Thread-safe.

        Raises:
            UsageError: the registry refuses it, because it has other metrics of the same names.
        """
        with self._lock:
            collector = self._collectors.get(registry)
            if collector is None:
                collector = self._make()
                try:
                    registry.register(collector)
                except ValueError as error:
                    raise UsageError(
                        f"exporting metrics: the registry refuses them: {error}; use another registry, or rename your "
                        "own metrics"
                    ) from error
                self._collectors[registry] = collector
            return collector

    def known(self, registry: CollectorRegistry) -> C | None:
        """Return the collector of a registry; None if it was never used."""
        return self._collectors.get(registry)
