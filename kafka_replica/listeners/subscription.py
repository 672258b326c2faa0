"""The subscription of a listener, which is called from its own thread."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable, Collection
from threading import Thread, current_thread
from typing import NoReturn, TypeAlias

from kafka_replica.common.error_causes import causes
from kafka_replica.common.process import OwnerProcess
from kafka_replica.common.wording import shortened
from kafka_replica.errors import KafkaReplicaError, UsageError
from kafka_replica.listeners.change import Change
from kafka_replica.listeners.mailbox import Mailbox

_log = logging.getLogger("kafka_replica.listeners")

Listener: TypeAlias = Callable[[Change], object]
"""A function that receives each change; its result is ignored."""


class Subscription:
    """A listener that receives changes, and the thread that calls it. ``close()`` ends the subscription."""

    def __init__(self, listener: Listener, mailbox: Mailbox, on_error: Callable[[], None]) -> None:
        self.listener = listener
        self.last_error: BaseException | None = None
        self._mailbox = mailbox
        self._on_error = on_error
        self._closed = False
        self._name = getattr(listener, "__qualname__", None) or repr(listener)
        self._owner = OwnerProcess()
        self._thread = Thread(target=self._deliver_changes, name=f"kafka_replica listener {self._name}", daemon=True)
        try:
            self._thread.start()
        except BaseException:  # the system allows no more threads
            mailbox.close()
            raise

    def __repr__(self) -> str:
        failed = "" if self.last_error is None else f", last error {type(self.last_error).__name__}"
        return f"<Subscription of {shortened(self._name)}, {self._mailbox.summary()}{failed}>"

    @property
    def closed(self) -> bool:
        """True if the subscription was closed."""
        return self._closed

    @property
    def is_current_thread(self) -> bool:
        """True if the current thread is the one that calls the listener."""
        return current_thread() is self._thread

    def close(self, *, wait: bool = True) -> None:
        """End the subscription; with ``wait``, wait for a running call of the listener, unless it calls this method."""
        self._closed = True
        if not self._owner.is_current:
            return  # a forked process has none of the threads, and its locks may never be released
        self._mailbox.close()
        if wait:
            self.join(None)

    def join(self, timeout_s: float | None, *, waited_s: float = 0.0) -> None:
        """Wait until the listener has returned from its last call; log a warning after the timeout.

        Args:
            timeout_s: the time to wait, in seconds; None means no limit.
            waited_s: the time that the listener has had before this call, in seconds, for the warning.
        """
        if self.is_current_thread:
            return
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            _log.warning(
                "listener %s was closed, but has not returned after %.1f s", self._name, waited_s + (timeout_s or 0.0)
            )

    def _deliver_changes(self) -> None:
        while not self._closed and self._deliver_next_change():
            pass
        self.listener = _ignore  # what the listener holds may be large, and its owner may keep the subscription

    def _deliver_next_change(self) -> bool:
        try:
            change = self._mailbox.take()
        except KafkaReplicaError:  # the replica failed; it reports its error itself
            return False
        if change is None:
            return False
        error = self._failed(change)
        del change  # a traceback refers to this frame, too
        if error is not None:
            self.last_error = _without_locals(error)
            self._on_error()
        return True

    def _failed(self, change: Change) -> BaseException | None:
        try:
            self.listener(change)
        except BaseException as error:  # noqa: BLE001 - whatever it raises, it receives the next version
            _log.exception("listener %s failed at version %d", self._name, change.version)
            return error
        return None

    def __reduce__(self) -> NoReturn:
        raise UsageError(
            "a subscription cannot be pickled, because it holds a thread; create a replica in the other process and "
            "subscribe "
            "there"
        )


def join_all(subscriptions: Collection[Subscription], timeout_s: float) -> None:
    """Wait until listeners have returned from their last calls, unless one of them calls this.

    Two listeners that close what they listen to would wait for each other.
    """
    if any(subscription.is_current_thread for subscription in subscriptions):
        return
    began_s = time.monotonic()
    for subscription in subscriptions:
        waited_s = time.monotonic() - began_s
        subscription.join(max(0.0, timeout_s - waited_s), waited_s=waited_s)


def _ignore(_change: Change) -> None:
    """Do nothing: the listener of a subscription that has ended."""


def _without_locals(error: BaseException) -> BaseException:
    """Clear the local variables in an error's tracebacks, which would keep versions alive; return the error."""
    for each in causes(error, with_context=True):
        traceback.clear_frames(each.__traceback__)
    return error
