"""The messages between the main process and its workers."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from kafka_replica.publication.status import Status
from kafka_replica.records import Partition, Position, Stored
from kafka_replica.sdmx.lookups.live import LiveStats
from kafka_replica.server.settings import ListenSettings, ServerSettings

# --- from the main process ---


class ServiceDescription(NamedTuple):
    """The description of the service for a worker; the first message."""

    settings: ServerSettings
    listen: ListenSettings
    topics: tuple[str, ...]
    topic: str | None
    """The topic of the structures, as for ``create_app``."""
    has_key_spaces: bool
    has_large_values: bool
    history: int
    recent_changes: int
    has_history_on_disk: bool
    main_socket: str
    """The address at which the main process answers what only it can answer."""
    socket_descriptor: int
    shown_descriptor: int
    log_levels: Mapping[str, int]


class WholeState(NamedTuple):
    """A version follows that replaces all records: ``RecordsPart`` messages and then a ``NextVersion``."""

    version: int


class RecordsPart(NamedTuple):
    """Some records of the version that follows."""

    records: Sequence[Stored]
    source: Partition | None


class NextVersion(NamedTuple):
    """A version: the difference to the previous version, unless ``WholeState`` and ``RecordsPart`` preceded it."""

    sequence: int
    """Counts the versions that the main process has sent, from 1; unlike their numbers, it never restarts."""
    incarnation: str
    version: int
    position: Position
    is_whole: bool
    records: Sequence[Stored]
    """The new records of changed keys, and tombstones of deleted ones."""
    source: Partition | None
    changed: Collection[bytes]
    deleted: Collection[bytes]
    transactions: int | None
    source_transactions: tuple[str, ...] | None
    rebuilt: bool


class VersionsShown(NamedTuple):
    """The number of versions that may be shown has increased."""


class ServingPermission(NamedTuple):
    """The worker has the version that readers see: it may accept connections."""


class PresentStatus(NamedTuple):
    """The status of the replica."""

    status: Status


class ReplicaEnded(NamedTuple):
    """The replica has failed, with this message, or was closed."""

    error: str | None


# --- from a worker ---


class WorkerVersion(NamedTuple):
    """The worker has all versions up to this one, and can show them at once."""

    sequence: int


class WorkerHeartbeat(NamedTuple):
    """The worker handles requests; sent at intervals."""

    stats: LiveStats | None


class WorkerServing(NamedTuple):
    """The worker accepts connections."""


class LogLine(NamedTuple):
    """A line for the log."""

    record: logging.LogRecord
