"""The filter of incoming records: it drops unwanted records, and finds those that cannot be replicated.

A record that cannot be replicated, and is set aside, replaces the previous record of its key: the key is absent until
a good record arrives, and listed as bad until a good record or a tombstone arrives. So a replica that was up all the
time and one that starts today hold the same records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from kafka_replica.errors import BadRecordError, DataError
from kafka_replica.records import Partition, Record, Stored, as_record, lacks_key
from kafka_replica.transactions import Batch

__all__ = ["Filtered", "RecordFilter", "Validator"]

Validator = Callable[[Record], object]
"""A function that checks a record that is not a tombstone, and raises an exception if the record is invalid."""

_NO_KEY = "find the producer that writes without keys, or set on_bad_record='skip' to set such records aside"
_DAMAGED = "compare it with kafka-dump-log.sh, or set on_bad_record='skip' to do without it"
_REFUSED = "have it published again, or set on_bad_record='skip' to set such records aside"


class Filtered(NamedTuple):
    """The filtered records of a batch."""

    records: Sequence[Stored]
    """The records, with a tombstone for each bad one with a key; some may lack a key if ``RecordFilter.is_open``."""
    bad: list[BadRecordError]
    cleared: list[bytes]
    """Keys, without prefix, that had a bad record before, and have a good one or a tombstone now."""


class RecordFilter:
    """A filter for the records of batches. Only the writing thread may use it.

    Args:
        key_filter: returns whether a key is wanted; None accepts all keys.
        validator: raises an exception if a record is invalid.
        bad_keys: topics and keys whose newest record was set aside before.
    """

    def __init__(
        self,
        key_filter: Callable[[bytes], bool] | None = None,
        validator: Validator | None = None,
        bad_keys: Iterable[tuple[str, bytes]] = (),
    ) -> None:
        self._key_filter = key_filter
        self._validator = validator
        self._bad_keys = set(bad_keys)

    @property
    def is_open(self) -> bool:
        """Return whether records pass unchanged."""
        return self._key_filter is None and self._validator is None and not self._bad_keys

    def is_bad(self, topic: str, key: bytes) -> bool:
        """Return whether the newest record of a key was set aside."""
        return (topic, key) in self._bad_keys

    def apply_to(self, batch: Batch) -> Filtered:
        """Return the filtered records of a batch."""
        try:
            records = batch.content.records()
        except DataError as error:
            return Filtered((), [_damaged(batch, error)], [])
        return Filtered(records, [], []) if self.is_open else self._filter(batch.partition, records)

    def _filter(self, partition: Partition, records: Sequence[Stored]) -> Filtered:
        wanted: list[Stored] = []
        bad: list[BadRecordError] = []
        cleared: list[bytes] = []
        for raw in records:
            if lacks_key(raw):
                bad.append(without_key(partition, raw))
                continue
            if self._key_filter is not None and not self._key_filter(raw[0]):
                continue
            refused = self._refused(partition, raw)
            topic_and_key = partition.topic, raw[0]
            if refused is not None:
                bad.append(refused)
                self._bad_keys.add(topic_and_key)
                wanted.append((raw[0], None, raw[2], raw[3], ()))
                continue
            if topic_and_key in self._bad_keys:
                self._bad_keys.discard(topic_and_key)
                cleared.append(raw[0])
            wanted.append(raw)
        return Filtered(wanted, bad, cleared)

    def _refused(self, partition: Partition, raw: Stored) -> BadRecordError | None:
        if self._validator is None or raw[1] is None:
            return None
        try:
            self._validator(as_record(raw, partition))
        except Exception as error:  # noqa: BLE001 - any exception of a user's validator is a reason
            reason = str(error) or type(error).__name__
            return _bad(partition, raw, reason, _REFUSED)
        return None


def without_key(partition: Partition, raw: Stored) -> BadRecordError:
    """Return the error for a record without a key."""
    return _bad(partition, raw, "it has no key, so it replaces nothing and nothing can delete it", _NO_KEY)


def _bad(partition: Partition, raw: Stored, reason: str, advice: str) -> BadRecordError:
    bad = BadRecordError(*partition, raw[2], reason, advice, raw[0])
    bad.record = as_record(raw, partition)
    return bad


def _damaged(batch: Batch, error: DataError) -> BadRecordError:
    reason = f"its batch, up to offset {batch.end - 1}, cannot be read: {error}"
    return BadRecordError(*batch.partition, batch.first, reason, _DAMAGED)
