"""Handle Ctrl-C during imports and after a command has ended: exit with status 130 and without a traceback.

At these times, there is nothing to close, and the interrupted code could swallow or print an exception. While a command
runs, Ctrl-C raises Python's ``KeyboardInterrupt``, so that everything is closed.
"""

from __future__ import annotations

import os
import signal

INTERRUPTED = 130
"""The exit status of a command that was ended by Ctrl-C."""


def exit_at_ctrl_c() -> bool:
    """Make Ctrl-C end this process immediately, unless SIGINT is ignored or has another handler.

    Returns whether the handler was changed.
    """
    return _replace(signal.default_int_handler, _exit)


def raise_at_ctrl_c() -> None:
    """Make Ctrl-C raise ``KeyboardInterrupt`` again."""
    _replace(_exit, signal.default_int_handler)


def _exit(number: int, frame: object) -> None:
    del number, frame
    os._exit(INTERRUPTED)


def _replace(present: object, wanted: object) -> bool:
    try:
        if signal.getsignal(signal.SIGINT) is not present:
            return False
        signal.signal(signal.SIGINT, wanted)  # type: ignore[arg-type] # a handler
    except ValueError:  # outside the main thread, which is the only thread that Ctrl-C interrupts
        return False
    return True
