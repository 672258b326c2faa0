"""The reference producer: an outbox, a relay to Kafka, and words to rule it with."""

from __future__ import annotations

import os
import socket
import threading
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Self

from sqlalchemy import Connection, Engine

from kafka_replica.errors import UsageError
from kafka_replica.producer.changes import Change
from kafka_replica.producer.counts import ProducerCounts
from kafka_replica.producer.encoding import Encoder
from kafka_replica.producer.formats import encoder_of
from kafka_replica.producer.notices import DatabaseAwaited, Notice, Notify
from kafka_replica.producer.outbox.database import open_database, outbox_errors
from kafka_replica.producer.outbox.lease import Lease
from kafka_replica.producer.outbox.migrate import migrate
from kafka_replica.producer.outbox.outbox import Outbox
from kafka_replica.producer.outbox.status import ProducerStatus, read_status
from kafka_replica.producer.outbox.waiting import once_there
from kafka_replica.producer.relay.heartbeat import Heartbeat
from kafka_replica.producer.relay.link import Identity, Link
from kafka_replica.producer.relay.runner import Runner
from kafka_replica.producer.settings import ProducerSettings

__all__ = ["ProducerSettings", "ProducerStatus", "StructureProducer"]


class StructureProducer:
    """Publishes what is recorded in its outbox, each transaction as one Kafka transaction, exactly once, in order.

    ::

        with StructureProducer(settings) as producer:
            with producer.engine.begin() as connection:
                producer.record(connection, [Put(urn, message, media_type)])

    Any number of instances may be started on one configuration: one publishes, the others stand by. All methods may
    be called from any thread, and those that rule (flush, suspend, resume, delete) from any process.

    Args:
        settings: how it is configured.
        encoder: makes a record's value of recorded content; by default a structure message in the format of the
            settings, or the content as recorded where they name none.
        observers: told what happens, by the thread that publishes or watches: a ``mail.Mailer``, say.

    Raises:
        ConfigurationError: something in the settings is impossible.
        OutboxUnavailableError: the database could not be reached in ``database_wait_s``.
        OutboxError: the database cannot be used.
    """

    def __init__(
        self, settings: ProducerSettings, *, encoder: Encoder | None = None, observers: Iterable[Notify] = ()
    ) -> None:
        self.settings = settings
        self._encoder = encoder or encoder_of(settings.media_type)
        self.outbox = Outbox(settings.id, skip_unchanged=settings.skip_unchanged)
        self.engine = settings.database if isinstance(settings.database, Engine) else open_database(settings.database)
        self.counts = ProducerCounts()
        self._observers: list[Notify] = [self.counts, *observers]
        self._lifecycle = threading.Lock()
        self._runner: Runner | None = None
        self._lease: Lease | None = None
        self._heartbeat: Heartbeat | None = None
        self._thread: threading.Thread | None = None
        try:
            once_there(
                self.engine, self._prepare, settings.database_wait_s, lambda reason: self.tell(DatabaseAwaited(reason))
            )
        except BaseException:
            self._let_go()
            raise

    # --- recording ---

    def record(self, connection: Connection, changes: Iterable[Change]) -> list[int]:
        """Records changes in the caller's database transaction; see ``Outbox.record``."""
        return self.outbox.record(connection, changes)

    def wake(self) -> None:
        """Says that something was committed: the relay looks at once instead of at its next turn."""
        if self._runner is not None:
            self._runner.wake.set()

    @property
    def leads(self) -> bool:
        """Whether this instance is the one that publishes, or would if it were told to; others stand by."""
        lease = self._lease
        return lease is not None and lease.term is not None

    def tell(self, notice: Notice) -> None:
        """Tells all observers."""
        for observer in self._observers:
            observer(notice)

    # --- life ---

    def start(self) -> Self:
        """Begins to publish, or to stand by, in a thread of its own."""
        with self._lifecycle:
            if self._thread is None:
                lease = self._lease = Lease(self.engine, self.settings.id, _instance(), self.settings.lease_s)
                self._runner = self._make_runner(lease)
                self._heartbeat = Heartbeat(lease)
                self._heartbeat.start()
                self._thread = threading.Thread(
                    target=self._runner.run, name=f"kafka_replica producer {self.settings.id}", daemon=True
                )
                self._thread.start()
        return self

    def close(self) -> None:
        """Ends publishing after the transaction that is being sent, and lets another instance take over."""
        with self._lifecycle:
            if self._runner is not None and self._thread is not None and self._heartbeat is not None:
                self._runner.closing.set()
                self._runner.wake.set()
                self._thread.join(2 * self.settings.timeout_s)
                self._heartbeat.close()
            self._runner = self._thread = self._heartbeat = self._lease = None
            self._let_go()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- ruling ---

    def flush(self, *, new_incarnation: bool = False) -> list[int]:
        """Has all present content sent in one transaction, then tombstones for all other keys of the topics in one.

        What was recorded before goes first. One that is idle or suspended runs from then on.

        Args:
            new_incarnation: do not believe what Kafka says of this producer's transactions so far. Use it after the
                database was restored from a backup or lost commits in a failover, and the producer has suspended
                itself because database and Kafka contradict each other.

        Raises:
            UsageError: there is no such producer; or a new incarnation is wanted of one that runs.
        """
        with self.engine.begin() as connection:
            if new_incarnation:
                self.outbox.begin_incarnation(connection)
            recorded = self.outbox.record_flush(connection)
            self.outbox.resume(connection)
        self.wake()
        return recorded

    def suspend(self, reason: str = "by request") -> None:
        """Stops sending, after 64 transactions or 16 MB more at most, until resumed or started again."""
        with self.engine.begin() as connection:
            self.outbox.suspend(connection, reason)

    def resume(self) -> None:
        """Goes on: what is pending, and what has failed, is sent in the order in which it was recorded."""
        with self.engine.begin() as connection:
            self.outbox.resume(connection)
        self.wake()

    def delete(self) -> None:
        """Deletes the configuration and all that was recorded; topics keep what they have.

        Waits for twice the lease where the one that publishes shows no sign of life.

        Raises:
            UsageError: an instance is running; stop it first.
        """
        # Who is silent for as long as the lease loses it, and who then takes it shows a beat: that is seen, too.
        status = self.status(watch_s=2 * self.settings.lease_s)
        if status.owner_lives:
            raise UsageError(f"producer {self.settings.id} is run by {status.owner}; stop it before deleting it")
        incarnation = status.incarnation
        with self.engine.begin() as connection:
            self.outbox.delete(connection)
        with suppress(Exception):  # one small record stays in the progress topic, and says nothing to anybody
            self._make_link(lambda _step: None)(incarnation).forget()

    def status(self, *, watch_s: float = 0.0) -> ProducerStatus:
        """What the database says of it.

        Args:
            watch_s: for how long to watch at most whether the instance that publishes lives.
        """
        return read_status(self.engine, self.settings.id, watch_s)

    # --- parts ---

    def _prepare(self) -> None:
        settings = self.settings
        migrate(self.engine)
        with outbox_errors(f"preparing producer {settings.id}"), self.engine.begin() as connection:
            self.outbox.create(
                connection, topic=",".join(settings.topics), media_type=settings.media_type, settings=settings.kafka
            )

    def _let_go(self) -> None:
        if not isinstance(self.settings.database, Engine):
            self.engine.dispose()

    def _make_runner(self, lease: Lease) -> Runner:
        settings = self.settings
        return Runner(
            self.engine,
            self.outbox,
            lease,
            self._make_link(self._step),
            settings.transactional_id,
            first_start=settings.first_start,
            poll_s=settings.poll_s,
            retries=settings.retries,
            notify=self.tell,
            step=self._step,
        )

    def _make_link(self, step: Callable[[str], None]) -> Callable[[str], Link]:
        settings = self.settings

        def make(incarnation: str) -> Link:
            progress = settings.progress_topic or f"{settings.topics[0]}.progress"
            identity = Identity(
                settings.id, incarnation, settings.transactional_id, settings.topics, progress, settings.media_type
            )
            return Link(settings.kafka, identity, self._encoder, settings.timeout_s, step)

        return make

    def _step(self, name: str) -> None:
        """Called before each step of the relay; tests die here."""


def _instance() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
