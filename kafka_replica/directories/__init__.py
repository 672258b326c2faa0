"""Typed directories: the records of a replica as objects, with indexes that change together with its versions.

This package may import the core, but does not depend on SDMX. Read ``directory`` first, then ``contents``.
"""

from __future__ import annotations

from kafka_replica.directories.changes import DirectoryChange, DirectoryListener, ObjectChange
from kafka_replica.directories.database_transactions import DatabaseTransactions
from kafka_replica.directories.decoding import record_validator
from kafka_replica.directories.directory import Directory
from kafka_replica.directories.errors import DuplicateValueError
from kafka_replica.directories.indexes import Index, MultiValuedIndex, PrefixIndex, RangeIndex, UniqueIndex
from kafka_replica.directories.view import DirectoryView

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
