"""Clean-up in small steps, which delete obsolete rows and never block writers for long.

Content is deleted when it was sent and newer content of its key was sent, too. Deletions are deleted when they were
sent. Present content stays for the next full flush. The rows of sent transactions stay for a time, and the newest of
them always stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, bindparam, delete, func, or_, select, update

from kafka_replica.common.clock import now_ms
from kafka_replica.producer.outbox.database import noting, reading, translated
from kafka_replica.producer.outbox.tables import Status, amendment, change, detail, state, tx

ROWS: Final = 500
"""The most rows that one transaction deletes."""
_BYTES: Final = 8 << 20  # the most bytes of content that one transaction deletes, unless a single row has more
KEEP_NEWEST: Final = 1000
"""The number of newest transactions that are kept, whatever their age."""


class _Place(NamedTuple):
    """The position of a row of content."""

    tx_id: int
    number: int
    size: int


class _Seen(NamedTuple):
    """A row of content that was examined."""

    place: _Place
    key_hash: bytes
    is_obsolete: bool


class Cleanup:
    """Clean up after one producer.

    Args:
        engine: the database.
        producer_id: the id of the producer.
        keep_s: how long the rows of sent transactions stay in ``kafka_producer_tx``, in seconds.
    """

    def __init__(self, engine: Engine, producer_id: str, keep_s: float) -> None:
        self._engine = engine
        self._id = producer_id
        self._keep_ms = int(keep_s * 1000)
        self._looked = 0, 0  # a partly examined transaction, and the last record examined in it

    @translated("cleaning up sent transactions")
    def step(self) -> bool:
        """Examine some rows, delete obsolete ones, and return whether there is more to do."""
        more = self._content()
        return self._transactions() or more

    def _content(self) -> bool:
        """Examine the content that was sent since the last step, and delete the older content that it replaces."""
        with reading(self._engine) as connection:
            row = connection.execute(
                select(state.c.incarnation, state.c.sent_tx_id, state.c.cleaned_tx_id).where(
                    state.c.producer_id == self._id
                )
            ).first()
            if row is None or row[2] >= row[1]:
                return False
            incarnation, sent, cleaned = row
            seen = self._look_through(connection, sent, cleaned)
            obsolete = [each.place for each in seen if each.is_obsolete] + self._replaced(connection, seen)
        is_all = len(seen) < ROWS
        last = seen[-1].place if seen else _Place(0, 0, 0)
        cleaned, self._looked = (sent, (0, 0)) if is_all else (last.tx_id - 1, last[:2])
        # Oldest first: deleting a deletion before the older content would make that content appear present again.
        *parts, rest = _bounded(sorted(obsolete))
        for part in parts:
            with noting(self._engine) as connection:
                self._delete(connection, part)
        with noting(self._engine) as connection:
            self._delete(connection, rest)
            mine = (state.c.producer_id == self._id, state.c.incarnation == incarnation)
            connection.execute(update(state).where(*mine).values(cleaned_tx_id=cleaned))
        return not is_all

    def _delete(self, connection: Connection, places: Sequence[_Place]) -> None:
        if places:
            rows = [{"of": self._id, "at": place.tx_id, "this": place.number} for place in places]
            connection.execute(_DELETE_CONTENT, rows)

    def _look_through(self, connection: Connection, sent: int, cleaned: int) -> list[_Seen]:
        """Return the next rows; a row is obsolete if it is a deletion, or newer content of its key was sent."""
        first = cleaned + 1
        number = self._looked[1] if self._looked[0] == first else 0
        after = or_(change.c.tx_id > first, change.c.number > number)
        is_obsolete = or_(change.c.record_value.is_(None), newer_than_this(sent + 1))
        rows = connection.execute(
            select(change.c.tx_id, change.c.number, _SIZE, change.c.key_hash, is_obsolete)
            .where(change.c.producer_id == self._id, change.c.tx_id.between(first, sent), after)
            .order_by(change.c.tx_id, change.c.number)
            .limit(ROWS)
        )
        return [_Seen(_Place(row[0], row[1], row[2]), row[3], bool(row[4])) for row in rows]

    def _replaced(self, connection: Connection, seen: Sequence[_Seen]) -> list[_Place]:
        """Return the earlier rows of the same keys: at most one per key, because all others were deleted already."""
        if not seen:
            return []
        hashes = {each.key_hash for each in seen}
        rows = connection.execute(
            select(change.c.tx_id, change.c.number, _SIZE).where(
                change.c.producer_id == self._id, change.c.key_hash.in_(hashes), change.c.tx_id < seen[0].place.tx_id
            )
        )
        return [_Place(*row) for row in rows]

    def _transactions(self) -> bool:
        """Delete the rows of transactions that were sent long ago, except those that operators have amended."""
        amended = select(amendment.c.tx_id).where(amendment.c.producer_id == self._id)
        before_ms = now_ms() - self._keep_ms
        with reading(self._engine) as connection:
            sent = connection.execute(select(state.c.sent_tx_id).where(state.c.producer_id == self._id)).scalar()
            rows = connection.execute(
                select(tx.c.tx_id, tx.c.tx_last_updated)
                .where(
                    tx.c.producer_id == self._id, tx.c.tx_id <= (sent or 0) - KEEP_NEWEST,
                    tx.c.tx_status == int(Status.SENT), tx.c.tx_id.not_in(amended),
                )
                .order_by(tx.c.tx_id)
                .limit(ROWS)
            ).all()  # fmt: skip
        old = [tx_id for tx_id, updated_ms in rows if updated_ms < before_ms]
        if old:
            with noting(self._engine) as connection:
                for table in (tx, detail):
                    connection.execute(delete(table).where(table.c.producer_id == self._id, table.c.tx_id.in_(old)))
        return len(old) == ROWS


def newer_than_this(before: int) -> ColumnElement[bool]:
    """Return the condition that the key of a change has a newer change among the transactions before this number."""
    newer = change.alias("newer")
    return (
        select(newer.c.tx_id)
        .where(
            newer.c.producer_id == change.c.producer_id,
            newer.c.key_hash == change.c.key_hash,
            newer.c.tx_id > change.c.tx_id,
            newer.c.tx_id < before,
        )
        .exists()
    )


_SIZE = func.length(change.c.record_key) + func.coalesce(func.length(change.c.record_value), 0)
_DELETE_CONTENT: Any = delete(change).where(
    change.c.producer_id == bindparam("of"), change.c.tx_id == bindparam("at"), change.c.number == bindparam("this")
)


def _bounded(places: Sequence[_Place]) -> Iterator[list[_Place]]:
    """Split rows into chunks of limited rows and bytes, at least one row each. Without rows, yield one empty chunk."""
    part: list[_Place] = []
    size = 0
    for place in places:
        if part and (len(part) == ROWS or size + place.size > _BYTES):
            yield part
            part, size = [], 0
        part.append(place)
        size += place.size
    yield part
