"""The status of a producer, read from its database."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, Engine, and_, func, select

from kafka_replica.producer.outbox.amendments import count_skipped
from kafka_replica.producer.outbox.database import reading, translate_errors
from kafka_replica.producer.outbox.lease import LeaseRow
from kafka_replica.producer.outbox.modes import FAILURES, Mode, intent_of
from kafka_replica.producer.outbox.tables import Status, config, counter, detail, lease, tx

_POLL_S = 0.1


@dataclass(frozen=True)
class FailedTransaction:
    """A transaction that could not be sent."""

    tx_id: int
    status: int
    error: str | None


@dataclass(frozen=True)
class ProducerStatus:
    """The status of a producer."""

    id: str
    topic: str
    media_type: str
    mode: Mode
    reason: str | None
    """The reason why the producer does not run, or why it is retrying; None if it runs normally."""
    owner: str | None
    """The instance that publishes; None if there is none."""
    owner_lives: bool
    """True if the owner renewed the lease while it was watched; if it was not watched, an owner counts as alive."""
    term: int
    sent: int
    """All transactions up to this number have arrived."""
    recorded: int
    pending: int
    pending_bytes: int
    oldest_pending_ms: int | None
    last_sent_ms: int | None
    not_carried: int
    """Records that the format cannot represent, since the producer was created."""
    failed: FailedTransaction | None
    incarnation: str
    skipped: int
    """Transactions that operators have skipped as a whole."""
    skipped_records: int
    """Records that operators have skipped, including those of whole transactions."""

    def __repr__(self) -> str:
        counts = f"{self.sent:,} of {self.recorded:,} transactions sent, {self.pending:,} pending"
        failed = "" if self.failed is None else f", transaction {self.failed.tx_id} failed"
        return f"<ProducerStatus {self.id} to {self.topic}: {self.mode}, {counts}{failed}>"

    @property
    def running(self) -> bool:
        """True if the producer publishes: its mode is running, an instance is alive, and Kafka accepts transactions."""
        return self.mode is Mode.RUNNING and self.owner_lives and not self.retrying

    @property
    def retrying(self) -> bool:
        """True if the producer is retrying after a failure, as during an outage of Kafka; ``reason`` has the cause."""
        return self.mode is Mode.RUNNING and self.reason is not None

    def as_json(self) -> dict[str, Any]:
        """Return the fields as plain values for JSON; ``running`` comes first."""
        return {"running": self.running, "retrying": self.retrying, **asdict(self), "mode": str(self.mode)}


@translate_errors("reading the producer's status")
def read_status(engine: Engine, producer_id: str, watch_s: float) -> ProducerStatus:
    """Return the status of a producer.

    Args:
        engine: the database.
        producer_id: the id of the producer.
        watch_s: the maximum time to watch the owner's beat, in seconds; 0 assumes that an owner is alive.

    Raises:
        UsageError: the producer does not exist.
    """
    lease_row = _read_lease(engine, producer_id)
    lives = lease_row.owner is not None
    give_up_s = time.monotonic() + watch_s
    if lives and watch_s:
        first, lives = lease_row, False
        while not lives and time.monotonic() < give_up_s:
            time.sleep(_POLL_S)
            lease_row = _read_lease(engine, producer_id)
            lives = lease_row != first and lease_row.owner is not None
    with reading(engine) as connection:
        return _status(connection, producer_id, lease_row, lives)


def _read_lease(engine: Engine, producer_id: str) -> LeaseRow:
    with reading(engine) as connection:
        intent_of(connection, producer_id)
        query = select(lease.c.owner, lease.c.term, lease.c.beat).where(lease.c.producer_id == producer_id)
        return LeaseRow(*connection.execute(query).one())


def _status(connection: Connection, producer_id: str, lease_row: LeaseRow, lives: bool) -> ProducerStatus:
    intent = intent_of(connection, producer_id)
    topic, media_type = connection.execute(
        select(config.c.topic, config.c.format).where(config.c.id == producer_id)
    ).one()
    mine = tx.c.producer_id == producer_id
    pending, pending_bytes = connection.execute(
        select(func.count(), func.coalesce(func.sum(tx.c.tx_size), 0)).where(
            mine, tx.c.tx_id > intent.sent_tx_id, tx.c.tx_status.not_in([int(Status.SENT), int(Status.SKIPPED)])
        )
    ).one()
    last_sent_ms = connection.execute(
        select(tx.c.tx_last_updated).where(mine, tx.c.tx_id == intent.sent_tx_id)
    ).scalar_one_or_none()
    recorded = connection.execute(select(counter.c.last_tx_id).where(counter.c.producer_id == producer_id)).scalar_one()
    oldest = connection.execute(
        select(func.min(detail.c.recorded_ms)).where(
            detail.c.producer_id == producer_id, detail.c.tx_id > intent.sent_tx_id
        )
    ).scalar_one()
    skipped, skipped_records = count_skipped(connection, producer_id)
    return ProducerStatus(
        id=producer_id,
        topic=topic,
        media_type=media_type,
        mode=intent.mode,
        reason=intent.reason,
        owner=lease_row.owner,
        owner_lives=lives,
        term=lease_row.term,
        sent=intent.sent_tx_id,
        recorded=int(recorded),
        pending=int(pending),
        pending_bytes=int(pending_bytes),
        oldest_pending_ms=oldest,
        last_sent_ms=last_sent_ms,
        not_carried=intent.not_carried,
        failed=_first_failure(connection, producer_id, intent.sent_tx_id),
        incarnation=intent.incarnation,
        skipped=skipped,
        skipped_records=skipped_records,
    )


def _first_failure(connection: Connection, producer_id: str, sent_tx_id: int) -> FailedTransaction | None:
    row = connection.execute(
        select(tx.c.tx_id, tx.c.tx_status, detail.c.error)
        .join(detail, and_(detail.c.producer_id == tx.c.producer_id, detail.c.tx_id == tx.c.tx_id))
        .where(tx.c.producer_id == producer_id, tx.c.tx_id > sent_tx_id, tx.c.tx_status.in_(FAILURES))
        .order_by(tx.c.tx_id)
        .limit(1)
    ).first()
    return None if row is None else FailedTransaction(row[0], row[1], row[2])
