"""The candidates for the current record of a key that the store does not have: it keeps only the current record.

A key has several candidates if it has records in several partitions. A bad record, which has no value here, is one,
too, even if it is the only record of its key. See ``delta_builder`` for the order of candidates.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from kafka_replica.errors import BadRecordError
from kafka_replica.publication.bad_record_list import BadState, KeyInPartition
from kafka_replica.records import Partition, Record

NOT_BAD = BadState(None, is_current=False)


class ExpiredCandidates(NamedTuple):
    """The effect of candidates that Kafka has deleted."""

    survivors: dict[bytes, dict[Partition, Record]]
    """The remaining candidates of the affected keys with several, by partition."""
    uncovered: dict[bytes, Record]
    """Good records that are now current, which a bad record has hidden so far."""
    states: dict[KeyInPartition, BadState]
    """The new states of keys that have, or had, a bad record."""


class Candidates:
    """The candidates of keys that have several, and bad records. Only the writing thread may use it.

    Args:
        ranks: the rank of each topic; if several topics have a key, the highest rank wins.
    """

    def __init__(self, ranks: Mapping[str, int]) -> None:
        self._ranks = ranks
        self.families: dict[bytes, dict[Partition, Record]] = {}
        """The records of keys that are in several partitions; a bad one has no value."""
        self.bad_alone: dict[bytes, Record] = {}
        """Without their values, the bad records that are alone in their keys."""

    def restore(self, key: bytes, bad: BadRecordError) -> None:
        """Add a bad record that is the only record of its key, as the store names it."""
        assert bad.key is not None  # noqa: S101 - it was found under its key
        source = Partition(bad.topic, bad.partition)
        self.bad_alone[key] = Record(bad.key, None, bad.offset, bad.timestamp_ms, (), source)

    def forget(self, key: bytes, bad: BadRecordError) -> None:
        """Forget a bad record if its key has no other record; it is a plain tombstone then."""
        known = self.bad_alone.get(key)
        if known is not None and known.source == (bad.topic, bad.partition) and known.offset == bad.offset:
            del self.bad_alone[key]

    def keep(self, key: bytes, family: dict[Partition, Record]) -> None:
        """Remember the records of a key in all partitions, unless it has a single good record or none."""
        self.bad_alone.pop(key, None)
        self.families.pop(key, None)
        if len(family) > 1:
            self.families[key] = family
        for record in family.values() if len(family) == 1 else ():
            self.keep_alone(key, record, is_bad=record.is_tombstone)

    def keep_alone(self, key: bytes, record: Record, *, is_bad: bool) -> None:
        """Remember the only record of a key if it is bad."""
        if is_bad:
            self.bad_alone[key] = record
        else:
            self.bad_alone.pop(key, None)

    def current_of(self, family: Mapping[Partition, Record]) -> Record:
        """Return the current one of a key's records in all partitions."""
        return max(family.values(), key=self.rank)

    def rank(self, record: Record) -> tuple[int, int, int]:
        """Return the rank of a record among those of its key in other partitions: the highest one is current."""
        return self._ranks[record.topic], record.timestamp_ms, record.partition

    def bad_records_of(self, key: bytes) -> list[Record]:
        """Return, without their values, those records of a key that are bad; there is one at most in each partition."""
        alone = self.bad_alone.get(key)
        if alone is not None:
            return [alone]
        return [each for each in self.families.get(key, {}).values() if each.value is None]

    def states_of(self, key: bytes, bad_before: Sequence[Record]) -> dict[KeyInPartition, BadState]:
        """Return the states of a key in the partitions in which its newest record is bad, or was before a change."""
        found = {(*each.source, each.key): NOT_BAD for each in bad_before}
        bad_records = self.bad_records_of(key)
        if bad_records:
            family = self.families.get(key)
            current = bad_records[0] if family is None else self.current_of(family)
            for each in bad_records:
                found[*each.source, each.key] = BadState(each.offset, each is current)
        return found

    def records_of(self, families: Collection[dict[Partition, Record]]) -> Iterator[Record]:
        """Return all candidates, and those of further families."""
        return chain(self.bad_alone.values(), *map(dict.values, (*self.families.values(), *families)))

    def expire(self, starts: Mapping[Partition, int]) -> ExpiredCandidates:
        """Drop the candidates below some offsets, because Kafka has deleted them."""

        def is_left(record: Record) -> bool:
            return record.offset >= starts.get(record.source, 0)

        self.bad_alone = {key: bad for key, bad in self.bad_alone.items() if is_left(bad)}
        expired = ExpiredCandidates({}, {}, {})
        for key, family in list(self.families.items()):
            left = {partition: record for partition, record in family.items() if is_left(record)}
            if len(left) < len(family):
                expired.survivors[key] = left
                was_absent = self.current_of(family).is_tombstone
                bad_before = self.bad_records_of(key)
                self.keep(key, left)
                expired.states.update(self.states_of(key, bad_before))
                if was_absent and left and not (current := self.current_of(left)).is_tombstone:
                    expired.uncovered[key] = current
        return expired
