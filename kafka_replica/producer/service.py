"""The reference producer: an outbox, a relay to Kafka, and words to rule it with."""

from __future__ import annotations

import os
import socket
import threading
import uuid
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, Engine

from kafka_replica.errors import ConfigurationError, UsageError
from kafka_replica.producer.changes import Change
from kafka_replica.producer.encoding import Encoder, as_recorded
from kafka_replica.producer.names import topic_names
from kafka_replica.producer.notices import Notice, Notify
from kafka_replica.producer.outbox.database import open_database
from kafka_replica.producer.outbox.lease import Lease
from kafka_replica.producer.outbox.migrate import migrate
from kafka_replica.producer.outbox.outbox import Outbox
from kafka_replica.producer.outbox.status import ProducerStatus, read_status
from kafka_replica.producer.relay.heartbeat import Heartbeat
from kafka_replica.producer.relay.link import Identity, Link
from kafka_replica.producer.relay.rules import RETRIES
from kafka_replica.producer.relay.runner import FirstStart, Runner

__all__ = ["ProducerSettings", "ProducerStatus", "StructureProducer"]

_ID = "structures"
DEFAULT_PREFIX = "tx"


@dataclass(frozen=True)
class ProducerSettings:
    """How a producer is configured.

    ``transactional_id`` of Kafka is ``prefix`` and ``id``: stable, so that Kafka can tell instances of one
    configuration from each other.
    """

    topic: str
    """One topic, or several as ``FOO,BAR``: each transaction goes to all of them."""
    kafka: Mapping[str, Any] = field(repr=False)
    """librdkafka's properties as they are; ``bootstrap.servers`` at least."""
    database: str | Engine = field(default="sqlite:///kafka-replica-outbox.db", repr=False)
    """A URL as SQLAlchemy writes it, or an engine, such as the one of the user's own data."""
    id: str = _ID
    media_type: str = ""
    """The format wanted of the encoder."""
    prefix: str | None = DEFAULT_PREFIX
    progress_topic: str | None = None
    """Where what has arrived is noted; ``<first topic>.progress`` by default, made if it is missing."""
    first_start: FirstStart = "idle"
    """What a producer that has never sent anything does when it starts."""
    skip_unchanged: bool = True
    timeout_s: float = 30.0
    """How long one step of Kafka's may take."""
    lease_s: float = 4.0
    """After how long a silent instance is replaced by one that stands by."""
    poll_s: float = 0.1
    """How often the database is asked for what others have recorded."""
    retries: int = RETRIES

    def __post_init__(self) -> None:
        topic_names(self.topic)
        if not self.id or "/" in self.id:
            raise ConfigurationError(f"a producer's id is a name without slashes, not {self.id!r}")

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics' names."""
        return topic_names(self.topic)

    @property
    def transactional_id(self) -> str:
        """Under which it publishes: ``tx-structures``."""
        return f"{self.prefix or DEFAULT_PREFIX}-{self.id}"


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
        encoder: makes a record's value of recorded content; as recorded, by default.
        observers: told what happens, by the thread that publishes: metrics, a ``mail.Mailer``.

    Raises:
        ConfigurationError: something in the settings is impossible.
        OutboxError: the database cannot be used.
    """

    def __init__(
        self, settings: ProducerSettings, *, encoder: Encoder = as_recorded, observers: Iterable[Notify] = ()
    ) -> None:
        self.settings = settings
        self.outbox = Outbox(settings.id, skip_unchanged=settings.skip_unchanged)
        self.engine = settings.database if isinstance(settings.database, Engine) else open_database(settings.database)
        self._encoder = encoder
        self._observers = list(observers)
        self._lifecycle = threading.Lock()
        self._runner: Runner | None = None
        self._heartbeat: Heartbeat | None = None
        self._thread: threading.Thread | None = None
        migrate(self.engine)
        with self.engine.begin() as connection:
            self.outbox.create(
                connection, topic=",".join(settings.topics), media_type=settings.media_type, settings=settings.kafka
            )

    # --- recording ---

    def record(self, connection: Connection, changes: Iterable[Change]) -> list[int]:
        """Records changes in the caller's database transaction; see ``Outbox.record``."""
        return self.outbox.record(connection, changes)

    def wake(self) -> None:
        """Says that something was committed: the relay looks at once instead of at its next turn."""
        if self._runner is not None:
            self._runner.wake.set()

    # --- life ---

    def start(self) -> Self:
        """Begins to publish, or to stand by, in a thread of its own."""
        with self._lifecycle:
            if self._thread is None:
                lease = Lease(self.engine, self.settings.id, _instance(), self.settings.lease_s)
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
            self._runner = self._thread = self._heartbeat = None
            if not isinstance(self.settings.database, Engine):
                self.engine.dispose()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- ruling ---

    def flush(self) -> list[int]:
        """Has all present content sent in one transaction, then tombstones for all other keys of the topics in one.

        What was recorded before goes first. One that is idle or suspended runs from then on.
        """
        with self.engine.begin() as connection:
            recorded = self.outbox.record_flush(connection)
            self.outbox.resume(connection)
        self.wake()
        return recorded

    def suspend(self, reason: str = "by request") -> None:
        """Stops sending, after 16 transactions more at most, until resumed or started again."""
        with self.engine.begin() as connection:
            self.outbox.suspend(connection, reason)

    def resume(self) -> None:
        """Goes on: what is pending, and what has failed, is sent in the order in which it was recorded."""
        with self.engine.begin() as connection:
            self.outbox.resume(connection)
        self.wake()

    def delete(self) -> None:
        """Deletes the configuration and all that was recorded; topics keep what they have.

        Raises:
            UsageError: an instance is running; stop it first.
        """
        status = self.status(watch_s=self.settings.lease_s)
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
            notify=self._notify,
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

    def _notify(self, notice: Notice) -> None:
        for observer in self._observers:
            observer(notice)

    def _step(self, name: str) -> None:
        """Called before each step of the relay; tests die here."""


def _instance() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
