"""A source that copies a PostgreSQL table to a compacted topic, and survives outages of both."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from types import TracebackType
from typing import Final, Self

from kafka_replica.common.wording import counted
from kafka_replica.errors import CommitUnknownError, KafkaReplicaError, UsageError
from kafka_replica.producer.errors import ProducerConflictError, SourceError, SourceUnavailableError
from kafka_replica.producer.notices.notices import DatabaseWait, Notice, Notify, Retry, StandBy, Takeover
from kafka_replica.producer.postgres.copying import TableCopy
from kafka_replica.producer.postgres.database import TableConnection, connect
from kafka_replica.producer.postgres.operations import REQUESTED, comparison_request
from kafka_replica.producer.postgres.sessions import kafka_session, no_step, topic_reader
from kafka_replica.producer.postgres.settings import TableSourceSettings
from kafka_replica.producer.relay.confirmation import Confirmation
from kafka_replica.producer.relay.events import KafkaFailure
from kafka_replica.producer.relay.failures import Failures, fault_of_sending, retry_pause_s
from kafka_replica.producer.relay.kafka_session import KafkaSession
from kafka_replica.producer.relay.retry_text import retry_reason
from kafka_replica.producer.relay.steps import Step

_log = logging.getLogger("kafka_replica.producer")

_PERIODIC: Final = "a comparison is due"
_STAND_BY_S: Final = 0.5
_CLOSE_S: Final = 10.0
_DATABASE_PAUSE_S: Final = 2.0


class TableSource:
    """Copies a table to a compacted topic, until it is closed.

    ::

        with TableSource(settings):
            ...

    Any number of instances may run with the same settings: one copies, and the others stand by. A failure that is not
    temporary ends the copying; ``run`` raises it, and after ``start`` the attribute ``failure`` has it.

    Args:
        settings: the settings of the source.
        observers: called with each notice, by the thread that copies.
    """

    def __init__(self, settings: TableSourceSettings, *, observers: Iterable[Notify] = ()) -> None:
        self.settings = settings
        self.failure: BaseException | None = None
        """The failure that ended the copying thread; None if there is none."""
        self._observers = list(observers)
        self._closing = threading.Event()
        self._failures = Failures(settings.retries)
        self._failing_since_s: float | None = None
        self._database_failures = 0
        self._hint: int | None = None
        self._acknowledged = 0
        self._requested = threading.Event()
        self._compared_s = time.monotonic()
        self._thread: threading.Thread | None = None
        self._step: Step = no_step

    def __repr__(self) -> str:
        return f"<TableSource of {self.settings.table} to {self.settings.topic}>"

    # --- life cycle ---

    def start(self) -> Self:
        """Start copying in a separate thread."""
        if self._thread is None:
            name = f"kafka_replica {self.settings.source_id}"
            self._thread = threading.Thread(target=self._run_in_thread, name=name, daemon=True)
            self._thread.start()
        return self

    def close(self) -> None:
        """Stop copying after the transaction that is being sent."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(_CLOSE_S + self.settings.timeout_s)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def request_comparison(self) -> None:
        """Request a comparison of all rows with the topic, which finds deleted rows."""
        self._requested.set()

    def run(self) -> None:
        """Copy until closed.

        Raises:
            KafkaReplicaError: a failure is not temporary.
        """
        while not self._closing.is_set():
            try:
                with connect(self.settings) as connection:
                    if self._becomes_leader(connection):
                        self._lead(connection)
            except SourceUnavailableError as error:
                self._on_database_failure(error)

    def _run_in_thread(self) -> None:
        try:
            self.run()
        except BaseException as error:  # noqa: BLE001 - the attribute reports it
            self.failure = error
            _log.exception("the source of topic %s failed", self.settings.topic)

    # --- the loop ---

    def _becomes_leader(self, connection: TableConnection) -> bool:
        """Wait until this instance may copy; return False if the source is closed before."""
        stands_by = False
        while not connection.try_lock():
            if not stands_by:
                stands_by = True
                self._report(StandBy())
            if self._closing.wait(_STAND_BY_S):
                return False
        self._acknowledged = 0  # another instance may have aborted, and copied again, what Kafka has no markers of
        self._report(Takeover())
        return True

    def _lead(self, connection: TableConnection) -> None:
        """Copy until closed, and retry after outages of Kafka.

        Raises:
            SourceError: the database cannot be reached, or the table cannot be copied.
            KafkaReplicaError: a failure of Kafka is not temporary.
        """
        while not self._closing.is_set():
            try:
                self._copy_while_connected(connection)
            except (SourceError, UsageError, ProducerConflictError):
                raise
            except KafkaReplicaError as error:
                self._on_kafka_failure(error)

    def _copy_while_connected(self, connection: TableConnection) -> None:
        with self._connect(connection) as (session, copy):
            confirmation = Confirmation()
            while not self._closing.is_set():
                if self._copy_snapshot(connection, copy):
                    confirmation.note_commit()
                elif confirmation.is_left_open(session):
                    return  # the next session ends what Kafka has left open
                if copy.must_reconnect:
                    return
                self._wait(connection)

    def _copy_snapshot(self, connection: TableConnection, copy: TableCopy) -> int:
        """Copy the new rows in a snapshot of the table; return the number of records."""
        is_requested = self._requested.is_set()
        if is_requested:  # not cleared otherwise, because a request that arrives at this moment would be lost
            self._requested.clear()
        reason = REQUESTED if is_requested else self._due()
        try:
            with connection.snapshot() as table:
                sent = copy.step(table, reason)
        except BaseException:
            if is_requested:
                self._requested.set()
            raise
        if reason is not None:
            self._compared_s = time.monotonic()
        self._hint, self._acknowledged = copy.offset, copy.tx_id
        self._failures.reset()
        self._failing_since_s = None
        self._database_failures = 0
        return sent

    def _wait(self, connection: TableConnection) -> None:
        """Wait until the next snapshot is due, a notification arrives, or the source is closed."""
        due_s = time.monotonic() + self.settings.poll_s
        while not self._requested.is_set() and not self._closing.is_set() and (left_s := due_s - time.monotonic()) > 0:
            messages = connection.wait(min(left_s, _STAND_BY_S))
            if comparison_request(self.settings) in messages:
                self.request_comparison()
            if messages:
                return

    @contextmanager
    def _connect(self, connection: TableConnection) -> Iterator[tuple[KafkaSession, TableCopy]]:
        settings = self.settings
        with closing(kafka_session(settings, connection.database_id, self._step)) as session:
            progress = session.connect(None, self._hint, partial(connection.while_locked, self._acknowledged))
            self._failures.was_connected = True
            yield session, TableCopy(settings, session, progress, topic_reader(settings), self._report)

    def _due(self) -> str | None:
        interval_s = self.settings.compare_interval_s
        return _PERIODIC if interval_s and time.monotonic() - self._compared_s >= interval_s else None

    # --- outcomes ---

    def _on_database_failure(self, error: SourceUnavailableError) -> None:
        self._database_failures += 1
        attempts = self._database_failures
        if attempts & (attempts - 1) == 0:  # the 1st, 2nd, 4th, 8th, ..., so that a long outage does not fill the log
            _log.warning("waiting for the database, %s so far: %s", counted(attempts, "attempt"), error)
            self._report(DatabaseWait(str(error)))
        self._closing.wait(min(retry_pause_s(attempts), _DATABASE_PAUSE_S))

    def _on_kafka_failure(self, error: KafkaReplicaError) -> None:
        fault = fault_of_sending(error)
        if self._failing_since_s is None:
            self._failing_since_s = time.monotonic()
        if not self._failures.is_tried_again(fault):
            raise error
        failure = KafkaFailure(fault, str(error), isinstance(error, CommitUnknownError))
        attempt = self._failures.count
        reason = retry_reason(failure, attempt, time.monotonic() - self._failing_since_s)
        _log.warning("%s", reason)
        self._report(Retry(attempt, fault, reason))
        self._closing.wait(retry_pause_s(attempt))

    def _report(self, notice: Notice) -> None:
        for observer in self._observers:
            try:
                observer(notice)
            except Exception:  # noqa: BLE001 - a failing observer must not stop the copying
                _log.exception("an observer of the source failed")
