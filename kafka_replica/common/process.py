"""The process that owns threads, locks and files: a fork has copies of the objects, but none of the threads."""

from __future__ import annotations

import os
from collections.abc import Callable


class OwnerProcess:
    """The process in which this object was made. A lock that a fork has inherited may never be released there."""

    __slots__ = ("pid",)

    def __init__(self) -> None:
        self.pid = os.getpid()

    @property
    def is_current(self) -> bool:
        """Return whether the current process is the owner; False in a fork."""
        return os.getpid() == self.pid


def after_fork(function: Callable[[], None]) -> None:
    """Call a function in each child process that is forked from now on; Windows has no forks."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)
