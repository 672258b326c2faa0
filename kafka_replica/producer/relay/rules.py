"""The rules of the relay: one event in, one decision out. No I/O, no clock, nothing remembered beyond the process.

What makes it exact, whatever dies whenever:

* A transaction is sent only on a connection that has taken up the transactional id since the lease was got, and that
  has read from Kafka up to where everything has arrived. Taking the id up ends what an older producer left open.
* Sent is always the one after the last that has arrived; a gap is never passed over.
* After any failure of Kafka the connection is not used again: the next one asks anew what has arrived.
* Only what Kafka acknowledged, or shows, is marked as sent; and only if the database has the same transaction of that
  number. A database that was restored, or failed over and lost commits, has another history than Kafka.

Failures differ in what helps. An outage passes by itself: it is waited for, however long it lasts. Some failures mostly
pass, and otherwise need somebody to act: these are tried again ``retries`` times. All others suspend the producer.
"""

from __future__ import annotations

from typing import assert_never

from kafka_replica.broker.writing.errors import Fault
from kafka_replica.producer.fingerprint import Fingerprint
from kafka_replica.producer.relay.contradictions import contradiction
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
    LeftOpen,
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
_TRIED_AGAIN = frozenset({Fault.FENCED, Fault.MISSING, Fault.UNEXPECTED})

_DOUBT = "; before that Kafka did not answer a commit: it finds out whether transaction {} has arrived when it goes on"


class Relay:
    """One instance's rules.

    Args:
        retries: how often a failure that mostly passes, but no outage, is tried again before the producer is suspended.
    """

    def __init__(self, retries: int = RETRIES) -> None:
        self._retries = retries
        self._failures = 0
        """How many there were since Kafka last did all that was wanted."""
        self._not_outages = 0
        """How many of these were no outages."""
        self._was_connected = False
        """Whether the broker has ever accepted our credentials."""
        self._in_doubt = False
        """Whether Kafka may have committed what was sent last; until it is asked."""
        self._arrived: int | None = None
        """Up to which transaction Kafka has all; None while not connected."""
        self._fingerprint: Fingerprint | None = None
        """Of that transaction, as it was sent; None if that is not known."""
        self._term: int | None = None
        """Of the lease, when it was got or made sure of last."""
        self._incarnation = ""
        """Of the producer's configuration, when it was connected."""
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

    @property
    def arrived(self) -> int | None:
        """The number of the transaction that has arrived last; None while not connected."""
        return self._arrived

    def on(self, event: Event) -> Decision:  # noqa: C901, PLR0911 - one for each event
        """What to do next."""
        match event:
            case Started() | Waited():
                return Acquire()
            case LeftOpen():
                self._drop()  # connecting ends what Kafka has left open
                return Acquire()
            case Leased():
                return self._leased(event)
            case Marked():
                then, self._then = self._then, None
                return then or Look()
            case StandingBy():
                self._drop()
                self._forgive()
                return Wait(Pause.STAND_BY)
            case Looked():
                return self._looked(event)
            case Connected():
                # What the database said before may be older than this, and the lease may be lost by now.
                self._in_doubt, self._was_connected = False, True
                self._arrived = self._base() if event.progress is None else event.progress
                self._fingerprint = event.fingerprint
                return Acquire()
            case Committed():
                self._arrived, self._fingerprint = event.tx_id, event.fingerprint
                self._forgive()
                return self._next() or self._mark(event.tx_id)
            case KafkaFailed():
                return self._failed(event)
            case DatabaseFailed():
                self._drop()  # Kafka is asked again
                return Wait(Pause.DATABASE)
            case _:
                assert_never(event)

    def _leased(self, event: Leased) -> Decision:
        if event.term != self._term:
            self._drop()  # another instance may have sent and marked something since it was connected
            self._term = event.term
        return Look()

    def _looked(self, seen: Looked) -> Decision:
        self._seen = seen
        if not seen.running:
            self._drop()
            self._forgive()
            return Wait(Pause.WORK)
        if self._arrived is None or self._incarnation != seen.incarnation:
            self._drop()
            self._incarnation = seen.incarnation
            return Connect()
        reason = contradiction(seen, self._arrived, self._fingerprint)
        if reason is not None:
            return self._suspend(None, Fault.UNEXPECTED, reason)
        if self._arrived > seen.sent:
            return self._mark(self._arrived)
        self._waiting = list(seen.next_ids)
        if not self._waiting:
            self._forgive()
        return self._next() or Wait(Pause.WORK)

    def _base(self) -> int:
        """Return up to where Kafka need not know anything: an incarnation begins with what is not sent yet."""
        return self._seen.sent if self._seen is not None and self._seen.is_new else 0

    def _mark(self, up_to: int) -> MarkSent:
        return MarkSent(up_to, self._fingerprint)

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

    def _forgive(self) -> None:
        """Forget past failures."""
        self._failures = self._not_outages = 0

    def _drop(self) -> None:
        """The connection is not used again."""
        self._arrived, self._fingerprint, self._sending, self._waiting, self._then = None, None, None, [], None

    def _failed(self, event: KafkaFailed) -> Decision:
        seen = self._seen
        mark = None if self._arrived is None else self._mark(self._arrived)
        to_blame = self._sending or (seen.next_ids[0] if seen is not None and seen.next_ids else None)
        self._drop()
        self._in_doubt |= event.may_have_arrived
        if self._is_tried_again(event.fault):
            decision: Decision = Wait(Pause.RETRY, self._failures)
        else:
            doubt = "" if event.may_have_arrived or not self._in_doubt else _DOUBT.format(to_blame)
            decision = self._suspend(to_blame, event.fault, event.reason + doubt, self._in_doubt)
        if mark is not None and seen is not None and mark.up_to > seen.sent:
            self._then = decision
            return mark
        return decision

    def _is_tried_again(self, fault: Fault) -> bool:
        self._failures += 1
        if fault is Fault.TRANSITORY:
            return True
        self._not_outages += 1
        # Credentials that were accepted before may be refused for a while: what checks them has an outage, too.
        passes = fault in _TRIED_AGAIN or (fault is Fault.AUTHENTICATION and self._was_connected)
        return passes and self._not_outages <= self._retries

    def _suspend(self, tx_id: int | None, fault: Fault, reason: str, may_have_arrived: bool = False) -> Decision:
        self._drop()
        self._forgive()
        return Suspend(tx_id, fault, reason, may_have_arrived)
