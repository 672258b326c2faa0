"""The role of a process in a service of several processes; see ``workers``."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, TypeAlias

from kafka_replica.metrics.sdmx import Live


class WorkerRole(NamedTuple):
    """The role of a worker: it answers clients, and passes on what only the main process can answer."""

    main_socket: str
    """The address of the main process."""
    has_history: bool
    """True if the main process has a history on disk."""


class MainRole(NamedTuple):
    """The role of the main process: it answers what workers pass on."""

    metrics_folder: Path
    """The folder in which workers count requests."""
    structures: Live
    """The statistics of the workers' look-ups."""


Role: TypeAlias = WorkerRole | MainRole | None
"""The role of a process; None if there is only one."""
