"""The store on disk: RocksDB, through rocksdict. The extra ``rocksdb`` installs what it needs."""

from kafka_replica.stores.rocks.store import RocksStore

__all__ = ["RocksStore"]
