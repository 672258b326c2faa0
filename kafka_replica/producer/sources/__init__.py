"""Sources that list all their content, whose differences from the recorded content become transactions.

``FolderSource`` reads structure files, ``ServiceSource`` an SDMX REST service; a ``Watcher`` reads a source repeatedly
while its producer publishes. A producer with a source has exactly the content of the source, so record no other changes
with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafka_replica.producer.changes.changes import UnreadableKey
from kafka_replica.producer.sources.recording import Source, read_and_record, record_source

if TYPE_CHECKING:
    from kafka_replica.producer.sources.folder import FolderSettings, FolderSource
    from kafka_replica.producer.sources.rest import ServiceSettings, ServiceSource
    from kafka_replica.producer.sources.watcher import WatchedSource, Watcher

__all__ = [
    "FolderSettings",
    "FolderSource",
    "ServiceSettings",
    "ServiceSource",
    "Source",
    "UnreadableKey",
    "WatchedSource",
    "Watcher",
    "read_and_record",
    "record_source",
]

_HOMES = {
    "FolderSettings": "folder",
    "FolderSource": "folder",
    "ServiceSettings": "rest",
    "ServiceSource": "rest",
    "WatchedSource": "watcher",
    "Watcher": "watcher",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module(f"{__name__}.{home}"), name)
