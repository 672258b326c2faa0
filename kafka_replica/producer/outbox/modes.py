"""The mode of a producer, which the database stores for all instances and commands."""

from __future__ import annotations

import uuid
from enum import StrEnum
from typing import NamedTuple

from sqlalchemy import Connection, select, update

from kafka_replica.errors import UsageError
from kafka_replica.producer.outbox.tables import Status, state, tx

FAILURES = (int(Status.LOCAL_FAILURE), int(Status.REFUSED), int(Status.UNEXPECTED))
_NAMED = 10  # the maximum number of ids that an error message names


class Mode(StrEnum):
    """The mode that was requested for a producer."""

    IDLE = "idle"
    """The producer has never sent anything, and was never resumed."""
    RUNNING = "running"
    SUSPENDED = "suspended"
    """Suspended by a person, until the producer is resumed or started again."""
    FAILED = "failed"
    """Suspended by the producer itself, because a transaction could not be sent; until resumed."""


class Intent(NamedTuple):
    """A producer's row of ``kafka_producer_state``."""

    incarnation: str
    mode: Mode
    reason: str | None
    transactional_id: str | None
    sent_tx_id: int
    progress_offset: int | None
    not_carried: int
    request_count: int
    """A counter of requests to change the mode."""
    former_incarnations: tuple[str, ...] = ()
    """The incarnations before a new one, of which nothing is marked as sent yet; oldest first."""


def intent_of(connection: Connection, producer_id: str) -> Intent:
    """Return the requested mode of a producer.

    Raises:
        UsageError: the producer does not exist.
    """
    row = connection.execute(
        select(
            state.c.incarnation, state.c.mode, state.c.reason, state.c.transactional_id, state.c.sent_tx_id,
            state.c.progress_offset, state.c.not_carried, state.c.request_count, state.c.former_incarnations,
        ).where(state.c.producer_id == producer_id)
    ).first()  # fmt: skip
    if row is None:
        raise unknown_producer(connection, producer_id)
    return Intent(row[0], Mode(row[1]), *row[2:-1], tuple((row[-1] or "").split()))


def unknown_producer(connection: Connection, producer_id: str) -> UsageError:
    """Return the error for an unknown producer id; its message names the existing ids."""
    known = connection.execute(select(state.c.producer_id).order_by(state.c.producer_id)).scalars().all()
    more = f" and {len(known) - _NAMED} more" if len(known) > _NAMED else ""
    hint = (
        f"known: {', '.join(known[:_NAMED])}{more}; check its id"
        if known
        else "it has no producer; start one (kafka-replica producer run), or create it with Outbox.create"
    )
    return UsageError(f"there is no producer {producer_id!r} in the database; {hint}")


def set_mode(
    connection: Connection,
    producer_id: str,
    mode: Mode,
    reason: str | None,
    *,
    only: list[Mode],
    request_count: int | None = None,
) -> bool:
    """Change the mode if the current mode is one of ``only``; return whether it was changed.

    With ``request_count``, the mode is changed only if ``Intent.request_count`` still has this value, which means that
    there was no other request.
    """
    since = () if request_count is None else (state.c.request_count == request_count,)
    changed = connection.execute(
        update(state)
        .where(state.c.producer_id == producer_id, state.c.mode.in_([str(each) for each in only]), *since)
        .values(mode=str(mode), reason=reason)
    )
    return bool(changed.rowcount)


def resume(connection: Connection, producer_id: str, now_ms: int) -> None:
    """Set a producer to running; failed transactions become pending again, and are sent before newer transactions.

    Raises:
        UsageError: the producer does not exist.
    """
    intent_of(connection, producer_id)
    _ask(connection, producer_id)
    set_mode(connection, producer_id, Mode.RUNNING, None, only=list(Mode))
    _make_pending(connection, producer_id, now_ms)


def try_again(connection: Connection, producer_id: str, now_ms: int, request_count: int) -> bool:
    """Resume a producer that suspended itself, unless there was another request; return whether it was resumed.

    Args:
        connection: a connection to the database.
        producer_id: the id of the producer.
        now_ms: the time in milliseconds since 1970-01-01 UTC.
        request_count: the value of ``Intent.request_count`` when the caller started.
    """
    runs = set_mode(connection, producer_id, Mode.RUNNING, None, only=[Mode.FAILED], request_count=request_count)
    if runs:
        _make_pending(connection, producer_id, now_ms)
    return runs


def _make_pending(connection: Connection, producer_id: str, now_ms: int) -> None:
    """Make failed transactions pending again, so that they are sent first; skipped transactions stay skipped."""
    sent_tx_id = intent_of(connection, producer_id).sent_tx_id
    connection.execute(
        update(tx)
        .where(tx.c.producer_id == producer_id, tx.c.tx_id > sent_tx_id, tx.c.tx_status.in_(FAILURES))
        .values(tx_status=int(Status.PENDING), tx_last_updated=now_ms)
    )


def begin_incarnation(connection: Connection, producer_id: str) -> None:
    """Begin a new incarnation, whose first transactions are those that are not marked as sent.

    An instance may still be sending transactions of the former incarnation, or may have died before it marked them. So
    the former incarnation is stored: the relay continues after its last transaction, if this database has the same one.

    Raises:
        UsageError: the producer does not exist, or is running.
    """
    # The row is locked, so that nothing is marked as sent, and the producer is not resumed, meanwhile.
    connection.execute(update(state).where(state.c.producer_id == producer_id).values(mode=state.c.mode))
    intent = intent_of(connection, producer_id)
    if intent.mode is Mode.RUNNING:
        raise UsageError(
            f"producer {producer_id!r} is running, so no repair is needed; suspend it first to do it anyway"
        )
    earlier = intent.former_incarnations if intent.progress_offset is None else ()
    former = " ".join([*earlier, intent.incarnation])
    connection.execute(
        update(state)
        .where(state.c.producer_id == producer_id)
        .values(incarnation=uuid.uuid4().hex, progress_offset=None, former_incarnations=former)
    )


def suspend(connection: Connection, producer_id: str, reason: str) -> None:
    """Suspend the producer if it is running.

    Raises:
        UsageError: the producer does not exist.
    """
    intent_of(connection, producer_id)
    _ask(connection, producer_id)
    set_mode(connection, producer_id, Mode.SUSPENDED, reason, only=[Mode.RUNNING])


def _ask(connection: Connection, producer_id: str) -> None:
    connection.execute(
        update(state).where(state.c.producer_id == producer_id).values(request_count=state.c.request_count + 1)
    )
