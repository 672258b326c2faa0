"""Producers that break one rule each, to show that the checker detects it."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace

from kafka_replica.producer import StructureProducer
from kafka_replica.producer.outbox.lease import Lease
from kafka_replica.producer.relay.events import Decision, Event, KafkaSessionStart
from kafka_replica.producer.relay.kafka_session import KafkaSession
from kafka_replica.producer.relay.rules import Relay
from kafka_replica.producer.relay.runner import Runner


class MarksEarly(StructureProducer):
    """A producer that marks transactions as sent before Kafka has them."""

    def _make_runner(self, lease: Lease) -> Runner:
        runner = super()._make_runner(lease)
        send = runner._send

        def marked_first(tx_id: int) -> Event:
            holder, incarnation = runner._lease.holder, runner._queue.view().intent.incarnation
            runner._queue.mark_sent(holder, tx_id, None, incarnation=incarnation)
            return send(tx_id)

        runner._send = marked_first  # type: ignore[method-assign]
        return runner


class AsksNobody(StructureProducer):
    """A producer that trusts the marks in the database, and does not check in Kafka what has arrived."""

    def _make_runner(self, lease: Lease) -> Runner:
        runner = super()._make_runner(lease)
        runner._rules = _Trusting()
        return runner


class _Trusting(Relay):
    def on(self, event: Event) -> Decision:
        if isinstance(event, KafkaSessionStart) and self._database_state is not None:
            event = KafkaSessionStart(self._database_state.sent_tx_id)
        return super().on(event)


class FencesNobody(StructureProducer):
    """A producer with a transactional id that no other instance has: only the lease decides who publishes.

    Random runs do not find this fault. It needs an instance that stalls between its last check of the lease and its
    first record, which takes some microseconds: afterwards its own record in the progress topic blocks an instance that
    takes over. ``tests/integration/producer/test_fencing.py`` stops it there.
    """

    def _session_factory(self, step: Callable[[str], None]) -> Callable[[str], KafkaSession]:
        make = super()._session_factory(step)
        own = f"{self.settings.transactional_id}-{uuid.uuid4().hex}"

        def made(incarnation: str) -> KafkaSession:
            session = make(incarnation)
            session._identity = replace(session._identity, transactional_id=own)
            connect = session.connect
            session.connect = lambda former_id, hint, acknowledged, former_incarnations=(): (  # type: ignore[method-assign]
                connect(None, hint, acknowledged, former_incarnations)
            )
            return session

        return made


WAYS: dict[str, type[StructureProducer]] = {
    "marks early": MarksEarly,
    "asks nobody": AsksNobody,
}
