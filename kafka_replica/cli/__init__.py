"""The command kafka-replica: a thin layer over the library.

Commands exit with 0 only when they did their job: 1 when it could not be done, 2 when they were called wrongly, 130
when they were interrupted before it was done. ``docs/commands.md`` has them all.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def _exit_if_interrupted(unraisable: sys.UnraisableHookArgs) -> None:
    """Exit at Ctrl-C in a destructor or a callback, such as the import system's, which would swallow it."""
    if unraisable.exc_type is KeyboardInterrupt:
        os._exit(130)
    sys.__unraisablehook__(unraisable)


_hook, sys.unraisablehook = sys.unraisablehook, _exit_if_interrupted
try:
    from kafka_replica.cli.interrupts import INTERRUPTED, exit_at_ctrl_c, raise_at_ctrl_c
except KeyboardInterrupt:  # this early there is nothing else to be done
    raise SystemExit(130) from None
finally:
    sys.unraisablehook = _hook


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; every failure becomes a sentence and an exit status."""
    sys.unraisablehook = _exit_if_interrupted
    try:
        exit_at_ctrl_c()  # until all is imported
        status = _status(arguments)
        exit_at_ctrl_c()  # while Python shuts down
    except KeyboardInterrupt:  # at the moments between
        status = INTERRUPTED
    raise SystemExit(status)


def _status(arguments: Sequence[str] | None) -> int | str:
    try:
        from kafka_replica.cli.run import run  # noqa: PLC0415 - the library may be installed without the commands
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in {"click", "rich"}:
            raise
        from kafka_replica.errors import MissingExtraError  # noqa: PLC0415

        return f"kafka-replica: {MissingExtraError('the command', 'cli')}"
    raise_at_ctrl_c()
    return run(arguments)
