"""The mode in which a producer starts: it resumes, or begins with the first action that its user has chosen."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

from sqlalchemy import Engine

from kafka_replica.producer.outbox.database import writing
from kafka_replica.producer.outbox.lease import LeaseHolder
from kafka_replica.producer.outbox.modes import Intent, Mode, intent_of
from kafka_replica.producer.outbox.outbox import Outbox
from kafka_replica.producer.outbox.queue import Queue
from kafka_replica.producer.relay.kafka_session import KafkaSession

FirstStart = Literal["idle", "flush", "resume"]


class Start:
    """Decides how a producer starts when no other instance was running, and nothing had failed.

    Args:
        engine: the database.
        outbox: the outbox.
        queue: the queue of the relay.
        make_session: creates a session for an incarnation of the producer.
        first_start: the first action of a producer that has never sent anything.
        request_count: the number of requests when the relay was created; a later request takes precedence.
    """

    def __init__(
        self,
        engine: Engine,
        outbox: Outbox,
        queue: Queue,
        make_session: Callable[[str], KafkaSession],
        first_start: FirstStart,
        request_count: int,
    ) -> None:
        self._engine = engine
        self._outbox = outbox
        self._queue = queue
        self._make_session = make_session
        self._first_start = first_start
        self._request_count = request_count

    def apply(self, intent: Intent, holder: LeaseHolder | None) -> None:
        """Change the mode in the database.

        Args:
            intent: the producer's row.
            holder: this instance, with the term of its lease.

        Raises:
            LeaseLostError: the lease was lost.
            KafkaReplicaError: the database or Kafka does not answer, or refused.
        """
        if self._has_sent(intent, holder):
            self._change_mode(intent, Mode.RUNNING, only=[Mode.SUSPENDED])
        elif self._first_start == "idle":
            self._change_mode(intent, Mode.IDLE, only=[Mode.RUNNING, Mode.SUSPENDED])
        else:
            with writing(self._engine, "starting the producer for the first time") as connection:
                if intent_of(connection, self._outbox.producer_id).request_count != self._request_count:
                    return
                if self._first_start == "flush" and not self._queue.pending_flushes(intent.sent_tx_id):
                    self._outbox.record_flush(connection)
                self._outbox.resume(connection)

    def _has_sent(self, intent: Intent, holder: LeaseHolder | None) -> bool:
        if intent.sent_tx_id > 0:
            return True
        if intent.mode not in {Mode.RUNNING, Mode.SUSPENDED}:
            return False
        # An earlier process may have died after Kafka's acknowledgement and before the update of the database.
        session = self._make_session(intent.incarnation)
        try:
            sent = partial(self._queue.sent_while_leased, holder, incarnation=intent.incarnation)
            former = intent.former_incarnations
            progress = session.connect(intent.transactional_id, None, sent, former)
            return progress is not None or session.former_progress is not None
        finally:
            session.close()

    def _change_mode(self, intent: Intent, mode: Mode, *, only: list[Mode]) -> None:
        self._queue.change_mode(mode, only=only, request_count=self._request_count, incarnation=intent.incarnation)
