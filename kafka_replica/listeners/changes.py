"""The changes of a replica as an iterator."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import NoReturn

from kafka_replica.errors import UsageError
from kafka_replica.listeners.change import Change
from kafka_replica.listeners.mailbox import Mailbox
from kafka_replica.listeners.waiters import Call


class Changes(Iterator[Change]):
    """The changes of a replica, one by one; ``close()`` ends it, and so does letting go of it.

    Several threads may take from one: each change then goes to one of them.
    """

    def __init__(self, mailbox: Mailbox, timeout_s: float | None) -> None:
        self._mailbox = mailbox
        self._timeout_s = timeout_s
        self._pid = os.getpid()

    def __next__(self) -> Change:
        """The next change.

        Raises:
            WaitTimeoutError: there was none in the time given to ``Replica.changes``.
            KafkaReplicaError: the replica failed, with this error.
        """
        self._check_process()
        change = self._mailbox.take(self._timeout_s)
        if change is None:
            raise StopIteration
        return change

    def __repr__(self) -> str:
        return f"<Changes, {self._mailbox.summary()}>"

    @property
    def ready(self) -> bool:
        """Whether ``next`` has something to give, or to raise, without waiting."""
        return self._mailbox.ready

    def call_when_ready(self, call: Call) -> Callable[[], None]:
        """Calls once, when ``ready`` holds: for event loops, which must not wait in ``next``.

        Args:
            call: called from the thread that makes versions, or at once. It has to return at once, and is best
                the loop's own way of being woken from another thread.

        Returns:
            What takes it back, from any thread.
        """
        self._check_process()
        return self._mailbox.call_when_ready(call)

    def close(self) -> None:
        """No more changes are kept for it; what waits there can still be taken."""
        if self._pid == os.getpid():  # in a fork its lock may be held for ever
            self._mailbox.close()

    def __del__(self) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise UsageError(
            "changes cannot be pickled, they are told by the threads of this process; make a replica in the other "
            "process and iterate there: changes(since=...) goes on only within one replica"
        )

    def _check_process(self) -> None:
        if self._pid != os.getpid():
            raise UsageError(
                "this process is a fork of the one in which the iteration began, and nobody tells it of new "
                "versions; start a replica after the fork"
            )
