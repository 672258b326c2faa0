"""Commands for a producer that runs elsewhere, or nowhere: status, flush, suspend, resume, delete."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace

from sqlalchemy import Engine

from kafka_replica.errors import UsageError
from kafka_replica.producer.changes import Put
from kafka_replica.producer.encoding import Encoder
from kafka_replica.producer.formats import encoder_of
from kafka_replica.producer.outbox.database import check_file, open_database, reading
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
from kafka_replica.producer.outbox.status import ProducerStatus, read_status
from kafka_replica.producer.outbox.tables import Status
from kafka_replica.producer.record_checks import validator_of
from kafka_replica.producer.relay.kafka_session import Identity, KafkaSession
from kafka_replica.producer.settings import ProducerSettings
from kafka_replica.records import Key


class ProducerControl:
    """Controls a producer through its database.

    Opening one and reading the status only read: no tables are created or migrated, no producer is created, no stored
    configuration is changed, and the right to write is not needed. On PostgreSQL only ``flush`` and ``delete`` wait for
    recording transactions that are open, because their place is in the same order.

    Args:
        settings: the producer's configuration.
        encoder: that of the producer, if it is another than its format says.

    Raises:
        ConfigurationError: something in the settings is impossible.
        OutboxNotMigratedError: the database has no tables of the producer, or those of an earlier version.
        OutboxUnavailableError: the database cannot be reached.
        UsageError: there is no such producer; the message names those that there are.
    """

    settings: ProducerSettings
    """The configuration; ``id`` is never None here."""
    outbox: Outbox

    def __init__(self, settings: ProducerSettings, *, encoder: Encoder | None = None) -> None:
        self.settings = settings
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
        """The producer's id: that of the settings, or the default of this database."""
        return self.outbox.producer_id

    def close(self) -> None:
        """Close the connections to the database, unless the engine is the caller's."""
        self._dispose()

    # --- commands ---

    def flush(self, *, new_incarnation: bool = False) -> list[int]:
        """Record a full flush: all present content in one transaction, and tombstones for all other keys in another.

        What was recorded before goes first. A producer that is idle or suspended runs from then on.

        Args:
            new_incarnation: do not believe what Kafka says of this producer's transactions so far. Use it after the
                database was restored from a backup or lost commits in a failover, and the producer has suspended
                itself because database and Kafka contradict each other.

        Raises:
            UsageError: a new incarnation is wanted of a producer that runs.
        """
        with self.engine.begin() as connection:
            if new_incarnation:
                self.outbox.begin_incarnation(connection)
            recorded = self.outbox.record_flush(connection)
            self.outbox.resume(connection)
        self.wake()
        return recorded

    def suspend(self, reason: str = "by request") -> None:
        """Stop sending, after 64 transactions or 16 MB more at most, until resumed or started again."""
        with self.engine.begin() as connection:
            self.outbox.suspend(connection, reason)

    def resume(self) -> None:
        """Go on: what is pending, and what has failed, is sent in the order in which it was recorded."""
        with self.engine.begin() as connection:
            self.outbox.resume(connection)
        self.wake()

    def skip(self, tx_id: int, keys: Iterable[Key] | None = None, *, reason: str = "by request") -> None:
        """Skip a transaction that cannot be sent, or only its records of some keys; see ``Outbox.skip``.

        It is skipped when the producer is resumed.

        Raises:
            UsageError: there is no such transaction or key, it was sent, or the producer is running; suspend it first.
        """
        with self.engine.begin() as connection:
            self.outbox.skip(connection, tx_id, keys, reason=reason)

    def replace(self, tx_id: int, puts: Iterable[Put], *, reason: str = "by request") -> None:
        """Send other content for keys of a transaction that cannot be sent; see ``Outbox.replace``.

        It is replaced when the producer is resumed.

        Raises:
            UsageError: there is no such transaction or key, the record is a deletion, it was sent, or the producer is
                running; suspend it first.
            EncodingError: the new content cannot be sent either.
        """
        with self.engine.begin() as connection:
            self.outbox.replace(connection, tx_id, puts, reason=reason)

    def transactions(self, *statuses: Status, limit: int = 100) -> list[RecordedTransaction]:
        """Return recorded transactions, the newest first; only those with one of the statuses, if any are given."""
        return list_transactions(self.engine, self.id, statuses=statuses, limit=limit)

    def records(self, tx_id: int) -> list[StoredRecord]:
        """Return the records of a transaction, those that were skipped or replaced included.

        Raises:
            UsageError: there is no such transaction, or none any more.
        """
        return records_of(self.engine, self.id, tx_id)

    def claim(self) -> None:
        """Make this database the one that publishes under the producer's id.

        A producer does not begin when its database was copied or moved, or when another database has published under
        its id. This command takes the place where the database is now for the right one, deletes the progress records
        of other databases, and fences whoever publishes under the transactional id. Resume the producer afterwards.

        Raises:
            BrokerError: Kafka did not answer or refused.
        """
        with reading(self.engine) as connection:
            incarnation = intent_of(connection, self.id).incarnation
        remember_location(self.engine)
        self._make_link(lambda _step: None)(incarnation).claim()

    def delete(self) -> None:
        """Delete the configuration and everything that was recorded; topics keep what they have.

        Waits for twice the lease where the instance that publishes shows no sign of life.

        Raises:
            UsageError: an instance is running; stop it first.
        """
        # Who is silent for as long as the lease loses it, and who then takes it shows a beat: that is seen, too.
        status = self.status(watch_s=2 * self.settings.lease_s)
        if status.owner_lives:
            raise UsageError(f"producer {self.id} is run by {status.owner}; stop it before deleting it")
        incarnation = status.incarnation
        with self.engine.begin() as connection:
            self.outbox.delete(connection)
        with suppress(Exception):  # one small record stays in the progress topic, and says nothing to anybody
            self._make_link(lambda _step: None)(incarnation).forget()

    def status(self, *, watch_s: float = 0.0) -> ProducerStatus:
        """Return what the database says of the producer.

        Args:
            watch_s: for how long to watch at most whether the instance that publishes lives.
        """
        return read_status(self.engine, self.id, watch_s)

    def wake(self) -> None:
        """Make the instance in this process, if there is one, look for work at once instead of at its next turn."""

    # --- parts ---

    def _open(self) -> None:
        check_file(self.engine)
        check_tables(self.engine)
        self._identify()
        with reading(self.engine) as connection:
            intent_of(connection, self.id)

    def _identify(self) -> None:
        """Find out the producer's id, which the database knows where the settings do not say it."""
        settings = self.settings
        with reading(self.engine) as connection:
            identity = self._database = read_identity(connection)
        self.settings = replace(settings, id=settings.id or identity.default_producer_id)
        validator = validator_of(self._encoder, settings.media_type, settings.kafka) if settings.validate else None
        self.outbox = Outbox(str(self.settings.id), skip_unchanged=settings.skip_unchanged, validator=validator)

    def _make_link(self, step: Callable[[str], None]) -> Callable[[str], KafkaSession]:
        settings = self.settings

        def make(incarnation: str) -> KafkaSession:
            check_location(self.engine)
            progress = settings.progress_topic or f"{settings.topics[0]}.progress"
            identity = Identity(
                self.id, incarnation, settings.transactional_id, settings.topics, progress, settings.media_type,
                self._database.database_id, settings.progress_replication_factor,
            )  # fmt: skip
            return KafkaSession(settings.kafka, identity, self._encoder, settings.timeout_s, step)

        return make

    def _dispose(self) -> None:
        if not isinstance(self.settings.database, Engine):
            self.engine.dispose()
