"""The process that owns threads, locks and files; a forked process has copies of the objects, but no threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import RLock


def after_fork(function: Callable[[], None]) -> None:
    """Call a function in each child process that is forked from now on; do nothing on Windows, which has no forks."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)


def free_at_fork(lock: RLock) -> None:
    """Let each fork wait until no other thread holds a lock: the child gets it free, and what it guards complete."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)


class _Current:
    """The current process, whose id is kept because asking the system for it costs more than everything else here."""

    pid = os.getpid()

    @classmethod
    def update(cls) -> None:
        cls.pid = os.getpid()


after_fork(_Current.update)


class OwnerProcess:
    """The process in which this object was created; an inherited lock may never be released in a forked process."""

    __slots__ = ("pid",)

    def __init__(self) -> None:
        self.pid = _Current.pid

    @property
    def is_current(self) -> bool:
        """True if the current process is the owner, False in a forked process."""
        return _Current.pid == self.pid
