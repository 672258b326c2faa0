"""The loop around the rules, which executes their decisions, and returns the results to them as events."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from functools import partial

from sqlalchemy import Engine

from kafka_replica.broker.writing.faults import Fault
from kafka_replica.errors import KafkaReplicaError
from kafka_replica.producer.changes.fingerprint import Fingerprint
from kafka_replica.producer.errors import OutboxError
from kafka_replica.producer.notices.notices import (
    Acknowledgement,
    Arrival,
    Notice,
    Notify,
    Retry,
    SendStart,
    StandBy,
    Suspension,
    Takeover,
)
from kafka_replica.producer.outbox.lease import Lease, LeaseLostError
from kafka_replica.producer.outbox.modes import Intent, Mode
from kafka_replica.producer.outbox.outbox import Outbox
from kafka_replica.producer.outbox.queue import Queue
from kafka_replica.producer.outbox.recorded_transactions import View
from kafka_replica.producer.outbox.tables import Status, TransactionKind
from kafka_replica.producer.relay.confirmation import Confirmation
from kafka_replica.producer.relay.events import (
    Acquire,
    CommitAcknowledgement,
    Connect,
    DatabaseFailure,
    DatabaseState,
    Decision,
    Event,
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
from kafka_replica.producer.relay.failures import retry_pause_s
from kafka_replica.producer.relay.kafka_session import KafkaSession, SentTransaction
from kafka_replica.producer.relay.last_failure import LastFailure
from kafka_replica.producer.relay.prefetch import Prefetcher
from kafka_replica.producer.relay.progress import Progress
from kafka_replica.producer.relay.rules import Relay
from kafka_replica.producer.relay.start import FirstStart, Start
from kafka_replica.producer.relay.steps import Step
from kafka_replica.producer.relay.sweep import contents_of_sweep

_log = logging.getLogger("kafka_replica.producer")

_NOT_SUSPENDED_S = 1.0  # a pause, so that a failure is not retried in a tight loop
_STATUS = {
    Fault.LOCAL: Status.LOCAL_FAILURE,
    Fault.REFUSED: Status.REFUSED,
    Fault.AUTHENTICATION: Status.REFUSED,
    Fault.MISSING: Status.REFUSED,
    Fault.FENCED: Status.REFUSED,
    Fault.UNEXPECTED: Status.UNEXPECTED,
}


class Runner:
    """Runs one instance's relay until it is closed.

    Args:
        engine: the database.
        outbox: the outbox.
        lease: this instance's lease.
        make_session: creates a session for an incarnation of the producer.
        transactional_id: the producer's transactional id.
        first_start: the first action of a producer that has never sent anything.
        poll_s: the interval between queries of the database for more work, in seconds.
        retries: how often a failure that is usually temporary, but is not an outage, is retried.
        notify: called with each notice.
        step: called with the name of each step; for tests.
    """

    def __init__(
        self,
        engine: Engine,
        outbox: Outbox,
        lease: Lease,
        make_session: Callable[[str], KafkaSession],
        transactional_id: str,
        *,
        first_start: FirstStart,
        poll_s: float,
        retries: int,
        notify: Notify,
        step: Step,
    ) -> None:
        self._queue = Queue(engine, outbox.producer_id)
        self._prefetcher = Prefetcher(self._queue.recorded)
        self._lease = lease
        self._make_session = make_session
        self._transactional_id = transactional_id
        self._poll_s = poll_s
        self._notify = notify
        self._step = step
        self._rules = Relay(retries)
        self._session: KafkaSession | None = None
        self._view: View | None = None
        self._sent_transactions: dict[int, SentTransaction] = {}
        self._leads = False
        self._has_begun = False
        self._request_count = self._queue.view().intent.request_count
        self._applied_count = self._request_count
        self._start = Start(engine, outbox, self._queue, make_session, first_start, self._request_count)
        self._offset: int | None = None
        self._compared: tuple[int | None, int] | None = None
        self._confirmation = Confirmation()
        self._last_failure = LastFailure()
        self.closing = threading.Event()
        self.wake = threading.Event()

    def run(self) -> None:
        """Run until ``closing`` is set."""
        event: Event = RelayStart()
        try:
            while not self.closing.is_set():
                decision = self._rules.on(event)
                if not self._rules.connected and not isinstance(decision, Connect):
                    self._disconnect()
                event = self._execute(decision)
        finally:
            self._disconnect()
            self._prefetcher.close()

    def _execute(self, decision: Decision) -> Event:
        """Execute a decision; return its result, or its failure, as an event."""
        began_s = time.monotonic()
        try:
            return self._do(decision)
        except LeaseLostError as error:
            _log.warning("%s", error)
            self._lease.note_loss()
            return self._stand_by()
        except OutboxError as error:
            _log.warning("%s", error)
            return DatabaseFailure()
        except KafkaReplicaError as error:
            return self._last_failure.note(error, began_s)
        except Exception as error:  # noqa: BLE001 - whatever it is, nothing is skipped and the error is reported
            _log.exception("the relay failed")
            return self._last_failure.note(error, began_s)

    def _do(self, decision: Decision) -> Event:  # noqa: PLR0911 - one return for each decision
        match decision:
            case Acquire():
                return self._acquire()
            case Query():
                return self._query()
            case Connect():
                return self._connect()
            case Send():
                return self._send(decision.tx_id)
            case MarkSent():
                return self._mark_sent(decision)
            case Suspend():
                return self._suspend(decision)
            case Wait():
                return self._wait(decision)

    # --- steps ---

    def _acquire(self) -> Event:
        had_lease = self._lease.term is not None
        if not self._lease.hold():
            return self._stand_by()
        if not had_lease or not self._leads:
            self._leads = True
            self._step("leased")
            self._report(Takeover())
        if not self._has_begun:
            self._view = view = self._queue.view()
            if view.intent.mode is Mode.FAILED:
                self._queue.try_again(self._request_count)
            elif not self._lease.saw_another:
                self._start.apply(view.intent, self._lease.holder)
            self._has_begun = True
        return LeaseGrant(self._lease.acquisitions)

    def _query(self) -> Event:
        if self._lease.term is None:
            return self._stand_by()
        before, self._view = self._view, self._queue.view()
        view = self._view
        if before is not None and before.intent.incarnation != view.intent.incarnation:
            self._sent_transactions.clear()  # they belong to the previous incarnation
        intent = view.intent
        running = intent.mode is Mode.RUNNING
        self._prefetcher.start(view.next if running else ())
        return DatabaseState(
            running, intent.sent_tx_id, view.last_tx_id, tuple(each.tx_id for each in view.next), intent.incarnation,
            is_new=intent.progress_offset is None, of_arrived=self._of_arrived(intent.sent_tx_id),
            is_amended=self._is_amended(intent),
        )  # fmt: skip

    def _of_arrived(self, sent_tx_id: int) -> Fingerprint | None:
        """Return the database's fingerprint of the last transaction that has arrived; None if already compared."""
        arrived = self._rules.arrived
        if arrived is None or (arrived, sent_tx_id) == self._compared:
            return None
        self._compared = (arrived, sent_tx_id) if arrived == sent_tx_id else None
        return self._queue.recorded.fingerprint(arrived)

    def _is_amended(self, intent: Intent) -> bool:
        """Return whether there are requests since this instance has connected, which is when they are applied."""
        if not self._rules.connected or intent.request_count == self._applied_count:
            return False
        if self._queue.is_requested(max(self._rules.arrived or 0, intent.sent_tx_id)):
            return True
        self._applied_count = intent.request_count
        return False

    def _connect(self) -> Event:
        view, holder = self._view, self._lease.holder
        assert view is not None, "look first"  # noqa: S101
        self._disconnect()
        if holder is None:
            return self._stand_by()
        self._session = self._make_session(view.intent.incarnation)
        intent = view.intent
        incarnation = intent.incarnation
        sent = partial(self._queue.sent_while_leased, holder, incarnation=incarnation)
        session = self._session
        progress = session.connect(intent.transactional_id, intent.progress_offset, sent, intent.former_incarnations)
        self._offset = self._compared = None
        if progress is not None:
            self._offset = progress.offset
        elif self._is_in_database(session.former_progress, intent.sent_tx_id):
            progress = session.former_progress
        if intent.transactional_id != self._transactional_id:
            self._queue.note_identity(holder, self._transactional_id, incarnation=incarnation)
        arrived = 0 if progress is None else progress.tx_id
        self._queue.apply_requests(holder, arrived, incarnation=incarnation)
        self._applied_count = intent.request_count
        if progress is None:
            return KafkaSessionStart(None)
        return KafkaSessionStart(progress.tx_id, progress.fingerprint)

    def _is_in_database(self, former: Progress | None, sent_tx_id: int) -> bool:
        """Return whether the database has the transaction that was the last to arrive in a former incarnation.

        Its numbers are those of the new incarnation up to there, so that everything before it has arrived, too. Usually
        it is missing, because a database that was restored needs a new incarnation; then Kafka's progress is ignored.
        """
        if former is None or former.tx_id <= sent_tx_id:
            return False
        recorded = self._queue.recorded.fingerprint(former.tx_id)
        if recorded is None or recorded.recorded_ms != former.fingerprint.recorded_ms:
            return False
        return not former.fingerprint.contradicts(recorded)

    def _send(self, tx_id: int) -> Event:
        assert self._view is not None and self._session is not None  # noqa: S101, PT018
        if self._lease.term is None:
            return self._stand_by()
        transaction = next(each for each in self._view.next if each.tx_id == tx_id)
        self._report(SendStart(tx_id))
        if transaction.kind is TransactionKind.SWEEP and not transaction.is_skipped:
            flush = self._sent_transactions.get(tx_id - 1)
            contents = contents_of_sweep(transaction, flush, self._queue.recorded, self._session)
            result = self._session.send(transaction, contents)
        else:
            contents = self._prefetcher.contents(transaction)
            result = self._session.send(transaction, contents, self._prefetcher.read_next)
        self._sent_transactions[tx_id], self._offset = result, result.offset
        self._confirmation.note_commit()
        self._report(Acknowledgement(tx_id, result.size, result.messages, result.not_carried))
        return CommitAcknowledgement(tx_id, contents.fingerprint, result.is_last)

    def _stand_by(self) -> Event:
        if self._leads:  # the lease may be lost at any time, because a separate thread renews it
            self._leads = False
            self._last_failure.end()
            self._report(StandBy())
        return StandingBy()

    def _mark_sent(self, decision: MarkSent) -> Event:
        self._step("marking")
        up_to, fingerprint = decision
        view, transactions = (
            self._view,
            {tx_id: each for tx_id, each in self._sent_transactions.items() if tx_id <= up_to},
        )
        recorded_sizes = {each.tx_id: (each.size, each.messages) for each in (view.next if view is not None else ())}
        sizes = {tx_id: (each.size, each.messages) for tx_id, each in transactions.items()}
        differing = {tx_id: size for tx_id, size in sizes.items() if size != recorded_sizes.get(tx_id)}
        not_carried = {tx_id: each.not_carried for tx_id, each in transactions.items() if each.not_carried}
        assert view is not None, "look first"  # noqa: S101
        recorded_ms = None if fingerprint is None else fingerprint.recorded_ms
        is_marked = self._queue.mark_sent(
            self._lease.holder, up_to, self._offset, differing, not_carried, recorded_ms,
            incarnation=view.intent.incarnation,
        )  # fmt: skip
        if not is_marked:
            self._lease.renew()  # notices a lost lease; otherwise, the next query shows the reason
            return StoredOutcome()
        self._show_failure(None)
        if not_carried:
            lacking = sum(not_carried.values())
            _log.warning("up to transaction %d: the format cannot represent %d records", up_to, lacking)
        self._sent_transactions.clear()
        self._report(Arrival(up_to))
        self._step("marked")
        return StoredOutcome()

    def _suspend(self, decision: Suspend) -> Event:
        status = Status.UNEXPECTED if decision.may_have_arrived else _STATUS[decision.fault]
        incarnation = (self._view or self._queue.view()).intent.incarnation
        if self._queue.mark_failed(
            self._lease.holder, decision.tx_id, status, decision.reason, incarnation=incarnation
        ):
            _log.error("suspended: %s", decision.reason)
            self._report(Suspension(decision.tx_id, status, decision.reason))
        else:
            self.closing.wait(_NOT_SUSPENDED_S)
        return WaitEnd()

    def _wait(self, decision: Wait) -> Event:
        match decision.pause:
            case Pause.STAND_BY:
                self.closing.wait(self._lease.lease_s / 10)
            case Pause.WORK:
                self._show_failure(None)
                if self._session is not None and self._confirmation.is_left_open(self._session):
                    return OpenTransaction()
                self.wake.wait(self._poll_s)
                self.wake.clear()
            case Pause.DATABASE:
                self.closing.wait(0.5)
            case Pause.RETRY:
                if (retry := self._last_failure.retry(decision.attempt)) is not None:
                    fault, reason = retry
                    _log.warning("%s", reason)
                    self._report(Retry(decision.attempt, fault, reason))
                    self._show_failure(reason)
                self.closing.wait(retry_pause_s(decision.attempt))
        return WaitEnd()

    # --- helpers ---

    def _show_failure(self, reason: str | None) -> None:
        """Show in the producer's status why it is retrying; None shows that it is not."""
        if reason is None:
            self._last_failure.end()
        view = self._view
        if view is not None and view.intent.mode is Mode.RUNNING and view.intent.reason != reason:
            self._queue.show_failure(self._lease.holder, reason)
            self._view = view._replace(intent=view.intent._replace(reason=reason))

    def _disconnect(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def _report(self, notice: Notice) -> None:
        try:
            self._notify(notice)
        except Exception:  # noqa: BLE001 - a failing observer must not stop the sending
            _log.exception("an observer of the producer failed")
