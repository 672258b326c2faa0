"""The indexes of a directory: by unique values, by shared values, by prefix and by range. Read ``contract`` first."""

from __future__ import annotations

from kafka_replica.directories.indexes.by_equality import MultiValuedIndex, UniqueIndex
from kafka_replica.directories.indexes.by_order import PrefixIndex, RangeIndex
from kafka_replica.directories.indexes.contract import Index, check_indexes, extractor

__all__ = ["Index", "MultiValuedIndex", "PrefixIndex", "RangeIndex", "UniqueIndex", "check_indexes", "extractor"]
