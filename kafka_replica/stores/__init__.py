"""Where versions are kept: one contract (``Store``, ``Snapshot``), one backend a module."""

from kafka_replica.stores.contract import Snapshot, Store
from kafka_replica.stores.memory import MemoryStore

__all__ = ["MemoryStore", "Snapshot", "Store"]
