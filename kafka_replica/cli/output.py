"""The output of commands: JSON lines for scripts, text for people."""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from collections.abc import Iterable
from typing import Any

from kafka_replica.errors import UsageError
from kafka_replica.records import Position, Record

JsonText = str | dict[str, str]


def json_line(value: Any) -> None:
    """Write a line of JSON, and flush it."""
    print_line(json.dumps(value, separators=(",", ":")))


def print_line(text: str) -> None:
    """Write a line of text, and flush it; in UTF-8 whatever the locale, because keys are UTF-8."""
    write(text.encode(errors="backslashreplace") + b"\n")


class OutputClosedError(Exception):
    """The reader of our output has closed the pipe, as ``| head`` does."""


class _Writing:
    """A flag for a line that is partly written, because a signal may arrive in the middle."""

    in_the_middle = False


def write(data: bytes) -> None:
    """Write bytes unchanged, and flush them.

    Raises:
        UsageError: there is no standard output.
        OutputClosedError: the reader has closed the pipe.
    """
    if sys.stdout is None:
        raise UsageError("there is no standard output to write to; do not close it")
    _Writing.in_the_middle = True
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise OutputClosedError from None
    _Writing.in_the_middle = False


def is_in_the_middle() -> bool:
    """Return whether the last line was not written to its end."""
    return _Writing.in_the_middle


def json_text(data: bytes) -> JsonText:
    """Return UTF-8 as text, and other bytes as ``{"base64": ...}``, so that different values never look alike."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def position_json(position: Position) -> dict[str, Any]:
    """Return a position, and the transactions that were open there, if any."""
    line: dict[str, Any] = {"position": position.as_json()}
    return {**line, "open": [open_.as_json() for open_ in position.open]} if position.open else line


def keys_json(keys: Iterable[bytes], *, several_topics: bool = False) -> list[JsonText]:
    """Return keys in key order, which is the order of their bytes; with several topics, each key with its topic."""
    if several_topics:
        return [_topic_and_key(key) for key in sorted(keys)]
    return [json_text(key) for key in sorted(keys)]


def _topic_and_key(key: bytes) -> JsonText:
    topic, _, own = key.partition(b"\0")
    found = json_text(own)
    return {"topic": topic.decode(), **({"key": found} if isinstance(found, str) else found)}


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
