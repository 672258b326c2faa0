"""Waiting for a database that cannot be reached yet, because a service is often started before its database."""

from __future__ import annotations

import logging
from collections.abc import Callable

from sqlalchemy import Engine
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_before_delay, wait_exponential

from kafka_replica.producer.errors import OutboxUnavailableError

_log = logging.getLogger("kafka_replica.producer")

_FIRST_S, _LONGEST_S = 0.25, 5.0


def retry_until_reachable(
    engine: Engine, prepare: Callable[[], None], wait_s: float, on_retry: Callable[[str], None]
) -> None:
    """Run an operation that needs the database; retry with increasing pauses while the database cannot be reached.

    On SQLite, the function does not retry, because the file either exists or does not.

    Args:
        engine: the database.
        prepare: the operation, which may be repeated any number of times.
        wait_s: how long to retry, in seconds; ``math.inf`` retries without limit.
        on_retry: called with the reason before each retry.

    Raises:
        OutboxUnavailableError: the database could not be reached within ``wait_s``.
        OutboxError: the database refused, so that waiting does not help.
    """
    if engine.dialect.name == "sqlite" or wait_s <= 0:
        prepare()
        return

    def before_retry(state: RetryCallState) -> None:
        reason = str(state.outcome.exception()) if state.outcome is not None else ""
        _log.warning("waiting for the database: %s", reason)
        on_retry(reason)

    tries = Retrying(
        retry=retry_if_exception_type(OutboxUnavailableError),
        stop=stop_before_delay(wait_s),
        wait=wait_exponential(multiplier=_FIRST_S, max=_LONGEST_S),
        before_sleep=before_retry,
        reraise=True,
    )
    try:
        tries(prepare)
    except OutboxUnavailableError as error:
        raise OutboxUnavailableError(f"{error} (tried for {wait_s:g} s)") from error
