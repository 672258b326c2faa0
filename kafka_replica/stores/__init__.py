"""Stores of versions: one contract (``Store``, ``Snapshot``), in memory or on disk (``rocks``).

This package may import ``transactions`` and ``records``. Read ``contract`` first, then ``memory``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafka_replica.errors import StoreDamagedError, StoreError, StoreInUseError
from kafka_replica.stores.contract import Snapshot, Store
from kafka_replica.stores.memory import MemoryStore

if TYPE_CHECKING:
    from kafka_replica.stores.rocks import RocksStore

__all__ = [
    "MemoryStore",
    "RocksStore",
    "Snapshot",
    "Store",
    "StoreDamagedError",
    "StoreError",
    "StoreInUseError",
]


def __getattr__(name: str) -> Any:
    """Import the store on disk on first use, since it needs an extra."""
    if name != "RocksStore":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from kafka_replica.stores.rocks import RocksStore  # noqa: PLC0415

    return RocksStore
