"""Counts of records by the origin in their routing trails."""

from __future__ import annotations

from threading import Lock
from typing import NamedTuple

from kafka_replica.errors import ConfigurationError

_OTHERS = "(others)", "(others)", "(others)", "(others)"


class OriginUsage(NamedTuple):
    """The number of records of one origin that were read."""

    producer: str
    """The producer of the first hop; empty for records without a trail, ``(others)`` beyond ``max_origins``."""
    source: str
    cluster: str
    topic: str
    is_mirrored: bool
    """True if a mirror has copied the records."""
    records: int
    """The number of records, including tombstones."""
    tombstones: int
    size_bytes: int
    """The total size in bytes of the values that the piece has received."""


class Usage:
    """Counts of records by origin, filled by the ``RoutingTrail`` of a reader's stack. Thread-safe.

    The counts include every record that passes the stack, even if it is read again after a restart.
    ``kafka_replica.metrics.usage.export_usage`` exports them to Prometheus.

    Args:
        max_origins: the number of origins that are counted separately. Further origins are counted together, so that a
            writer that invents names cannot exhaust the memory.

    Raises:
        ConfigurationError: ``max_origins`` is not a positive integer.
    """

    def __init__(self, max_origins: int = 1000) -> None:
        if type(max_origins) is not int or max_origins < 1:
            raise ConfigurationError(f"max_origins={max_origins!r} is not possible; it is a number, 1 or more")
        self._max_origins = max_origins
        self._counts: dict[tuple[tuple[str, str, str, str], bool], list[int]] = {}
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"<Usage of {len(self._counts)} origins>"

    def count(self, origin: tuple[str, str, str, str], is_mirrored: bool, value: bytes | None) -> None:
        """Count a record.

        Args:
            origin: the producer, source, cluster and topic of the record's first hop.
            is_mirrored: whether a mirror has copied the record.
            value: the value of the record; None for a tombstone.
        """
        with self._lock:
            counts = self._counts.get((origin, is_mirrored))
            if counts is None:
                place = (origin if len(self._counts) < self._max_origins else _OTHERS, is_mirrored)
                counts = self._counts.setdefault(place, [0, 0, 0])
            counts[0] += 1
            counts[1] += value is None
            counts[2] += len(value or b"")

    def rows(self) -> list[OriginUsage]:
        """Return the counts, in descending order of the number of records."""
        with self._lock:
            rows = [OriginUsage(*origin, mirrored, *counts) for (origin, mirrored), counts in self._counts.items()]
        return sorted(rows, key=lambda row: (-row.records, row))

    def report(self) -> str:
        """Return the counts as a table in Markdown."""
        lines = [f"| {' | '.join(OriginUsage._fields)} |", f"|{'---|' * len(OriginUsage._fields)}"]
        lines += [f"| {' | '.join(_cell(value) for value in row)} |" for row in self.rows()]
        return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    return " ".join(str(value).split()).replace("|", "\\|")
