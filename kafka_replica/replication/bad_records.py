"""Handling of records that cannot be replicated: they are set aside and reported, or they stop the replica."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

from kafka_replica.errors import BadRecordError
from kafka_replica.publication.bad_record_list import BadRecordList, BadState, KeyInPartition
from kafka_replica.records import Partition
from kafka_replica.replication.dead_letters import DeadLetters
from kafka_replica.replication.delta_builder import CommittedOutcome, DeltaBuilder

_log = logging.getLogger("kafka_replica")


class BadRecordHandler:
    """The handler of bad records, according to ``on_bad_record``. Only the writing thread may use it.

    Args:
        bad_records: the list that users see.
        delta_builder: the builder that found them; it forgets those that the list drops.
        on_bad_record: "stop" fails the replica at the first bad record.
        dead_letters: receives the bad records; None if they are not kept.
    """

    def __init__(
        self,
        bad_records: BadRecordList,
        delta_builder: DeltaBuilder,
        *,
        on_bad_record: str,
        dead_letters: DeadLetters | None,
    ) -> None:
        self._bad_records = bad_records
        self._delta_builder = delta_builder
        self._stops = on_bad_record == "stop"
        self._dead_letters = dead_letters

    def handle(self, outcome: CommittedOutcome) -> None:
        """Handle the bad records that were found among committed records.

        Raises:
            BadRecordError: ``on_bad_record`` is "stop"; the error ends the replica.
            KafkaReplicaError: the dead letters could not be written.
        """
        if outcome.bad or outcome.states:
            self._forget(self._bad_records.add(outcome.bad, outcome.states))
        if not outcome.bad:
            return
        if self._stops:
            raise outcome.bad[0]
        for bad in outcome.bad:
            _log.warning("set aside: %s", bad)
        if self._dead_letters is not None:
            self._dead_letters.put(outcome.bad)

    def expire(self, starts: Mapping[Partition, int], states: Mapping[KeyInPartition, BadState]) -> None:
        """Forget the bad records below these offsets, which are no longer in the log; list what they no longer hide."""
        self._forget(self._bad_records.expire(starts))
        self._bad_records.update(states)

    def _forget(self, unlisted: Iterable[BadRecordError]) -> None:
        """Forget records that the list has dropped, because memory for them is limited."""
        for bad in unlisted:
            self._delta_builder.forget(bad)
