"""Events that put several keys or delete all, an interpreter of them, and a naive model of what a directory holds."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from hypothesis import strategies as st

from kafka_replica.directories.interpreters import DeleteAll, Interpretation, Put
from kafka_replica.records import Partition, Record

KEYS = "abcd"
SCOPES = ["", "x", "y"]

PUTS = st.lists(
    st.tuples(st.sampled_from(KEYS), st.integers(0, 9), st.sampled_from(SCOPES)),
    max_size=3,
    unique_by=lambda put: put[0],
)
EVENTS = (
    PUTS.map(lambda puts: {"put": puts})
    | st.sampled_from(SCOPES).map(lambda scope: {"delete all of": scope})
    | st.just({"bad": True})
)


class Write(NamedTuple):
    """A record to be written; None as its event is a tombstone."""

    key: str
    partition: int
    time_ms: int
    event: dict[str, Any] | None


def writes(partitions: int) -> st.SearchStrategy[Write]:
    """Return records of a topic; a key stays in its partition, and the time may go back."""
    keys = st.sampled_from("KLMNOP")
    return st.builds(
        lambda key, time_ms, event: Write(key, ord(key) % partitions, time_ms, event),
        keys,
        st.integers(0, 20),
        EVENTS | st.none() | PUTS.map(lambda puts: {"put": puts}),
    )


def interpreted(record: Record) -> Interpretation:
    """Interpret an event."""
    event = json.loads(record.value or b"")
    if "bad" in event:
        raise ValueError("the event is bad")
    if "delete all of" in event:
        return DeleteAll(event["delete all of"])
    return (Put(key, json.dumps(value).encode(), scope) for key, value, scope in event["put"])


def expected(records: Iterable[Record]) -> dict[str, int]:
    """Return what a directory holds if these are the newest records of their keys, in the most naive way."""
    found: list[tuple[str, int, str, Record]] = []
    cutoffs: list[tuple[str, Record]] = []
    for record in records:
        event = json.loads(record.value or b"null") or {"put": []}
        found.extend((*put, record) for put in event.get("put", ()))
        if "delete all of" in event:
            cutoffs.append((event["delete all of"], record))
    alive = [
        (key, value, record)
        for key, value, scope, record in found
        if not any(of in {"", scope} and _is_older(record, cutoff) for of, cutoff in cutoffs)
    ]
    held = {}
    for each in {key for key, _, _ in alive}:
        newest: dict[Partition, tuple[int, int, Partition, int]] = {}
        for key, value, record in alive:
            if key == each and record.offset >= newest.get(record.source, (0, -1))[1]:
                newest[record.source] = record.timestamp_ms, record.offset, record.source, value
        held[each] = max(newest.values(), key=lambda one: (one[0], one[2]))[3]
    return held


def _is_older(record: Record, cutoff: Record) -> bool:
    if record.source == cutoff.source:
        return record.offset < cutoff.offset
    return record.timestamp_ms < cutoff.timestamp_ms
