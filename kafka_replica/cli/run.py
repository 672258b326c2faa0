"""Runs a command: its failures become a sentence, its exit status means something."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

import click

from kafka_replica.cli.groups import kafka_replica
from kafka_replica.cli.output import ReaderGoneError
from kafka_replica.errors import KafkaReplicaError


class Terminated(BaseException):
    """SIGTERM, on its way up so that everything is closed."""


def run(arguments: Sequence[str] | None) -> int:
    """Runs the command line; returns the exit status."""
    _set_up_logging()
    signal.signal(signal.SIGTERM, _terminate)
    try:
        outcome = kafka_replica.main(arguments, prog_name="kafka-replica", standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        return 128 + signal.SIGINT
    except Terminated:
        return 128 + signal.SIGTERM
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except ReaderGoneError:  # nothing may be flushed to it any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except Exception as error:
        if "KAFKA_REPLICA_DEBUG" in os.environ:
            raise
        click.echo(f"kafka-replica: {_sentence(error)}", err=True)
        return 1
    return outcome if isinstance(outcome, int) else 0


def _sentence(error: Exception) -> str:
    if isinstance(error, KafkaReplicaError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.filename or 'the system'}: {error.strerror or error}"
    return (
        f"something nobody foresaw: {type(error).__name__}: {error}; please report it "
        "(KAFKA_REPLICA_DEBUG=1 shows where)"
    )


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    raise Terminated


def _set_up_logging() -> None:
    """Warnings to stderr. What ends a command is said once, by its last sentence."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_is_to_be_said)
    text = "kafka-replica: %(levelname)s: %(message)s"
    logging.basicConfig(handlers=[handler], level=logging.WARNING, format=text)


def _is_to_be_said(record: logging.LogRecord) -> bool:
    if record.name == "kafka_replica.librdkafka":
        return record.levelno >= logging.CRITICAL or "KAFKA_REPLICA_DEBUG" in os.environ
    return record.name != "kafka_replica" or record.levelno < logging.ERROR
