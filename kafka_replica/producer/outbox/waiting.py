"""Waiting for a database that is not up yet: a service is often started before it."""

from __future__ import annotations

import logging
from collections.abc import Callable

from sqlalchemy import Engine
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_before_delay, wait_exponential

from kafka_replica.errors import OutboxUnavailableError

_log = logging.getLogger("kafka_replica.producer")

_FIRST_S, _LONGEST_S = 0.25, 5.0


def once_there(engine: Engine, prepare: Callable[[], None], wait_s: float, tell: Callable[[str], None]) -> None:
    """Does what needs the database; again, less and less often, while that cannot be reached.

    A file is there or is not: nothing is waited for on SQLite.

    Args:
        engine: the database.
        prepare: what needs it; may be done any number of times.
        wait_s: for how long to try, in seconds; ``math.inf`` for ever.
        tell: told the reason, each time before it is tried again.

    Raises:
        OutboxUnavailableError: it could not be reached in that time.
        OutboxError: it refused, which no waiting mends.
    """
    if engine.dialect.name == "sqlite" or wait_s <= 0:
        prepare()
        return

    def told(state: RetryCallState) -> None:
        reason = str(state.outcome.exception()) if state.outcome is not None else ""
        _log.warning("waiting for the database: %s", reason)
        tell(reason)

    tries = Retrying(
        retry=retry_if_exception_type(OutboxUnavailableError),
        stop=stop_before_delay(wait_s),
        wait=wait_exponential(multiplier=_FIRST_S, max=_LONGEST_S),
        before_sleep=told,
        reraise=True,
    )
    try:
        tries(prepare)
    except OutboxUnavailableError as error:
        raise OutboxUnavailableError(f"{error} (tried for {wait_s:g} s)") from error
