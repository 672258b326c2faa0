"""Clean-up in small steps, which delete obsolete rows and never block writers for long.

Content is deleted after it and newer content of its key were sent. Deletions are deleted after they were sent. Present
content is kept for the next full flush. The rows of sent transactions are kept for a time, and the newest of them
always.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, bindparam, delete, func, or_, select, update

from kafka_replica.common.clock import now_ms
from kafka_replica.producer.outbox.database import reading, short_transaction, translate_errors
from kafka_replica.producer.outbox.tables import Status, amendment, change, detail, state, tx

ROWS: Final = 500
"""The maximum number of rows that one transaction deletes."""
_BYTES: Final = 8 << 20  # the maximum size of content that one transaction deletes, unless a single row is larger
KEEP_NEWEST: Final = 1000
"""The number of newest transactions that are kept, whatever their age."""


class _RowId(NamedTuple):
    """The primary key of a row of content, and the size of the row in bytes."""

    tx_id: int
    number: int
    size: int


class _ExaminedRow(NamedTuple):
    """An examined row of content."""

    row_id: _RowId
    key_hash: bytes
    is_obsolete: bool


class Cleanup:
    """Cleans up the tables of one producer.

    Args:
        engine: the database.
        producer_id: the id of the producer.
        keep_s: how long the rows of sent transactions stay in ``kafka_producer_tx``, in seconds.
    """

    def __init__(self, engine: Engine, producer_id: str, keep_s: float) -> None:
        self._engine = engine
        self._id = producer_id
        self._keep_ms = int(keep_s * 1000)
        self._examined = 0, 0  # a partly examined transaction, and the last examined record in it

    @translate_errors("cleaning up sent transactions")
    def step(self) -> bool:
        """Examine some rows and delete obsolete rows; return whether there is more to do."""
        more = self._clean_content()
        return self._clean_transactions() or more

    def _clean_content(self) -> bool:
        """Examine the content that was sent since the last step, and delete the older content that it replaces."""
        with reading(self._engine) as connection:
            row = connection.execute(
                select(state.c.incarnation, state.c.sent_tx_id, state.c.cleaned_tx_id).where(
                    state.c.producer_id == self._id
                )
            ).first()
            if row is None or row[2] >= row[1]:
                return False
            incarnation, sent_tx_id, cleaned_tx_id = row
            examined_rows = self._examine(connection, sent_tx_id, cleaned_tx_id)
            obsolete = [each.row_id for each in examined_rows if each.is_obsolete] + self._earlier_rows(
                connection, examined_rows
            )
        is_all = len(examined_rows) < ROWS
        last = examined_rows[-1].row_id if examined_rows else _RowId(0, 0, 0)
        cleaned_tx_id, self._examined = (sent_tx_id, (0, 0)) if is_all else (last.tx_id - 1, last[:2])
        # Oldest first, because without a deletion, older content of its key would count as present again.
        *parts, rest = _parts(sorted(obsolete))
        for part in parts:
            with short_transaction(self._engine) as connection:
                self._delete(connection, part)
        with short_transaction(self._engine) as connection:
            self._delete(connection, rest)
            mine = (state.c.producer_id == self._id, state.c.incarnation == incarnation)
            connection.execute(update(state).where(*mine).values(cleaned_tx_id=cleaned_tx_id))
        return not is_all

    def _delete(self, connection: Connection, row_ids: Sequence[_RowId]) -> None:
        if row_ids:
            rows = [{"of": self._id, "at": each.tx_id, "this": each.number} for each in row_ids]
            connection.execute(_DELETE_CONTENT, rows)

    def _examine(self, connection: Connection, sent_tx_id: int, cleaned_tx_id: int) -> list[_ExaminedRow]:
        """Return the next rows; a row is obsolete if it is a deletion, or newer content of its key was sent."""
        first = cleaned_tx_id + 1
        number = self._examined[1] if self._examined[0] == first else 0
        after = or_(change.c.tx_id > first, change.c.number > number)
        is_obsolete = or_(change.c.record_value.is_(None), newer_than_this(sent_tx_id + 1))
        rows = connection.execute(
            select(change.c.tx_id, change.c.number, _SIZE, change.c.key_hash, is_obsolete)
            .where(change.c.producer_id == self._id, change.c.tx_id.between(first, sent_tx_id), after)
            .order_by(change.c.tx_id, change.c.number)
            .limit(ROWS)
        )
        return [_ExaminedRow(_RowId(row[0], row[1], row[2]), row[3], bool(row[4])) for row in rows]

    def _earlier_rows(self, connection: Connection, examined_rows: Sequence[_ExaminedRow]) -> list[_RowId]:
        """Return the earlier rows of the same keys; at most one per key, because older rows were deleted before."""
        if not examined_rows:
            return []
        hashes = {each.key_hash for each in examined_rows}
        rows = connection.execute(
            select(change.c.tx_id, change.c.number, _SIZE).where(
                change.c.producer_id == self._id,
                change.c.key_hash.in_(hashes),
                change.c.tx_id < examined_rows[0].row_id.tx_id,
            )
        )
        return [_RowId(*row) for row in rows]

    def _clean_transactions(self) -> bool:
        """Delete the rows of transactions that were sent long ago, except those that operators have amended."""
        amended = select(amendment.c.tx_id).where(amendment.c.producer_id == self._id)
        before_ms = now_ms() - self._keep_ms
        with reading(self._engine) as connection:
            sent_tx_id = connection.execute(select(state.c.sent_tx_id).where(state.c.producer_id == self._id)).scalar()
            rows = connection.execute(
                select(tx.c.tx_id, tx.c.tx_last_updated)
                .where(
                    tx.c.producer_id == self._id, tx.c.tx_id <= (sent_tx_id or 0) - KEEP_NEWEST,
                    tx.c.tx_status == int(Status.SENT), tx.c.tx_id.not_in(amended),
                )
                .order_by(tx.c.tx_id)
                .limit(ROWS)
            ).all()  # fmt: skip
        old = [tx_id for tx_id, updated_ms in rows if updated_ms < before_ms]
        if old:
            with short_transaction(self._engine) as connection:
                for table in (tx, detail):
                    connection.execute(delete(table).where(table.c.producer_id == self._id, table.c.tx_id.in_(old)))
        return len(old) == ROWS


def newer_than_this(before: int) -> ColumnElement[bool]:
    """Return the condition that the key of a change has a newer change in a transaction before the given number."""
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


def _parts(row_ids: Sequence[_RowId]) -> Iterator[list[_RowId]]:
    """Split rows into parts of limited count and size, each with at least one row; no rows result in one empty part."""
    part: list[_RowId] = []
    size = 0
    for row_id in row_ids:
        if part and (len(part) == ROWS or size + row_id.size > _BYTES):
            yield part
            part, size = [], 0
        part.append(row_id)
        size += row_id.size
    yield part
