"""The command kafka-replica: a thin layer over the library.

Commands exit with 0 only if they succeeded: 1 means that the command failed, 2 that it was called wrongly, 130 that it
was interrupted before it had finished. ``docs/commands.md`` describes all commands. This package may import all others,
except Spark's. Read ``groups`` first, which names the module of each command.
"""

from __future__ import annotations

import os
import sys

__all__ = ["main"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def _exit_if_interrupted(unraisable: sys.UnraisableHookArgs) -> None:
    """Exit at Ctrl-C in a destructor or a callback, such as one of the import system, which swallows exceptions."""
    if unraisable.exc_type is KeyboardInterrupt:
        os._exit(130)
    sys.__unraisablehook__(unraisable)


_hook, sys.unraisablehook = sys.unraisablehook, _exit_if_interrupted
try:
    from kafka_replica.cli.interrupts import INTERRUPTED, exit_at_ctrl_c, raise_at_ctrl_c
except KeyboardInterrupt:  # so early, there is nothing to close
    raise SystemExit(130) from None
finally:
    sys.unraisablehook = _hook


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit; a failure becomes an error message and an exit status.

    Args:
        arguments: the arguments of the command line; None means those of this process.
    """
    sys.unraisablehook = _exit_if_interrupted
    try:
        exit_at_ctrl_c()  # until all imports are done
        status = _status(arguments)
        exit_at_ctrl_c()  # while Python shuts down
    except KeyboardInterrupt:  # outside these two phases
        status = INTERRUPTED
    raise SystemExit(status)


def _status(arguments: Sequence[str] | None) -> int | str:
    try:
        from kafka_replica.cli.run import run_command  # noqa: PLC0415 - click may be missing
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in {"click", "rich"}:
            raise
        from kafka_replica.errors import MissingExtraError  # noqa: PLC0415

        return f"kafka-replica: {MissingExtraError('the command', 'cli')}"
    raise_at_ctrl_c()
    return run_command(arguments)
