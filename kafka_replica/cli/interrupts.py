"""Ctrl-C while modules are imported, and after a command has ended: exit status 130 and no traceback.

In these times there is nothing to close, and an exception could be swallowed or shown by whatever it interrupts. While
a command runs, Ctrl-C is Python's ``KeyboardInterrupt``, so that everything is closed.
"""

from __future__ import annotations

import os
import signal

INTERRUPTED = 130
"""The exit status of a command that was ended by Ctrl-C."""


def exit_at_ctrl_c() -> bool:
    """End this process at once at Ctrl-C, unless Ctrl-C is ignored or somebody else's; return whether this is new."""
    return _replace(signal.default_int_handler, _exit)


def raise_at_ctrl_c() -> None:
    """Raise ``KeyboardInterrupt`` at Ctrl-C again."""
    _replace(_exit, signal.default_int_handler)


def _exit(number: int, frame: object) -> None:
    del number, frame
    os._exit(INTERRUPTED)


def _replace(present: object, wanted: object) -> bool:
    try:
        if signal.getsignal(signal.SIGINT) is not present:
            return False
        signal.signal(signal.SIGINT, wanted)  # type: ignore[arg-type] # a handler
    except ValueError:  # not the main thread, which alone is interrupted
        return False
    return True
