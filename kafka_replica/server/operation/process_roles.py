"""The role of a process in a service of several processes; see ``running.workers``."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, TypeAlias

from kafka_replica.metrics.sdmx import StatsSource


class WorkerRole(NamedTuple):
    """The role of a worker, which answers clients, and forwards requests that only the main process can answer."""

    main_socket: str
    """The path of the socket of the main process."""
    has_history: bool
    """True if the main process has a history on disk."""


class MainRole(NamedTuple):
    """The role of the main process, which answers the requests that workers forward."""

    metrics_folder: Path
    """The folder in which workers count requests."""
    structures: StatsSource
    """The statistics of the workers' look-ups."""


Role: TypeAlias = WorkerRole | MainRole | None
"""The role of a process; None if the service has only one process."""
