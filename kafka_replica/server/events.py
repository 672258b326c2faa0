"""Server-sent events: the text of each event. No I/O.

Source: WHATWG HTML Living Standard, section 9.2.6 (Interpreting an event stream): an event is a block of fields that
ends with an empty line, and its lines of data are joined by line feeds, which JSON permits between values.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from typing import Any, Final

from kafka_replica.listeners import Change
from kafka_replica.listeners.change_json import change_facts, keys_json
from kafka_replica.server.versions import VersionId

COMMENT: Final = b":\n\n"
"""A comment, which clients ignore: it shows that the connection lives."""
_KEYS_PER_LINE: Final = 500


def change_event(change: Change, incarnation: str, *, several_topics: bool) -> list[bytes]:
    """Return the parts of the event of a version: ``change``, or ``reset`` with all keys if it is the whole state.

    Args:
        change: the change.
        incarnation: the incarnation of the replica.
        several_topics: whether keys consist of topic and key.
    """
    facts = {**change_facts(change), "incarnation": incarnation, "rebuilt": change.rebuilt}
    facts["sent_at"] = datetime.now(UTC).isoformat(timespec="milliseconds")
    name = "reset" if change.initial else "change"
    head = f"id: {VersionId(change.version, incarnation)}\nevent: {name}\ndata: {_json(facts)[:-1]}\n"
    return [
        head.encode(),
        *_list_lines("changed", change.changed, several_topics=several_topics),
        *_list_lines("deleted", change.deleted, several_topics=several_topics),
        b"data: }\n\n",
    ]


def failed_event(state: str) -> bytes:
    """Return the last event of a stream whose replica has failed; it does not change the client's last id."""
    return f"event: failed\ndata: {_json({'state': state})}\n\n".encode()


def _list_lines(name: str, keys: Collection[bytes], *, several_topics: bool) -> Iterator[bytes]:
    found = keys_json(keys, several_topics=several_topics)
    chunks = [found[start : start + _KEYS_PER_LINE] for start in range(0, len(found), _KEYS_PER_LINE)]
    yield f'data: ,"{name}":[\n'.encode()
    for number, chunk in enumerate(chunks, 1):
        comma = "," if number < len(chunks) else ""
        yield f"data: {_json(chunk)[1:-1]}{comma}\n".encode()
    yield b"data: ]\n"


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
