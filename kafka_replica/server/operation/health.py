"""The rule for readiness, without I/O, and the JSON answer of the readiness check.

A replica that cannot reach the broker, or is blocked by an open transaction, keeps serving its last version. So the
service stays ready unless a limit of the lag is configured.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from kafka_replica.errors import (
    AuthenticationError,
    AuthorizationError,
    BrokerUnavailableError,
    LogReplacedError,
    StoreDamagedError,
    TopicNotFoundError,
)
from kafka_replica.headers.errors import ServiceUnavailableError
from kafka_replica.publication.status import State, Status
from kafka_replica.server.settings import ServerSettings

_REASONS: Final = {
    State.NEW: "the replica was not started",
    State.CATCHING_UP: "the replica has not yet read everything that was in the topic when it started",
    State.LIVE: "the replica follows the topic",
    State.BLOCKED: "a producer holds a transaction open, so that no newer version can be made",
    State.STALLED: "the replica cannot read newer records",
    State.FAILED: "an error ended the replica; its log names the error",
    State.STOPPED: "the replica was closed",
}

_CAUSES: Final = {
    BrokerUnavailableError.__name__: "no broker answers",
    AuthenticationError.__name__: "the broker refused the credentials",
    AuthorizationError.__name__: "the broker refused a permission",
    TopicNotFoundError.__name__: "the topic does not exist",
    ServiceUnavailableError.__name__: "a service for keys or schemas does not answer, or refuses the replica",
    StoreDamagedError.__name__: "the store was damaged, and is rebuilt",
    LogReplacedError.__name__: "the log was replaced, and the state is rebuilt",
}
"""The cause of a problem by the class of its error; messages might contain addresses or paths."""


class Readiness(NamedTuple):
    """The readiness of the service, with the reason in a sentence."""

    ready: bool
    reason: str


def readiness(status: Status, settings: ServerSettings) -> Readiness:
    """Return whether a service whose replica has this status is ready.

    The service is ready if the replica has not ended, its version includes everything that was in the topic at the
    start (or, with ``ready_when_stale``, if there is any version), and the lag is within the limits.
    """
    reason = _REASONS[status.state]
    if status.state in {State.CATCHING_UP, State.STALLED} and status.last_error is not None:
        reason += f": {_CAUSES.get(status.last_error_type or '', 'it has met a problem')}; the log has the details"
    if status.state in {State.NEW, State.FAILED, State.STOPPED}:
        return Readiness(False, reason)
    if not status.ready:
        if not (settings.ready_when_stale and status.version):
            return Readiness(False, reason)
        reason = f"{reason}; the version is from before the restart, which ready_when_stale accepts"
    if settings.max_lag_s is not None and (status.lag_s is None or status.lag_s > settings.max_lag_s):
        return Readiness(False, f"{reason}; the lag exceeds {settings.max_lag_s:g} s")
    if settings.max_lag_records is not None and (
        status.lag_records is None or status.lag_records > settings.max_lag_records
    ):
        return Readiness(False, f"{reason}; the lag exceeds {settings.max_lag_records} records")
    return Readiness(True, reason)


def readiness_json(status: Status, settings: ServerSettings) -> dict[str, Any]:
    """Return the answer of ``/health/ready``, without error messages, which might contain addresses or paths."""
    found = readiness(status, settings)
    return {
        "ready": found.ready,
        "reason": found.reason,
        "state": str(status.state),
        "stale": status.stale,
        "version": status.version,
        "lag_records": status.lag_records,
        "lag_s": status.lag_s,
        "last_contact_s": status.last_contact_s,
    }
