"""Typed directories: the records of a replica as objects, with indexes that change together with its versions.

This package may import the core, but does not depend on SDMX. Read ``live.directory`` first, then ``contents``.
"""

from __future__ import annotations

from kafka_replica.directories.errors import DuplicateValueError
from kafka_replica.directories.indexes import Index, MultiValuedIndex, PrefixIndex, RangeIndex, UniqueIndex
from kafka_replica.directories.live.database_transactions import DatabaseTransactions
from kafka_replica.directories.live.directory import Directory
from kafka_replica.directories.records.decoding import record_validator
from kafka_replica.directories.versions.changes import DirectoryChange, DirectoryListener, ObjectChange
from kafka_replica.directories.versions.view import DirectoryView

__all__ = [
    "DatabaseTransactions",
    "Directory",
    "DirectoryChange",
    "DirectoryListener",
    "DirectoryView",
    "DuplicateValueError",
    "Index",
    "MultiValuedIndex",
    "ObjectChange",
    "PrefixIndex",
    "RangeIndex",
    "UniqueIndex",
    "record_validator",
]
