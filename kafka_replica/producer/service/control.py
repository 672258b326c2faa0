"""Commands for a producer, whether it runs in this process, in another or not at all: status, flush, suspend, ..."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace

from sqlalchemy import Engine

from kafka_replica.errors import UsageError
from kafka_replica.headers import Stack
from kafka_replica.producer.changes.changes import Put
from kafka_replica.producer.changes.encoding import Encoder
from kafka_replica.producer.changes.formats import encoder_of
from kafka_replica.producer.changes.record_checks import validator_of
from kafka_replica.producer.outbox.database import check_file, open_database, outbox_errors, reading, writing
from kafka_replica.producer.outbox.identity import read_identity
from kafka_replica.producer.outbox.listing import (
    RecordedTransaction,
    StoredRecord,
    list_transactions,
    records_of,
)
from kafka_replica.producer.outbox.location import check_location, remember_location
from kafka_replica.producer.outbox.migrate import check_tables
from kafka_replica.producer.outbox.modes import intent_of
from kafka_replica.producer.outbox.outbox import Outbox
from kafka_replica.producer.outbox.raw_connections import check_engine
from kafka_replica.producer.outbox.status import ProducerStatus, read_status
from kafka_replica.producer.outbox.tables import Status
from kafka_replica.producer.relay.identity import Identity
from kafka_replica.producer.relay.kafka_session import KafkaSession
from kafka_replica.producer.settings.producer_settings import ProducerSettings
from kafka_replica.records import Key


class ProducerControl:
    """Control a producer through its database.

    Opening a control and reading the status write nothing: no tables are created or migrated, no producer is created,
    no stored configuration is changed, and write permission is not needed. On PostgreSQL, only ``flush`` and ``delete``
    wait for open recording transactions, because they lock the same counter.

    Args:
        settings: the producer's configuration.
        encoder: the producer's encoder; None for the default encoder of its format.
        header_stack: the stack through which records are sent; only an instance that publishes needs it.

    Raises:
        ConfigurationError: a setting is impossible.
        OutboxNotMigratedError: the producer's tables are missing in the database, or of an earlier version.
        OutboxUnavailableError: the database cannot be reached.
        UsageError: there is no such producer; the message names the existing ones.
    """

    settings: ProducerSettings
    """The configuration; its ``id`` is never None."""
    outbox: Outbox

    def __init__(
        self, settings: ProducerSettings, *, encoder: Encoder | None = None, header_stack: Stack | None = None
    ) -> None:
        self.settings = settings
        self._header_stack = header_stack
        self._encoder = encoder or encoder_of(settings.media_type)
        self.engine = settings.database if isinstance(settings.database, Engine) else open_database(settings.database)
        try:
            self._open()
        except BaseException:
            self._dispose()
            raise

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id} to {', '.join(self.settings.topics)}>"

    @property
    def id(self) -> str:
        """The producer's id: from the settings, or the default id of this database."""
        return self.outbox.producer_id

    def close(self) -> None:
        """Close the connections to the database, unless the caller passed the engine."""
        self._dispose()

    # --- commands ---

    def flush(self, *, new_incarnation: bool = False) -> list[int]:
        """Record a full flush: all present content in one transaction, and tombstones for all other keys in another.

        Transactions that were recorded earlier are sent first. An idle or suspended producer is resumed.

        Args:
            new_incarnation: whether to disregard Kafka's progress records of this producer's earlier transactions. Use
                this option if the database was restored from a backup or lost commits in a failover, and the producer
                has suspended itself because database and Kafka contradict each other.

        Raises:
            UsageError: a new incarnation was requested while the producer runs.
        """
        with writing(self.engine, f"requesting a full flush of producer {self.id}") as connection:
            if new_incarnation:
                self.outbox.begin_incarnation(connection)
            recorded = self.outbox.record_flush(connection)
            self.outbox.resume(connection)
        self.wake()
        return recorded

    def suspend(self, reason: str = "by request") -> None:
        """Stop sending, after at most 64 transactions or 16 MB more, until the producer is resumed or started again."""
        with writing(self.engine, f"suspending producer {self.id}") as connection:
            self.outbox.suspend(connection, reason)

    def resume(self) -> None:
        """Resume sending: pending and failed transactions are sent in the order in which they were recorded."""
        with writing(self.engine, f"resuming producer {self.id}") as connection:
            self.outbox.resume(connection)
        self.wake()

    def skip(self, tx_id: int, keys: Iterable[Key] | None = None, *, reason: str = "by request") -> None:
        """Skip a transaction that cannot be sent, or only its records with some keys; see ``Outbox.skip``.

        The request is applied when the producer is resumed.

        Raises:
            UsageError: no such transaction or key exists, it was sent, or the producer is running; suspend it first.
        """
        with writing(self.engine, f"skipping transaction {tx_id}") as connection:
            self.outbox.skip(connection, tx_id, keys, reason=reason)

    def replace(self, tx_id: int, puts: Iterable[Put], *, reason: str = "by request") -> None:
        """Send other content for keys of a transaction that cannot be sent; see ``Outbox.replace``.

        The request is applied when the producer is resumed.

        Raises:
            UsageError: no such transaction or key exists, the record is a deletion, it was sent, or the producer is
                running; suspend it first.
            EncodingError: the new content cannot be sent either.
        """
        with writing(self.engine, f"replacing records of transaction {tx_id}") as connection:
            self.outbox.replace(connection, tx_id, puts, reason=reason)

    def transactions(self, *statuses: Status, limit: int = 100) -> list[RecordedTransaction]:
        """Return at most ``limit`` recorded transactions, newest first; all, or only those with the given statuses."""
        return list_transactions(self.engine, self.id, statuses=statuses, limit=limit)

    def records(self, tx_id: int) -> list[StoredRecord]:
        """Return the records of a transaction, including those that were skipped or replaced.

        Raises:
            UsageError: the transaction does not exist, or was cleaned up.
        """
        return records_of(self.engine, self.id, tx_id)

    def claim(self) -> None:
        """Make this database the only one that publishes under the producer's id.

        A producer refuses to start if its database was copied or moved, or if another database has published under its
        id. This command accepts the database's current location, deletes the progress records of other databases, and
        fences any other producer of the transactional id. Resume the producer afterwards.

        Raises:
            BrokerError: Kafka did not answer or refused.
        """
        with outbox_errors(f"claiming producer {self.id}"), reading(self.engine) as connection:
            incarnation = intent_of(connection, self.id).incarnation
        remember_location(self.engine)
        self._session_factory(lambda _step: None)(incarnation).claim()

    def delete(self) -> None:
        """Delete the configuration and everything that was recorded; the topics keep their records.

        If the publishing instance shows no sign of life, this call waits for twice the lease time.

        Raises:
            UsageError: an instance is running; stop it first.
        """
        # A silent holder loses the lease after the lease time, and a new holder raises the beat within this wait.
        status = self.status(watch_s=2 * self.settings.lease_s)
        if status.owner_lives:
            raise UsageError(f"producer {self.id} is running at {status.owner}; stop it before deleting it")
        incarnation = status.incarnation
        with writing(self.engine, f"deleting producer {self.id}") as connection:
            self.outbox.delete(connection)
        with suppress(Exception):  # otherwise a small record stays in the progress topic, where it has no effect
            self._session_factory(lambda _step: None)(incarnation).forget()

    def status(self, *, watch_s: float = 0.0) -> ProducerStatus:
        """Return the producer's status from the database.

        Args:
            watch_s: the maximum time to wait for a sign of life from the publishing instance, in seconds.
        """
        return read_status(self.engine, self.id, watch_s)

    def wake(self) -> None:
        """Make the instance in this process, if there is one, query the database now instead of at its next poll."""

    # --- helpers ---

    def _open(self) -> None:
        check_file(self.engine)
        check_engine(self.engine)
        check_tables(self.engine)
        self._identify()
        with outbox_errors(f"opening producer {self.id}"), reading(self.engine) as connection:
            intent_of(connection, self.id)

    def _identify(self) -> None:
        """Determine the producer's id: from the settings or, if they have none, from the database."""
        settings = self.settings
        with outbox_errors("reading the identity of the database"), reading(self.engine) as connection:
            identity = self._database = read_identity(connection)
        self.settings = replace(settings, id=settings.id or identity.default_producer_id)
        validator = validator_of(self._encoder, settings.media_type, settings.kafka) if settings.validate else None
        self.outbox = Outbox(str(self.settings.id), skip_unchanged=settings.skip_unchanged, validator=validator)

    def _session_factory(self, step: Callable[[str], None]) -> Callable[[str], KafkaSession]:
        settings = self.settings

        def make(incarnation: str) -> KafkaSession:
            check_location(self.engine)
            progress = settings.progress_topic or f"{settings.topics[0]}.progress"
            identity = Identity(
                self.id, incarnation, settings.transactional_id, settings.topics, progress, settings.media_type,
                self._database.database_id, settings.progress_replication_factor,
            )  # fmt: skip
            return KafkaSession(settings.kafka, identity, self._encoder, settings.timeout_s, step, self._header_stack)

        return make

    def _dispose(self) -> None:
        if not isinstance(self.settings.database, Engine):
            self.engine.dispose()
