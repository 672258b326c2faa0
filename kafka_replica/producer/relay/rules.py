"""The rules of the relay, which answer each event with one decision. No I/O, no clock, no state beyond the process.

With these rules, each transaction is sent exactly once and in order, whichever process dies at any moment:

* A transaction is sent only on a connection that has initialized the transactional id since the lease was acquired, and
  that has read from Kafka the number up to which everything has arrived. Initializing the id ends the open transactions
  of older producers. It also fences newer ones, so that nothing is ever sent after initializing it without reading
  again: a process that was frozen during a commit would otherwise take the id back from the one that has taken over.
* The sent transaction is always the successor of the last transaction that has arrived; a gap is never skipped.
* After any failure of Kafka, the connection is discarded; the next connection reads again what has arrived.
* Only transactions that Kafka has acknowledged, or that its progress record shows, are marked as sent, and only if the
  database has the same transaction with that number. A database that was restored, or that lost commits in a failover,
  has a history that differs from Kafka's.

Failures differ in the reaction that they need. The relay waits for the end of an outage, however long it lasts.
Failures that are usually temporary, but may require an action, are retried ``retries`` times. All others suspend the
producer.
"""

from __future__ import annotations

from typing import assert_never

from kafka_replica.broker.writing.faults import Fault
from kafka_replica.producer.changes.fingerprint import Fingerprint
from kafka_replica.producer.relay.contradictions import contradiction
from kafka_replica.producer.relay.events import (
    Acquire,
    CommitAcknowledgement,
    Connect,
    DatabaseFailure,
    DatabaseState,
    Decision,
    Event,
    KafkaFailure,
    KafkaSessionStart,
    LeaseGrant,
    MarkSent,
    OpenTransaction,
    Pause,
    Query,
    RelayStart,
    Send,
    StandingBy,
    StoredOutcome,
    Suspend,
    Wait,
    WaitEnd,
)
from kafka_replica.producer.relay.failures import RETRIES, Failures

_DOUBT = (
    "; before that, Kafka did not answer a commit: when the producer continues, it checks whether transaction {} has "
    "arrived"
)


class Relay:
    """The rules of one instance.

    Args:
        retries: how often a failure that is usually temporary, but is not an outage, is retried before the producer is
            suspended.
    """

    def __init__(self, retries: int = RETRIES) -> None:
        self._failures = Failures(retries)
        self._in_doubt = False
        """True if Kafka may have committed the last sent transaction; reset when Kafka is queried."""
        self._arrived: int | None = None
        """The number up to which Kafka has all transactions; None while not connected."""
        self._fingerprint: Fingerprint | None = None
        """The fingerprint of this transaction when it was sent; None if unknown."""
        self._acquisition: int | None = None
        """The acquisition of the lease that was last verified."""
        self._incarnation = ""
        """The incarnation of the producer's configuration for which the connection was made."""
        self._database_state: DatabaseState | None = None
        self._sending: int | None = None
        self._waiting: list[int] = []
        """The transactions from the last query that are not sent yet."""
        self._then: Decision | None = None
        """The decision about a failure, which is returned after the transactions that arrived before it are marked."""

    @property
    def connected(self) -> bool:
        """True if there is a usable connection."""
        return self._arrived is not None

    @property
    def arrived(self) -> int | None:
        """The number of the last transaction that has arrived; None while not connected."""
        return self._arrived

    def on(self, event: Event) -> Decision:  # noqa: C901, PLR0911 - one return for each event
        """Return the decision that follows from an event."""
        match event:
            case RelayStart() | WaitEnd():
                return Acquire()
            case OpenTransaction():
                self._drop()  # connecting ends what Kafka has left open
                return Acquire()
            case LeaseGrant():
                return self._on_lease(event)
            case StoredOutcome():
                then, self._then = self._then, None
                # A new connection fences others, so it needs the lease.
                return then or (Query() if self.connected else Acquire())
            case StandingBy():
                self._drop()
                self._failures.reset()
                return Wait(Pause.STAND_BY)
            case DatabaseState():
                return self._on_database_state(event)
            case KafkaSessionStart():
                # The database was read before this event and may be out of date, and the lease may be lost by now.
                self._in_doubt, self._failures.was_connected = False, True
                self._arrived = self._base() if event.progress is None else event.progress
                self._fingerprint = event.fingerprint
                return Acquire()
            case CommitAcknowledgement():
                self._arrived, self._fingerprint = event.tx_id, event.fingerprint
                self._failures.reset()
                mark = self._mark(event.tx_id)
                if event.is_last:
                    self._drop()
                    return mark
                return self._next() or mark
            case KafkaFailure():
                return self._on_failure(event)
            case DatabaseFailure():
                self._drop()  # Kafka is queried again
                return Wait(Pause.DATABASE)
            case _:
                assert_never(event)

    def _on_lease(self, event: LeaseGrant) -> Decision:
        if event.acquisition != self._acquisition:
            self._drop()  # another instance may have sent and marked transactions since the connection was made
            self._acquisition = event.acquisition
        return Query()

    def _on_database_state(self, state: DatabaseState) -> Decision:
        self._database_state = state
        if not state.running:
            self._drop()
            self._failures.reset()
            return Wait(Pause.WORK)
        if self._arrived is None or self._incarnation != state.incarnation or state.is_amended:
            self._drop()
            self._incarnation = state.incarnation
            return Connect()
        reason = contradiction(state, self._arrived, self._fingerprint)
        if reason is not None:
            return self._suspend(None, Fault.UNEXPECTED, reason)
        if self._arrived > state.sent_tx_id:
            return self._mark(self._arrived)
        self._waiting = list(state.next_ids)
        if not self._waiting:
            self._failures.reset()
        return self._next() or Wait(Pause.WORK)

    def _base(self) -> int:
        """Return the number up to which everything counts as arrived if Kafka has no progress record.

        A new incarnation, before which no more has arrived than is marked, begins with the transactions that are not
        marked as sent; otherwise, nothing has arrived.
        """
        return (
            self._database_state.sent_tx_id if self._database_state is not None and self._database_state.is_new else 0
        )

    def _mark(self, up_to: int) -> MarkSent:
        return MarkSent(up_to, self._fingerprint)

    def _next(self) -> Decision | None:
        """Return the decision to send the next transaction, if there is one; marking follows for several together."""
        self._sending = None
        if self._arrived is None or not self._waiting:
            return None
        if self._waiting[0] != self._arrived + 1:
            reason = f"transaction {self._arrived + 1} is not in the database, but {self._waiting[0]} is; restore it"
            return self._suspend(None, Fault.UNEXPECTED, reason)
        self._sending = self._waiting.pop(0)
        return Send(self._sending)

    def _drop(self) -> None:
        """Discard the connection."""
        self._arrived, self._fingerprint, self._sending, self._waiting, self._then = None, None, None, [], None

    def _on_failure(self, event: KafkaFailure) -> Decision:
        state = self._database_state
        mark = None if self._arrived is None else self._mark(self._arrived)
        to_blame = self._sending or (state.next_ids[0] if state is not None and state.next_ids else None)
        self._drop()
        self._in_doubt |= event.may_have_arrived
        if self._failures.is_tried_again(event.fault):
            decision: Decision = Wait(Pause.RETRY, self._failures.count)
        else:
            doubt = "" if event.may_have_arrived or not self._in_doubt else _DOUBT.format(to_blame)
            decision = self._suspend(to_blame, event.fault, event.reason + doubt, self._in_doubt)
        if mark is not None and state is not None and mark.up_to > state.sent_tx_id:
            self._then = decision
            return mark
        return decision

    def _suspend(self, tx_id: int | None, fault: Fault, reason: str, may_have_arrived: bool = False) -> Decision:
        self._drop()
        self._failures.reset()
        return Suspend(tx_id, fault, reason, may_have_arrived)
