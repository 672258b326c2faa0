"""The lease that decides which of several instances publishes: a row that its owner updates and the others watch.

No clocks are compared. An instance takes the lease if it has no owner, or if the beat has not changed for ``lease_s``
seconds of the instance's own monotonic clock. Taking the lease is a single conditional update, so that only one
instance succeeds. The lease only selects the instance that should publish; Kafka's fencing ensures that no other
instance can.
"""

from __future__ import annotations

import threading
import time
from typing import NamedTuple

from sqlalchemy import Engine, select, update

from kafka_replica.producer.errors import OutboxError, OutboxUnavailableError
from kafka_replica.producer.outbox.database import reading, short_transaction, translate_errors
from kafka_replica.producer.outbox.modes import unknown_producer
from kafka_replica.producer.outbox.tables import lease


class LeaseLostError(OutboxError):
    """Another instance has taken the lease, so that this instance may no longer publish."""


class LeaseHolder(NamedTuple):
    """An instance in one term of the lease.

    The term alone does not identify the instance: a database that loses its last commits in a failover may assign a
    term a second time.
    """

    owner: str
    term: int


class LeaseRow(NamedTuple):
    """The content of the row when it was read."""

    owner: str | None
    term: int
    beat: int


class Lease:
    """The lease, as one instance holds or watches it.

    Args:
        engine: the database.
        producer_id: the id of the producer.
        owner: a unique name for this instance.
        lease_s: how long an unchanged beat keeps the lease valid, in seconds.
    """

    def __init__(self, engine: Engine, producer_id: str, owner: str, lease_s: float) -> None:
        self._engine = engine
        self._producer_id = producer_id
        self.owner = owner
        self.lease_s = lease_s
        self.term: int | None = None
        self.acquisitions = 0
        """The number of times that this instance has taken the lease."""
        self.saw_another = False
        """True if another instance was alive while this instance watched."""
        self._last_row: LeaseRow | None = None
        self._since_s = 0.0
        self._renewed_s = 0.0
        self._lock = threading.Lock()

    @translate_errors("reading the producer's lease")
    def read_row(self) -> LeaseRow:
        """Return the current content of the row.

        Raises:
            UsageError: the producer does not exist.
        """
        with reading(self._engine) as connection:
            row = connection.execute(
                select(lease.c.owner, lease.c.term, lease.c.beat).where(lease.c.producer_id == self._producer_id)
            ).first()
            if row is None:
                raise unknown_producer(connection, self._producer_id)
        return LeaseRow(*row)

    @property
    def holder(self) -> LeaseHolder | None:
        """This instance in its current term; None without the lease."""
        term = self.term
        return None if term is None else LeaseHolder(self.owner, term)

    def hold(self) -> bool:
        """Return whether this instance holds the lease; take the lease if it is free or has expired."""
        if self.term is not None and time.monotonic() - self._renewed_s < self.lease_s / 2:
            return True
        return self.renew() or self._acquire()

    def _acquire(self) -> bool:
        now = self.read_row()
        if now != self._last_row:
            before, self._last_row, self._since_s = self._last_row, now, time.monotonic()
            self.saw_another |= before is not None and now.owner not in {None, self.owner}
        if now.owner not in {None, self.owner} and time.monotonic() - self._since_s < self.lease_s:
            return False
        if self._change(now, LeaseRow(self.owner, now.term + 1, 0)):
            self.acquisitions += 1
            self.term, self._renewed_s = now.term + 1, time.monotonic()
            return True
        return False

    def renew(self) -> bool:
        """Raise the beat as a sign of life; return False if the lease was lost. May be called from any thread."""
        with self._lock:
            return self._renew()

    def _renew(self) -> bool:
        if self.term is None:
            return False
        requested_s = time.monotonic()
        mine = (lease.c.producer_id == self._producer_id, lease.c.term == self.term, lease.c.owner == self.owner)
        if not self._update(mine, {"beat": lease.c.beat + 1}):
            self.term = None
            return False
        self._renewed_s = requested_s
        return True

    def note_loss(self) -> None:
        """Note that another instance has taken the lease; it is acquired again only when it is free, or has expired."""
        self.term = None

    def release(self) -> None:
        """Release the lease, so that another instance can take it immediately."""
        term, self.term = self.term, None
        if term is None:
            return
        mine = (lease.c.producer_id == self._producer_id, lease.c.term == term, lease.c.owner == self.owner)
        try:
            self._update(mine, {"owner": None})
        except OutboxUnavailableError:
            return  # the lease expires by itself

    def _change(self, now: LeaseRow, then: LeaseRow) -> bool:
        same = (
            lease.c.producer_id == self._producer_id, lease.c.owner == now.owner, lease.c.term == now.term,
            lease.c.beat == now.beat,
        )  # fmt: skip
        return self._update(same, then._asdict())

    @translate_errors("acquiring the producer's lease")
    def _update(self, conditions: tuple[object, ...], values: dict[str, object]) -> bool:
        with short_transaction(self._engine) as connection:
            return bool(connection.execute(update(lease).where(*conditions).values(values)).rowcount)  # type: ignore[arg-type]
