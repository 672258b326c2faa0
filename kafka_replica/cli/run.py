"""Run a command, and turn failures into error messages with a meaningful exit status."""

from __future__ import annotations

import logging
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from types import FrameType
from typing import Final

import click

from kafka_replica.cli.groups import kafka_replica
from kafka_replica.cli.interrupts import INTERRUPTED
from kafka_replica.cli.log_output import DEBUG_VARIABLE, end_command, is_json, log_message, set_up_logging
from kafka_replica.cli.output import OutputClosedError
from kafka_replica.cli.sources import name_source
from kafka_replica.cli.transient_errors import TRANSIENT
from kafka_replica.data.errors import NotInvertibleError
from kafka_replica.errors import KafkaReplicaError, MissingExtraError, StoreInUseError, UsageError

FAILED: Final = 1
"""The exit status of a command that failed."""
CALLED_WRONGLY: Final = 2
_OTHER_FOLDER: Final = (
    "give each program a folder of its own, or run the command without --store, which keeps its replica in memory"
)
"""The advice for a store that another program uses."""


class TerminationSignal(BaseException):
    """The exception that SIGTERM raises, so that everything is closed."""


def run_command(arguments: Sequence[str] | None) -> int:
    """Run the command line; return the exit status."""
    set_up_logging()
    signal.signal(signal.SIGTERM, _terminate)
    try:
        outcome = kafka_replica.main(arguments, prog_name="kafka-replica", standalone_mode=False)
    except (Exception, KeyboardInterrupt, TerminationSignal) as error:  # noqa: BLE001 - each becomes a sentence
        return _exit_status(error, is_shown=end_command(error))
    finally:
        end_command()
    return outcome if isinstance(outcome, int) else 0


def _exit_status(error: BaseException, *, is_shown: bool) -> int:
    """Report the error that ended the command, and return the exit status.

    Args:
        error: the error.
        is_shown: whether a log line on stderr has shown the same error, which is then not repeated.
    """
    # A prompt that is interrupted raises Abort "from None", so that the interrupt is its context.
    interrupted = error.__cause__ or error.__context__ if isinstance(error, click.exceptions.Abort) else error
    status = FAILED
    if isinstance(interrupted, KeyboardInterrupt):
        status = INTERRUPTED
    elif isinstance(error, TerminationSignal):
        status = 128 + signal.SIGTERM
    elif isinstance(error, click.exceptions.Abort):  # the user answered a prompt with no, or did not answer
        log_message("kafka-replica: no command was run")
    elif isinstance(error, click.ClickException):
        name_source(error)
        if is_json():
            log_message(error.format_message(), logging.ERROR)
        else:
            error.show()
        status = error.exit_code
    elif isinstance(error, OutputClosedError):  # redirects stdout, because Python would flush the closed pipe at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 128 + signal.SIGPIPE
    else:
        if not is_shown or DEBUG_VARIABLE in os.environ:
            _report(error)
        # A missing package or a map that cannot be inverted is not a mistake on the command line.
        is_mistake = isinstance(error, UsageError) and not isinstance(error, (MissingExtraError, NotInvertibleError))
        if is_mistake and not _is_transient(error.__cause__):
            status = CALLED_WRONGLY
    return status


def _is_transient(cause: BaseException | None) -> bool:
    return isinstance(cause, OSError) and cause.errno in TRANSIENT


def _report(error: BaseException) -> None:
    """Write the error that ended the command to stderr, with its stack trace if that was requested."""
    is_traced = DEBUG_VARIABLE in os.environ
    if is_traced and not is_json():
        traceback.print_exception(error)
    else:
        log_message(f"kafka-replica: {_sentence(error)}", logging.ERROR, error if is_traced else None)


def _sentence(error: BaseException) -> str:
    if isinstance(error, StoreInUseError) and "read_only=" in str(error):  # an argument in Python
        return f"{str(error).rpartition('; ')[0]}; {_OTHER_FOLDER}"
    if isinstance(error, KafkaReplicaError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.filename or 'the system'}: {error.strerror or error}"
    return f"unexpected {type(error).__name__}: {error}; please report it ({DEBUG_VARIABLE}=1 shows where it happened)"


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    raise TerminationSignal
