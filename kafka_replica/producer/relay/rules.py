"""The rules of the relay: one event in, one decision out. No I/O, no clock, nothing remembered beyond the process.

What makes it exact, whatever dies whenever:

* A transaction is sent only on a connection that has taken up the transactional id since the lease was got, and that
  has read from Kafka up to where everything has arrived. Taking the id up ends what an older producer left open.
* Sent is always the one after the last that has arrived; a gap is never passed over.
* After any failure of Kafka the connection is not used again: the next one asks anew what has arrived.
* Only what Kafka acknowledged, or shows, is marked as sent.
"""

from __future__ import annotations

from typing import assert_never

from kafka_replica.broker.faults import Fault
from kafka_replica.producer.relay.events import (
    Acquire,
    Committed,
    Connect,
    Connected,
    DatabaseFailed,
    Decision,
    Event,
    KafkaFailed,
    Leased,
    Look,
    Looked,
    Marked,
    MarkSent,
    Pause,
    Send,
    StandingBy,
    Started,
    Suspend,
    Wait,
    Waited,
)

RETRIES = 3

_LOST = (
    "{sent} transactions are marked as sent, but Kafka's progress topic knows of {arrived}: it was deleted, made again "
    "or is not the one that was used; make sure that this is the right cluster, then delete the producer's "
    "configuration, create it anew and do a full flush"
)
_DOUBT = "; before that Kafka did not answer a commit: it finds out whether transaction {} has arrived when it goes on"
_AHEAD = (
    "Kafka's progress topic knows transaction {arrived}, but only {recorded} were ever recorded: the database is older "
    "than the topic; restore the newest one, or delete the producer's configuration, create it anew and do a full flush"
)


class Relay:
    """One instance's rules.

    Args:
        retries: how often a failure that may pass is tried again before the producer is suspended.
    """

    def __init__(self, retries: int = RETRIES) -> None:
        self._retries = retries
        self._failures = 0
        self._in_doubt = False
        """Whether Kafka may have committed what was sent last; until it is asked."""
        self._arrived: int | None = None
        """Up to which transaction Kafka has all; None while not connected."""
        self._seen: Looked | None = None
        self._sending: int | None = None
        self._waiting: list[int] = []
        """What the database named, and is not sent yet; no longer than one look shows."""
        self._then: Decision | None = None
        """What is done about a failure once it is noted what had arrived before it."""

    @property
    def connected(self) -> bool:
        """Whether there is a connection that may be used."""
        return self._arrived is not None

    def on(self, event: Event) -> Decision:  # noqa: PLR0911 - one for each event
        """What to do next."""
        match event:
            case Started() | Waited():
                return Acquire()
            case Leased():
                return Look()
            case Marked():
                then, self._then = self._then, None
                return then or Look()
            case StandingBy():
                self._drop()
                self._failures = 0
                return Wait(Pause.STAND_BY)
            case Looked():
                return self._looked(event)
            case Connected():
                # What the database said before may be older than this, and the lease may be lost by now.
                self._arrived, self._in_doubt = event.progress or 0, False
                return Acquire()
            case Committed():
                self._arrived, self._failures = event.tx_id, 0
                return self._next() or MarkSent(event.tx_id)
            case KafkaFailed():
                return self._failed(event)
            case DatabaseFailed():
                self._drop()  # Kafka is asked again
                return Wait(Pause.DATABASE)
            case _:
                assert_never(event)

    def _looked(self, seen: Looked) -> Decision:
        self._seen = seen
        if not seen.running:
            self._drop()
            self._failures = 0
            return Wait(Pause.WORK)
        if self._arrived is None:
            return Connect()
        if self._arrived < seen.sent:
            return self._suspend(None, Fault.UNEXPECTED, _LOST.format(sent=seen.sent, arrived=self._arrived))
        if self._arrived > seen.recorded:
            return self._suspend(None, Fault.UNEXPECTED, _AHEAD.format(arrived=self._arrived, recorded=seen.recorded))
        if self._arrived > seen.sent:
            return MarkSent(self._arrived)
        self._waiting = list(seen.next_ids)
        return self._next() or Wait(Pause.WORK)

    def _next(self) -> Decision | None:
        """Sends the next one, if there is one: they are noted together."""
        self._sending = None
        if self._arrived is None or not self._waiting:
            return None
        if self._waiting[0] != self._arrived + 1:
            reason = f"transaction {self._arrived + 1} is not in the database, but {self._waiting[0]} is; restore it"
            return self._suspend(None, Fault.UNEXPECTED, reason)
        self._sending = self._waiting.pop(0)
        return Send(self._sending)

    def _drop(self) -> None:
        """The connection is not used again."""
        self._arrived, self._sending, self._waiting, self._then = None, None, [], None

    def _failed(self, event: KafkaFailed) -> Decision:
        arrived, seen = self._arrived, self._seen
        to_blame = self._sending or (seen.next_ids[0] if seen is not None and seen.next_ids else None)
        self._drop()
        self._failures += 1
        self._in_doubt |= event.may_have_arrived
        if event.fault in {Fault.TRANSITORY, Fault.FENCED} and self._failures <= self._retries:
            decision: Decision = Wait(Pause.RETRY, self._failures)
        else:
            doubt = "" if event.may_have_arrived or not self._in_doubt else _DOUBT.format(to_blame)
            decision = self._suspend(to_blame, event.fault, event.reason + doubt, self._in_doubt)
        if arrived is not None and seen is not None and arrived > seen.sent:
            self._then = decision
            return MarkSent(arrived)
        return decision

    def _suspend(self, tx_id: int | None, fault: Fault, reason: str, may_have_arrived: bool = False) -> Decision:
        self._drop()
        self._failures = 0
        return Suspend(tx_id, fault, reason, may_have_arrived)
