"""The throughput of a replica, computed from its counts at the times when the page is viewed."""

from __future__ import annotations

from collections import deque
from threading import Lock
from typing import Final, NamedTuple

from kafka_replica.publication.status import Counts

_RECENT_S: Final = 10.0
_KEPT: Final = 100


class Rate(NamedTuple):
    """The records, transactions and versions per second in a period."""

    period_s: float
    records: float
    transactions: float
    versions: float


class Throughput:
    """Computes rates since the first view of the page, and recent ones. Thread-safe; does nothing between views."""

    def __init__(self) -> None:
        self._first: tuple[float, Counts] | None = None
        self._samples: deque[tuple[float, Counts]] = deque(maxlen=_KEPT)
        self._lock = Lock()

    def rates(self, now_s: float, counts: Counts) -> tuple[Rate, ...]:
        """Store the counts; return the rates since the newest view that is at least 10 s old, and since the first.

        Rates over less than 1 s are left out, so that the first view has none.

        Args:
            now_s: the time in seconds of a monotonic clock.
            counts: the counts of the replica at that time.
        """
        with self._lock:
            if self._first is None:
                self._first = now_s, counts
            since = {self._first[0]: self._first[1]}
            old = [sample for sample in self._samples if now_s - sample[0] >= _RECENT_S]
            since |= dict(old[-1:])
            if not self._samples or now_s - self._samples[-1][0] >= 1:
                self._samples.append((now_s, counts))
        return tuple(_rate(now_s - then_s, before, counts) for then_s, before in since.items() if now_s - then_s >= 1)[
            ::-1
        ]


def _rate(period_s: float, before: Counts, now: Counts) -> Rate:
    return Rate(
        period_s,
        (now.records - before.records) / period_s,
        (now.transactions - before.transactions) / period_s,
        (now.versions - before.versions) / period_s,
    )
