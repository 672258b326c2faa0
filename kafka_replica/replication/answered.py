"""Record which servers have ever answered a replica, in all its attempts to follow the log."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Answered:
    """The servers that have answered, so that a later refusal may be temporary. Only the reading thread may use it."""

    broker: bool = False
    service: bool = False
    """The service for keys or schemas."""
