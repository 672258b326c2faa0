"""Interpreters of common formats, for records that are not simply a value under their key.

The module ``directories.records.interpretation`` defines the interface. This package may import only this module,
records, errors and msgspec. Read ``connect_json`` first.
"""

from __future__ import annotations

from kafka_replica.directories.records.interpretation import DeleteAll, Interpretation, Interpreter, Put
from kafka_replica.errors import MissingExtraError

try:
    import msgspec  # noqa: F401
except ImportError as error:
    raise MissingExtraError("interpreting records in JSON", "directories") from error

from kafka_replica.directories.interpreters.active_rows import ActiveRows
from kafka_replica.directories.interpreters.connect_json import ConnectJson
from kafka_replica.directories.interpreters.debezium import DebeziumEvents
from kafka_replica.directories.interpreters.folio import FolioEvents

__all__ = [
    "ActiveRows",
    "ConnectJson",
    "DebeziumEvents",
    "DeleteAll",
    "FolioEvents",
    "Interpretation",
    "Interpreter",
    "Put",
]
