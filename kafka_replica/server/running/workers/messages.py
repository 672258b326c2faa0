"""The messages between the main process and its workers."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from kafka_replica.errors import BadRecordError
from kafka_replica.publication.status import Status
from kafka_replica.records import Partition, Position, Stored
from kafka_replica.sdmx.lookups.live_structures import LiveStats
from kafka_replica.server.settings import ListenSettings, ServerSettings

# --- from the main process ---


class ServiceDescription(NamedTuple):
    """The description of the service for a worker; this is the first message."""

    settings: ServerSettings
    listen: ListenSettings
    topics: tuple[str, ...]
    topic: str | None
    """The topic of the structures, as for ``create_app``."""
    has_key_spaces: bool
    has_large_values: bool
    kept_versions: int
    recent_changes: int
    has_history_on_disk: bool
    main_socket: str
    """The path of the socket at which the main process answers forwarded requests."""
    socket_descriptor: int
    shown_descriptor: int
    log_levels: Mapping[str, int]


class WholeState(NamedTuple):
    """The start of a version that replaces all records: ``RecordsPart`` messages and a ``NextVersion`` follow."""

    version: int


class RecordsPart(NamedTuple):
    """Some records of the version that follows."""

    records: Sequence[Stored]
    source: Partition | None


class NextVersion(NamedTuple):
    """A version: the difference to the previous version, unless ``WholeState`` and ``RecordsPart`` preceded it."""

    sequence: int
    """The count of versions that the main process has sent, from 1; unlike version numbers, it never restarts."""
    incarnation: str
    version: int
    position: Position
    is_whole: bool
    records: Sequence[Stored]
    """The new records of changed keys, and tombstones for deleted keys."""
    source: Partition | None
    changed: Collection[bytes]
    deleted: Collection[bytes]
    transactions: int | None
    source_transactions: tuple[str, ...] | None
    rebuilt: bool


class VersionsShown(NamedTuple):
    """The notification that further versions may be shown, whose sequence is in shared memory."""


class ServingPermission(NamedTuple):
    """The permission to accept connections, because the worker has the version that readers see."""


class PresentStatus(NamedTuple):
    """The current status of the replica."""

    status: Status


class PresentBadRecords(NamedTuple):
    """The records that the replica has set aside and that still apply; see ``Replica.bad_records``."""

    bad_records: tuple[BadRecordError, ...]


class ReplicaEnd(NamedTuple):
    """The notification that the replica has failed with an error message, or was closed (None)."""

    error: str | None


# --- from a worker ---


class WorkerVersion(NamedTuple):
    """The confirmation that the worker has all versions up to a sequence, and can show them immediately."""

    sequence: int


class WorkerHeartbeat(NamedTuple):
    """The report, sent at regular intervals, that the worker handles requests, with its statistics."""

    stats: LiveStats | None


class ServingReport(NamedTuple):
    """The report that the worker accepts connections."""


class LogLine(NamedTuple):
    """A line for the log."""

    record: logging.LogRecord
