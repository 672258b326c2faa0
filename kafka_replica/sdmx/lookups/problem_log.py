"""Log the unreadable records and dangling references that the metrics only count."""

from __future__ import annotations

import logging
from threading import Lock
from typing import Final

from kafka_replica.common.wording import counted
from kafka_replica.sdmx.lookups.references import DanglingReference
from kafka_replica.sdmx.lookups.structures import Structures
from kafka_replica.sdmx.urns.urn import Urn

_SHOWN: Final = 10
"""The maximum number of problems that are named; the others are counted."""
_MOST_COMPARED: Final = 1000
"""More dangling references are only counted: each new version would sort and compare all of them."""

_log = logging.getLogger("kafka_replica")


class ProblemLog:
    """A log of the problems of a replica's newest version, each once as long as it exists. Thread-safe.

    Each process of a service has its own.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._version = -1
        self._unreadable: dict[Urn, str] = {}
        self._dangling: frozenset[DanglingReference] = frozenset()
        self._is_many = False

    def note(self, structures: Structures) -> None:
        """Log the problems that the version logged before did not have; its references have been counted."""
        with self._lock:
            if structures.version == self._version:
                return
            self._version = structures.version
            before = self._unreadable
            self._unreadable = {urn: str(error) for urn, error in structures.unreadable_records().items()}
            _warn("unreadable record", [text for urn, text in self._unreadable.items() if before.get(urn) != text])
            stats = structures.reference_stats
            if stats is not None and stats.dangling > _MOST_COMPARED:
                if not self._is_many:
                    _log.warning("structures: %s", counted(stats.dangling, "dangling reference"))
                self._is_many, self._dangling = True, frozenset()
                return
            self._is_many, dangling = False, structures.dangling_references()
            _warn(
                "dangling reference",
                [f"{one.source} refers to {one.target}" for one in dangling if one not in self._dangling],
            )
            self._dangling = frozenset(dangling)


def _warn(what: str, problems: list[str]) -> None:
    if problems:
        rest = f"; and {len(problems) - _SHOWN:,} more" if len(problems) > _SHOWN else ""
        _log.warning("structures: %s: %s%s", counted(len(problems), what), "; ".join(problems[:_SHOWN]), rest)
