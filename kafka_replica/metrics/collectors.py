"""The collector of each kind in each registry, which is created and registered at its first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from kafka_replica.errors import MissingExtraError

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

    def of(self, registry: CollectorRegistry) -> C:
        """Return the collector of a registry."""
        collector = self._collectors.get(registry)
        if collector is None:
            collector = self._collectors[registry] = self._make()
            registry.register(collector)
        return collector

    def known(self, registry: CollectorRegistry) -> C | None:
        """Return the collector of a registry; None if it was never used."""
        return self._collectors.get(registry)
