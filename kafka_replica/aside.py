"""What becomes of records that cannot be replicated: set aside where everybody sees it, or the replica's end."""

from __future__ import annotations

import logging

from kafka_replica.assembly import Settled
from kafka_replica.board import Board
from kafka_replica.dead_letters import DeadLetters
from kafka_replica.sieve import Sieve

_log = logging.getLogger("kafka_replica")


class Aside:
    """For the thread that writes.

    Args:
        board: where it is told.
        sieve: what found them.
        on_bad_record: "stop" ends the replica at the first.
        dead_letters: gets them, where there is such a place.
    """

    def __init__(self, board: Board, sieve: Sieve, *, on_bad_record: str, dead_letters: DeadLetters | None) -> None:
        self._board = board
        self._sieve = sieve
        self._stops = on_bad_record == "stop"
        self._dead_letters = dead_letters

    def tell(self, settled: Settled) -> None:
        """Of those found among records that were taken in.

        Raises:
            BadRecordError: it ends the replica.
            PublishError: the dead letters could not be written.
        """
        if settled.bad:
            self._board.set_aside(settled.bad)
        if settled.cleared:  # perhaps of a bad record that came just before; or another one came just after
            self._board.cleared([place for place in settled.cleared if not self._sieve.is_bad(*place)])
        if not settled.bad:
            return
        if self._stops:
            raise settled.bad[0]
        for bad in settled.bad:
            _log.warning("set aside: %s", bad)
        if self._dead_letters is not None:
            self._dead_letters.put(settled.bad)
