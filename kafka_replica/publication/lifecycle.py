"""The log lines about the state of a replica: one when it starts, and one for each change of state."""

from __future__ import annotations

import logging
import time
from typing import Protocol

from kafka_replica.common.wording import counted
from kafka_replica.publication.status import State, Status

_log = logging.getLogger("kafka_replica")


class _Publisher(Protocol):
    @property
    def state(self) -> State: ...

    def status(self) -> Status: ...


class LifecycleLog:
    """Logs each change of state once, at level INFO, with the position and the duration of the previous state.

    Only the reading thread may use it; ``note`` is cheap while nothing changes.

    Args:
        name: the topics, as shown to people.
        publisher: the publisher whose state is logged.
    """

    def __init__(self, name: str, publisher: _Publisher) -> None:
        self._name = name
        self._publisher = publisher
        self._state = State.NEW
        self._since_s = time.monotonic()

    def started(self, resumes_at: str | None) -> None:
        """Log that the replica starts, and where it resumes if it has a saved version."""
        self._since_s = time.monotonic()
        where = "reads from the beginning" if resumes_at is None else f"resumes at {resumes_at}"
        _log.info("the replica of %s starts and %s", self._name, where)

    def note(self) -> None:
        """Log the state if it has changed since the last call."""
        state = self._publisher.state
        if state is self._state or (state is State.CATCHING_UP and self._state is State.NEW):  # the start was logged
            return
        now_s = time.monotonic()
        _log.info("%s", described(self._name, self._publisher.status(), self._state, now_s - self._since_s))
        self._state, self._since_s = state, now_s


def described(name: str, status: Status, before: State, lasted_s: float) -> str:
    """Return the line for a change of state: the new state, its position, and the reason if it is known."""
    lasted = f"{lasted_s:.1f} s" if before is State.NEW else f"{lasted_s:.1f} s {before}"
    text = f"the replica of {name} is {status.state} after {lasted}"
    if status.version:
        text += f": version {status.version} at {status.position}, {counted(status.keys, 'key')}"
    elif status.read_position:
        text += f": read up to {status.read_position}"
    if status.state is State.BLOCKED:
        text += f"; a transaction is open at {status.blocking_transaction}"
    elif status.state is State.STALLED:
        text += f"; no answer from a broker for {status.last_contact_s or 0:.0f} s"
    return text
