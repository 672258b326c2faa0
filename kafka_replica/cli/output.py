"""Write the output of commands: JSON lines for scripts, or text."""

from __future__ import annotations

import hashlib
import json
import select
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from kafka_replica.cli.control_characters import visible_line
from kafka_replica.errors import UsageError
from kafka_replica.listeners.change_json import json_text
from kafka_replica.records import Record


def print_json_line(value: Any) -> None:
    """Write a line of JSON, and flush it."""
    write_bytes(json.dumps(value, separators=(",", ":")).encode() + b"\n")


def print_line(text: str) -> None:
    """Write a line of text, and flush it; see ``print_lines``."""
    print_lines([text])


def print_lines(lines: Iterable[str]) -> None:
    """Write lines of text together, with control characters escaped, and flush them.

    The encoding is UTF-8 in any locale, because keys are in UTF-8.
    """
    write_bytes("".join([f"{visible_line(line)}\n" for line in lines]).encode(errors="backslashreplace"))


class OutputClosedError(Exception):
    """The reader of the standard output has closed the pipe, as ``| head`` does."""


class _LineState:
    """The state of the line being written; a signal may arrive before it is complete."""

    is_incomplete = False


def write_bytes(data: bytes) -> None:
    """Write bytes unchanged, and flush them.

    Raises:
        UsageError: there is no standard output.
        OutputClosedError: the reader has closed the pipe.
    """
    if sys.stdout is None:
        raise UsageError("standard output is closed; run the command with an open standard output")
    _LineState.is_incomplete = True
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise OutputClosedError from None
    _LineState.is_incomplete = False


@contextmanager
def closed_pipes() -> Iterator[None]:
    """Translate the error of a closed pipe, for text that libraries write, such as the help of commands.

    Raises:
        OutputClosedError: the reader has closed the pipe.
    """
    try:
        yield
    except BrokenPipeError:
        raise OutputClosedError from None


def check_reader() -> None:
    """Check, without writing, that the standard output has a reader.

    Raises:
        OutputClosedError: the reader has closed the pipe.
    """
    if sys.stdout is None:
        return
    output = select.poll()
    output.register(sys.stdout.fileno(), 0)  # a pipe without a reader is reported in any case
    if output.poll(0):
        raise OutputClosedError


def has_incomplete_line() -> bool:
    """Return whether the last line was written only in part, because a signal arrived."""
    return _LineState.is_incomplete


def record_attributes(record: Record, *, several_topics: bool = False) -> dict[str, Any]:
    """Return the attributes of a record, without its value."""
    return {
        **({"topic": record.topic} if several_topics else {}),
        "key": json_text(record.key),
        "partition": record.partition,
        "offset": record.offset,
        "timestamp_ms": record.timestamp_ms,
        "size": len(record.value or b""),
    }


def sha256_of(record: Record) -> str:
    """Return the SHA-256 of the value, in hexadecimal."""
    return hashlib.sha256(record.value or b"").hexdigest()
