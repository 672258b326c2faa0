"""What becomes of records that cannot be replicated: set aside where everybody sees it, or the replica's end."""

from __future__ import annotations

import logging

from kafka_replica.publication.publisher import Publisher
from kafka_replica.replication.dead_letters import DeadLetters
from kafka_replica.replication.delta_builder import Settled
from kafka_replica.replication.record_filter import RecordFilter

_log = logging.getLogger("kafka_replica")


class BadRecordHandler:
    """For the thread that writes.

    Args:
        publisher: where it is told.
        record_filter: what found them.
        on_bad_record: "stop" ends the replica at the first.
        dead_letters: gets them, where there is such a place.
    """

    def __init__(
        self, publisher: Publisher, record_filter: RecordFilter, *, on_bad_record: str, dead_letters: DeadLetters | None
    ) -> None:
        self._publisher = publisher
        self._record_filter = record_filter
        self._stops = on_bad_record == "stop"
        self._dead_letters = dead_letters

    def tell(self, settled: Settled) -> None:
        """Of those found among records that were taken in.

        Raises:
            BadRecordError: it ends the replica.
            PublishError: the dead letters could not be written.
        """
        if settled.bad:
            self._publisher.set_aside(settled.bad)
        if settled.cleared:  # perhaps of a bad record that came just before; or another one came just after
            self._publisher.cleared([place for place in settled.cleared if not self._record_filter.is_bad(*place)])
        if not settled.bad:
            return
        if self._stops:
            raise settled.bad[0]
        for bad in settled.bad:
            _log.warning("set aside: %s", bad)
        if self._dead_letters is not None:
            self._dead_letters.put(settled.bad)
