"""The reference producer: an outbox, a relay to Kafka, and methods to control it."""

from __future__ import annotations

import os
import socket
import threading
import uuid
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from kafka_replica.errors import UsageError
from kafka_replica.headers import Stack
from kafka_replica.producer.changes.changes import Change
from kafka_replica.producer.changes.encoding import Encoder
from kafka_replica.producer.notices.counts import ProducerCounts
from kafka_replica.producer.notices.notices import DatabaseWait, Notice, Notify
from kafka_replica.producer.outbox.cleanup import Cleanup
from kafka_replica.producer.outbox.configuration import as_stored, is_stored
from kafka_replica.producer.outbox.database import outbox_errors, reading, writing
from kafka_replica.producer.outbox.lease import Lease
from kafka_replica.producer.outbox.migrate import migrate
from kafka_replica.producer.outbox.raw_connections import AnyConnection, check_engine
from kafka_replica.producer.outbox.status import ProducerStatus
from kafka_replica.producer.outbox.waiting import retry_until_reachable
from kafka_replica.producer.relay.cleaner import Cleaner
from kafka_replica.producer.relay.heartbeat import Heartbeat
from kafka_replica.producer.relay.runner import Runner
from kafka_replica.producer.service.control import ProducerControl
from kafka_replica.producer.settings.producer_settings import ProducerSettings

__all__ = ["ProducerControl", "ProducerSettings", "ProducerStatus", "StructureProducer"]


class StructureProducer(ProducerControl):
    """Publishes the transactions of its outbox, each as one Kafka transaction, exactly once and in order.

    ::

        with StructureProducer(settings) as producer:
            with producer.engine.begin() as connection:
                producer.record(connection, [Put(urn, message, media_type)])

    Any number of instances may run with one configuration: one publishes, the others stand by. All methods may be
    called from any thread. ``ProducerControl`` has the methods that control a producer (flush, suspend, resume, ...)
    from other processes.

    Creating an instance migrates the tables to this version, creates the producer if it is missing, and updates the
    configuration that commands and registries show. On PostgreSQL, this waits for open recording transactions only if
    there is something to migrate.

    Args:
        settings: the producer's configuration.
        encoder: converts recorded content to a record's value; by default, to a structure message in the format of the
            settings; if they name no format, content is sent unchanged.
        observers: called with each notice, by the thread that publishes or watches; for example a ``mail.Mailer``.
        header_stack: transforms values and headers, transaction headers included, before they are sent; replicas undo
            this with the same stack. A record that a piece refuses stops the producer, like one that cannot be encoded.

    Raises:
        ConfigurationError: a setting is impossible.
        OutboxUnavailableError: the database could not be reached within ``database_wait_s``.
        OutboxError: the database cannot be used.
    """

    def __init__(
        self,
        settings: ProducerSettings,
        *,
        encoder: Encoder | None = None,
        observers: Iterable[Notify] = (),
        header_stack: Stack | None = None,
    ) -> None:
        self.counts = ProducerCounts()
        self._observers: list[Notify] = [self.counts, *observers]
        self._lifecycle = threading.Lock()
        self._runner: Runner | None = None
        self._lease: Lease | None = None
        self._heartbeat: Heartbeat | None = None
        self._cleaner: Cleaner | None = None
        self._thread: threading.Thread | None = None
        super().__init__(settings, encoder=encoder, header_stack=header_stack)

    def __repr__(self) -> str:
        state = "not started" if self._thread is None else "publishing" if self.leads else "standing by"
        return f"<StructureProducer {self.outbox.producer_id} to {', '.join(self.settings.topics)}: {state}>"

    # --- recording ---

    def record(self, connection: AnyConnection, changes: Iterable[Change]) -> list[int]:
        """Record changes in the caller's database transaction; see ``Outbox.record``."""
        return self.outbox.record(connection, changes)

    def wake(self) -> None:
        """Make the relay of this instance query the database now instead of at its next poll."""
        if self._runner is not None:
            self._runner.wake.set()

    @property
    def leads(self) -> bool:
        """True if this instance has the lease, and so publishes unless it is suspended; other instances stand by."""
        lease = self._lease
        return lease is not None and lease.term is not None

    def observe(self, observer: Notify) -> None:
        """Add an observer, which is called with all notices from now on."""
        self._observers.append(observer)

    def notify(self, notice: Notice) -> None:
        """Pass a notice to all observers."""
        for observer in self._observers:
            observer(notice)

    # --- life cycle ---

    def start(self) -> Self:
        """Start publishing, or standing by, in a separate thread.

        Raises:
            UsageError: an observer starts the producer that it has closed.
        """
        runner = self._runner
        if runner is not None and threading.current_thread() is self._thread:
            if runner.closing.is_set():
                raise UsageError(f"producer {self.id} was closed by this observer; start it from another thread")
            return self
        with self._lifecycle:
            if self._runner is not None and self._runner.closing.is_set():  # closed by an observer
                self._end()
            if self._thread is None:
                lease = self._lease = Lease(self.engine, self.id, _instance(), self.settings.lease_s)
                self._runner = self._make_runner(lease)
                self._heartbeat = Heartbeat(lease)
                self._heartbeat.start()
                self._cleaner = Cleaner(Cleanup(self.engine, self.id, self.settings.keep_sent_s), lease)
                self._cleaner.start()
                self._thread = threading.Thread(
                    target=self._run,
                    args=(self._runner, self._heartbeat, self._cleaner),
                    name=f"kafka_replica producer {self.id}",
                    daemon=True,
                )
                self._thread.start()
        return self

    def close(self) -> None:
        """Stop publishing after the transaction that is being sent, and let another instance take over.

        An observer may call this, too: the producer is closed when the observer has returned.
        """
        runner = self._runner
        if runner is not None and threading.current_thread() is self._thread:
            self._stop(runner)  # a thread cannot wait for its own end, which does the rest
            return
        with self._lifecycle:
            self._end()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- helpers ---

    def _run(self, runner: Runner, heartbeat: Heartbeat, cleaner: Cleaner) -> None:
        """Publish until closed; whatever the end is, another instance can take over then."""
        try:
            runner.run()
        finally:
            try:
                cleaner.close()
                heartbeat.close()
            finally:
                self._dispose()

    @staticmethod
    def _stop(runner: Runner) -> None:
        runner.closing.set()
        runner.wake.set()

    def _end(self) -> None:
        """Stop all threads, and wait for their end."""
        if self._cleaner is not None:
            self._cleaner.close()
        try:
            if self._runner is not None and self._thread is not None and self._heartbeat is not None:
                self._stop(self._runner)
                self._thread.join(2 * self.settings.timeout_s)
                self._heartbeat.close()
        finally:
            self._runner = self._thread = self._heartbeat = self._cleaner = self._lease = None
            self._dispose()

    def _open(self) -> None:
        retry_until_reachable(
            self.engine,
            self._prepare,
            self.settings.database_wait_s,
            lambda reason: self.notify(DatabaseWait(reason)),
        )

    def _prepare(self) -> None:
        check_engine(self.engine)
        migrate(self.engine)
        self._identify()
        settings = self.settings
        topic = ",".join(settings.topics)
        configuration = as_stored(topic, settings.media_type, settings.kafka)
        doing = f"preparing producer {self.id}"
        with outbox_errors(doing), reading(self.engine) as connection:
            if is_stored(connection, self.id, configuration):
                return
        with writing(self.engine, doing) as connection:
            self.outbox.create(connection, topic=topic, media_type=settings.media_type, settings=settings.kafka)

    def _make_runner(self, lease: Lease) -> Runner:
        settings = self.settings
        return Runner(
            self.engine,
            self.outbox,
            lease,
            self._session_factory(self._step),
            settings.transactional_id,
            first_start=settings.first_start,
            poll_s=settings.poll_s,
            retries=settings.retries,
            notify=self.notify,
            step=self._step,
        )

    def _step(self, name: str) -> None:
        """Do nothing; called before each step of the relay, and overridden by tests to kill the process there."""


def _instance() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
