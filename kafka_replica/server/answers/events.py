"""Server-sent events: the text of each event. No I/O.

Source: WHATWG HTML Living Standard, section 9.2.6 (Interpreting an event stream): an event is a block of fields that
ends with an empty line, and its lines of data are joined by line feeds, which JSON permits between values.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from kafka_replica.listeners import Change
from kafka_replica.listeners.change_json import change_facts, key_json
from kafka_replica.server.answers.versions import VersionId

COMMENT: Final = b":\n\n"
"""A comment, which clients ignore; it shows that the connection is alive."""
_KEYS_PER_LINE: Final = 500


class SortedKeys(NamedTuple):
    """The keys of a change, each list in key order."""

    changed: Sequence[bytes]
    deleted: Sequence[bytes]

    @staticmethod
    def of(change: Change) -> SortedKeys:
        """Return the keys of a change; if the change is the whole state, this reads all keys of the store."""
        return SortedKeys(sorted(change.changed), sorted(change.deleted))


def change_event(change: Change, keys: SortedKeys, incarnation: str, *, several_topics: bool) -> Iterator[bytes]:
    """Yield the parts of the event of a version: ``change``, or ``reset`` with all keys if it is the whole state.

    Each part is built only when it is sent, so that no slow client keeps the text of all keys in memory.

    Args:
        change: the change.
        keys: the keys of the change.
        incarnation: the incarnation of the replica.
        several_topics: whether keys consist of topic and key.
    """
    facts = {**change_facts(change), "incarnation": incarnation, "rebuilt": change.rebuilt}
    facts["sent_at"] = datetime.now(UTC).isoformat(timespec="milliseconds")
    name = "reset" if change.initial else "change"
    yield f"id: {VersionId(change.version, incarnation)}\nevent: {name}\ndata: {_json(facts)[:-1]}\n".encode()
    yield from _list_lines("changed", keys.changed, several_topics=several_topics)
    yield from _list_lines("deleted", keys.deleted, several_topics=several_topics)
    yield b"data: }\n\n"


def failed_event(state: str) -> bytes:
    """Return the last event of a stream whose replica has failed; it leaves the client's last event id unchanged."""
    return f"event: failed\ndata: {_json({'state': state})}\n\n".encode()


def _list_lines(name: str, keys: Sequence[bytes], *, several_topics: bool) -> Iterator[bytes]:
    yield f'data: ,"{name}":[\n'.encode()
    for start in range(0, len(keys), _KEYS_PER_LINE):
        line = [key_json(key, several_topics=several_topics) for key in keys[start : start + _KEYS_PER_LINE]]
        comma = "," if start + _KEYS_PER_LINE < len(keys) else ""
        yield f"data: {_json(line)[1:-1]}{comma}\n".encode()
    yield b"data: ]\n"


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
