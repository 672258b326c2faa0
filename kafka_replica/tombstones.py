"""Whether a deletion may have been forgotten by Kafka before it was read.

Kafka keeps a tombstone for ``delete.retention.ms`` after the records that it deletes were compacted away. Who has
read everything at some time finds each later tombstone, if he reads on within that time. Who comes later may not,
and would keep what was deleted: a ghost. That goes for a process that was down, and for one that heard nothing.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from kafka_replica.records import Cut

_log = logging.getLogger("kafka_replica")

_KAFKAS_DEFAULT_S = 86_400.0
_ASK_AGAIN_S = 60.0


class Tombstones:
    """For how long they are kept, against how long ago everything was read.

    Args:
        kept_s: for how long, in seconds; None asks the topics.
    """

    def __init__(self, kept_s: float | None) -> None:
        self._given_s = kept_s
        self.kept_s = _KAFKAS_DEFAULT_S
        self.caught_up_ms: int | None = None
        self._asked_s: float | None = None
        self._ended: tuple[int, Cut] | None = None  # when the ends were asked for, and where they were

    def ended(self, asked_ms: int, high_watermarks: Cut) -> None:
        """Where the log ended when it was asked for, at that time or later."""
        if self._ended is None:
            self._ended = asked_ms, high_watermarks

    def read(self, positions: Cut) -> None:
        """Reading has come that far.

        Only an answer to a question tells that there was no more at some time: what a fetch says of the end may be
        from before the broker fell silent, or this process was suspended.
        """
        if self._ended is not None and positions.dominates(self._ended[1]):
            self.caught_up(self._ended[0])
            self._ended = None

    def caught_up(self, at_ms: int) -> None:
        """At that time (milliseconds since 1970-01-01 UTC) everything that there was had been read."""
        self.caught_up_ms = at_ms

    def away_s(self) -> float:
        """How long ago that was; 0 while a first reading is under way."""
        return 0.0 if self.caught_up_ms is None else max(0.0, time.time() - self.caught_up_ms / 1000)

    def may_be_gone(self, ask: Callable[[], float | None], at_least_s: float = 0.0) -> bool:
        """Whether one may be gone that was not read, given that something is missing.

        Args:
            ask: asks the topics for how long tombstones are kept, in seconds; None: we may not ask.
            at_least_s: for how long they are taken to be there in any case.
        """
        away_s = self.away_s()
        if away_s == 0:
            return False
        if self._given_s is not None:
            self.kept_s = self._given_s
        elif self._asked_s is None or time.monotonic() - self._asked_s > _ASK_AGAIN_S:
            self._ask(ask)
        return away_s > max(self.kept_s, at_least_s)

    def _ask(self, ask: Callable[[], float | None]) -> None:
        found = ask()
        if found is None and self._asked_s is None:
            _log.warning(
                "the replica may not ask for delete.retention.ms (the right DescribeConfigs on the topic): it takes "
                "Kafka's default, a day; set tombstones_kept_s if it is another"
            )
        self.kept_s = _KAFKAS_DEFAULT_S if found is None else found
        self._asked_s = time.monotonic()
