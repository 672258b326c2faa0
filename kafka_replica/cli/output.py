"""How commands speak: JSON lines to scripts, words to people."""

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
    """One line of JSON, at once."""
    say(json.dumps(value, separators=(",", ":")))


def say(text: str) -> None:
    """One line, at once; in UTF-8 whatever the locale says, for keys are."""
    write(text.encode(errors="backslashreplace") + b"\n")


class ReaderGoneError(Exception):
    """Who read our output has seen enough, as ``| head`` does."""


class _Writing:
    """Whether a line is half written; a signal may come in the middle."""

    in_the_middle = False


def write(data: bytes) -> None:
    """Bytes as they are, at once.

    Raises:
        UsageError: there is no standard output.
        ReaderGoneError: nobody reads it any more.
    """
    if sys.stdout is None:
        raise UsageError("there is no standard output to write to; do not close it")
    _Writing.in_the_middle = True
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise ReaderGoneError from None
    _Writing.in_the_middle = False


def is_in_the_middle() -> bool:
    """Whether the last line was not written to its end."""
    return _Writing.in_the_middle


def json_text(data: bytes) -> JsonText:
    """UTF-8 as text; what is not UTF-8 as ``{"base64": ...}``, so that nothing is mistaken for another."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def cut_json(position: Position) -> dict[str, Any]:
    """A cut, and the transactions that were open there, if any were."""
    line: dict[str, Any] = {"position": position.as_json()}
    return {**line, "open": [open_.as_json() for open_ in position.open]} if position.open else line


def keys_json(keys: Iterable[bytes], *, several_topics: bool = False) -> list[JsonText]:
    """Keys in key order, which is the order of their bytes; of several topics, with the topic of each."""
    if several_topics:
        return [_topic_and_key(key) for key in sorted(keys)]
    return [json_text(key) for key in sorted(keys)]


def _topic_and_key(key: bytes) -> JsonText:
    topic, _, own = key.partition(b"\0")
    found = json_text(own)
    return {"topic": topic.decode(), **({"key": found} if isinstance(found, str) else found)}


def place_of(record: Record, *, several_topics: bool = False) -> dict[str, Any]:
    """What a record is, without what it says."""
    return {
        **({"topic": record.topic} if several_topics else {}),
        "key": json_text(record.key),
        "partition": record.partition,
        "offset": record.offset,
        "timestamp_ms": record.timestamp_ms,
        "size": len(record.value or b""),
    }


def sha256_of(record: Record) -> str:
    """SHA-256 of the value, in hexadecimal."""
    return hashlib.sha256(record.value or b"").hexdigest()
