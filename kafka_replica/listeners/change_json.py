"""Changes, positions and keys as plain JSON values."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any, TypeAlias

from kafka_replica.listeners.change import Change
from kafka_replica.records import Position

JsonText: TypeAlias = str | dict[str, str]


def json_text(data: bytes) -> JsonText:
    """Return UTF-8 as text, and other bytes as ``{"base64": ...}``, so that different values have different results."""
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
    return [key_json(key, several_topics=several_topics) for key in sorted(keys)]


def key_json(key: bytes, *, several_topics: bool = False) -> JsonText:
    """Return a key; with several topics, with its topic."""
    if not several_topics:
        return json_text(key)
    topic, _, own = key.partition(b"\0")
    found = json_text(own)
    return {"topic": topic.decode(), **({"key": found} if isinstance(found, str) else found)}


def change_facts(change: Change) -> dict[str, Any]:
    """Return a change without its keys."""
    line = {
        "version": change.version,
        **position_json(change.position),
        "transactions": change.transactions,
        "initial": change.initial,
    }
    return line if change.conflated == 1 else {**line, "conflated": change.conflated}
