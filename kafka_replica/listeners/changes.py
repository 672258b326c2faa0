"""The changes of a replica as an iterator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NoReturn

from kafka_replica.common.process import OwnerProcess
from kafka_replica.errors import UsageError
from kafka_replica.listeners.change import Change
from kafka_replica.listeners.mailbox import Mailbox
from kafka_replica.listeners.waiters import Call


class Changes(Iterator[Change]):
    """An iterator of the changes of a replica; ``close()`` or garbage collection ends it.

    Several threads may use the same iterator: each change then goes to one of them.
    """

    def __init__(self, mailbox: Mailbox, timeout_s: float | None) -> None:
        self._mailbox = mailbox
        self._timeout_s = timeout_s
        self._owner = OwnerProcess()

    def __next__(self) -> Change:
        """Return the next change.

        Raises:
            WaitTimeoutError: there was no change within the timeout given to ``Replica.changes``.
            KafkaReplicaError: the error with which the replica failed.
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
        """True if ``next`` would return or raise without waiting."""
        return self._mailbox.ready

    def call_when_ready(self, call: Call) -> Callable[[], None]:
        """Call a function once, when ``ready`` is true: for event loops, which must not block in ``next``.

        Args:
            call: called from the thread that makes versions, or immediately from this one. It must return immediately,
                for example by calling the loop's function for waking it from another thread.

        Returns:
            A function that cancels the call, from any thread.
        """
        self._check_process()
        return self._mailbox.call_when_ready(call)

    def close(self) -> None:
        """End the iteration: no more changes are added; pending changes can still be taken."""
        if self._owner.is_current:  # in a forked process, the lock may never be released
            self._mailbox.close()

    def __del__(self) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise UsageError(
            "changes cannot be pickled, because threads of this process deliver them; create a replica in the other "
            "process and iterate there: changes(since=...) only continues within one replica"
        )

    def _check_process(self) -> None:
        if not self._owner.is_current:
            raise UsageError(
                "this process is a fork of the one in which the iteration began, and is not notified of new "
                "versions; start a replica after the fork"
            )
