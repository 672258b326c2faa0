"""Changes of a replica whose large values are whole: they name main keys, and their versions have no chunks.

A change of a chunk alone is not reported: every write of a large value also writes its manifest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps

from kafka_replica.large_values.keys import is_chunk_key
from kafka_replica.large_values.manifest import HEADER
from kafka_replica.large_values.snapshot import LargeValueSnapshot
from kafka_replica.listeners import Change, Changes, Listener
from kafka_replica.records import Record


def whole(change: Change) -> Change:
    """Return the change for readers of whole values."""
    snapshot = LargeValueSnapshot(change.snapshot)
    if change.previous is None:
        return replace(change, snapshot=snapshot, changed=snapshot.keys())
    return replace(
        change,
        snapshot=snapshot,
        previous=LargeValueSnapshot(change.previous),
        changed=[key for key in change.changed if not is_chunk_key(key)],
        deleted=[key for key in change.deleted if not is_chunk_key(key)],
    )


def listener_of_whole(listener: Listener) -> Listener:
    """Return a listener that passes changes on for readers of whole values."""

    def listen(change: Change) -> object:
        return listener(whole(change))

    listen.__qualname__ = getattr(listener, "__qualname__", repr(listener))  # for messages
    return listen


class WholeChanges(Changes):
    """Changes for readers of whole values."""

    def __next__(self) -> Change:
        """Return the next change; raises the errors of ``Changes``."""
        return whole(super().__next__())


def validator_of_plain(validator: Callable[[Record], object]) -> Callable[[Record], object]:
    """Return a validator for records that have a value of their own; chunks and manifests pass."""

    @wraps(validator)
    def validate(record: Record) -> object:
        if is_chunk_key(record.key) or record.header(HEADER) is not None:
            return None
        return validator(record)

    return validate
