"""The store on disk: RocksDB, through rocksdict. Needs the extra ``rocksdb``."""

from kafka_replica.stores.rocks.store import RocksStore

__all__ = ["RocksStore"]
