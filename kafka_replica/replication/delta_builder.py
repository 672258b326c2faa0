"""The builder of the next version's delta; it decides which record of a key is current.

*Within a partition*, the record with the highest offset is current, as for compaction and every plain consumer. This is
not always the record that was committed last: A writes k at offset 10, B at 11, B commits, then A commits. So a record
that arrives late is dropped if its key already has a higher offset: in the delta, in the version shown, or as a
tombstone, which is remembered as long as an older transaction is open.

*Across partitions* offsets cannot be compared. If a key has records in several partitions (because its topic gained
partitions, or several topics are read as one key space), the record of the topic named last is current; within that
topic, the record with the latest timestamp; and at equal timestamps, the record of the highest partition. If that
record is deleted, the next one in this order becomes current. This order depends only on the content of the partitions,
so that all replicas agree.

*A bad record*, which the record filter has set aside, takes part in both orders. While it is the current record of its
key, the key is absent and the record is listed. Later good records and tombstones of its own partition take its place;
tombstones of other partitions do not, because a replica that starts later may not find them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

from kafka_replica.common.compiled import PARSER
from kafka_replica.common.garbage_collector import collector_paused
from kafka_replica.errors import BadRecordError, DataError
from kafka_replica.publication.bad_record_list import BadState, KeyInPartition
from kafka_replica.records import Partition, Position, Record, Stored, as_record, lacks_key
from kafka_replica.replication.candidates import NOT_BAD, Candidates
from kafka_replica.replication.initial_records import NO_PARTITION
from kafka_replica.replication.record_filter import RecordFilter, without_key
from kafka_replica.stores.delta import Delta
from kafka_replica.transactions import Batch, ParsedContent

_KEY_OF, _VALUE_OF = itemgetter(0), itemgetter(1)
_RECORD_BYTES = 200  # the approximate memory of a record, in addition to its key and its value
_BATCHES_TOGETHER = 100  # if one of the keys has a record already, this many records are added again, one by one


class CommittedOutcome(NamedTuple):
    """The bad records that were found in committed batches."""

    bad: list[BadRecordError]
    states: dict[KeyInPartition, BadState]
    """The new states of keys that have, or had, a bad record."""


class ExpiredRecords(NamedTuple):
    """The effect of records that Kafka has deleted at the start of the logs."""

    key_count: int
    """The number of keys that lose their record."""
    lowest: dict[Partition, int]
    """The lowest offset that is left in each of these partitions."""
    states: dict[KeyInPartition, BadState]
    """The new states of keys that have, or had, a bad record."""


class DeltaBuilder:
    """The builder of deltas, one after another. Only the writing thread may use it.

    Args:
        present: returns the current version's record of a key (as the store names keys), or None.
        prefixes: for each topic, the prefix that the store puts before its keys; empty for one key space.
        ranks: the rank of each topic; if several topics have a key, the highest rank wins.
        record_filter: extracts the records from batches.
        counts_bytes: whether to compute ``size_bytes``.
    """

    def __init__(
        self,
        present: Callable[[bytes], Stored | None],
        prefixes: Mapping[str, bytes],
        ranks: Mapping[str, int],
        *,
        record_filter: RecordFilter | None = None,
        counts_bytes: bool = False,
    ) -> None:
        self._record_filter = record_filter or RecordFilter()
        self._counts_bytes = counts_bytes
        self._size_bytes = 0
        self._has_parts = False  # true if parts of the next version were taken already
        self._is_all_here = True  # true if neither the current version nor parts have records: the delta has all
        self._present = present
        self._prefixes = prefixes
        self._delta = Delta()
        self._highest: dict[Partition, int] = {}
        self._pending_tombstones: dict[tuple[Partition, bytes], int] = {}
        self._taken_records = self._taken_tombstones = 0
        self._candidates = Candidates(ranks)
        self._starts: Mapping[Partition, int] = {}  # records below these offsets were deleted

    @property
    def is_empty(self) -> bool:
        """True if the records added since the last version change nothing: all of them are outdated."""
        return not self._delta.changes and not self._has_parts

    @property
    def record_count(self) -> int:
        """The number of records added since the last version."""
        return self._delta.record_count

    @property
    def totals(self) -> tuple[int, int]:
        """The numbers of records (including tombstones) and of tombstones added since the beginning."""
        delta = self._delta
        return self._taken_records + delta.record_count, self._taken_tombstones + delta.tombstone_count

    @property
    def size_bytes(self) -> int:
        """The approximate memory of the next version so far, in bytes; counted only with ``counts_bytes``."""
        return self._size_bytes

    @property
    def has_keys_in_several_partitions(self) -> bool:
        """True if any key has records in several partitions."""
        return bool(self._candidates.families)

    def add(self, partition: Partition, known_to: int = 0) -> None:
        """Add a partition; its records below ``known_to`` may be in the current version already."""
        self._highest.setdefault(partition, known_to)
        self._is_all_here &= not known_to

    def restore(self, bad_records: Iterable[BadRecordError]) -> list[BadRecordError]:
        """Add the bad records that were listed before a restart, in the same log; return those to be listed again.

        These are all of them, except in a store of a version that compared no bad records: it may have another record
        of the key.
        """
        listed = []
        for bad in bad_records:
            if bad.key is not None:
                name = self._prefixes[bad.topic] + bad.key
                if self._present(name) is not None:
                    continue
                self._candidates.restore(name, bad)
            listed.append(bad)
        return listed

    def forget(self, bad: BadRecordError) -> None:
        """Forget a bad record that is not listed, if its key has no other record; it is a plain tombstone then."""
        if bad.key is not None:
            self._candidates.forget(self._prefixes[bad.topic] + bad.key, bad)

    def add_initial(self, record: Record) -> None:
        """Add an initial record to the first version, before any batch."""
        self._delta.changes[record.key] = record
        if self._counts_bytes:
            self._size_bytes += _size_of([record])

    def add_committed(self, batches: list[Batch]) -> CommittedOutcome:
        """Add committed batches to the next version; return the bad records, and the states of their keys."""
        outcome = CommittedOutcome([], {})
        with collector_paused() as made:
            for at in range(0, len(batches), _BATCHES_TOGETHER):
                together = batches[at : at + _BATCHES_TOGETHER]
                for batch in self._add_new_batches(together) if self._can_add_at_once else together:
                    self._add_batch(batch, outcome)
                    if PARSER is None:  # the garbage collector does not track the records of the compiled parser
                        made(batch.record_count)
        return outcome

    def take_part(self) -> Delta:
        """Return the delta so far, as a part of the next version, which is still incomplete."""
        self._taken_records, self._taken_tombstones = self.totals
        delta, self._delta = self._delta, Delta(source=self._delta.source)
        self._size_bytes, self._has_parts, self._is_all_here = 0, self._has_parts or bool(delta.changes), False
        if delta.has_deletions:  # only at the end is it known whether an open transaction could still undo them
            for record in self._tombstones(delta):
                self._remember_tombstone(self._prefixes[record.topic] + record.key, record)
        return delta

    def skip(self) -> None:
        """Count the records added since the last version, which change nothing, as taken."""
        self._taken_records, self._taken_tombstones = self.totals
        self._delta, self._size_bytes = Delta(), 0

    def take(self, position: Position) -> Delta:
        """Return the delta of the version at ``position``; the next delta begins empty."""
        self._taken_records, self._taken_tombstones = self.totals
        delta, self._delta = self._delta, Delta()
        self._size_bytes, self._has_parts, self._is_all_here = 0, False, False
        self._add_tombstone(delta, position)
        return delta

    def expire(self, starts: Mapping[Partition, int], stored: Iterable[tuple[bytes, Partition, int]]) -> ExpiredRecords:
        """Delete all records below some offsets in the next version, because Kafka has deleted them.

        Args:
            starts: the offsets.
            stored: key, partition and offset of each record in the current version and in the parts that were taken.
        """
        self._starts = {**self._starts, **starts}
        delta = self._delta
        survivors, uncovered, states = self._candidates.expire(self._starts)
        source = delta.source or next(iter(self._highest))
        added = (as_record(raw, source) for raw in delta.changes.values() if raw[1] is not None)
        found = chain(
            (located for located in stored if located[0] not in delta.changes),
            [(self._prefixes[record.topic] + record.key, record.source, record.offset) for record in added],
        )
        expired, lowest = [], dict[Partition, int]()
        for key, partition, offset in found:
            start = starts.get(partition, 0)
            if offset < start:
                expired.append((key, partition, offset))
            elif start and offset < lowest.get(partition, offset + 1):
                lowest[partition] = offset
        # Records that others hide or have hidden so far, and bad records, are not in the store.
        for record in self._candidates.records_of(survivors.values()):
            if starts.get(record.source, 0) and record.offset < lowest.get(record.source, record.offset + 1):
                lowest[record.source] = record.offset
        for key, partition, offset in expired:
            left = survivors.get(key, {}).values()
            tombstone = Record(key[len(self._prefixes[partition.topic]) :], None, offset, -1, (), partition)
            delta.expire(key, max(left, key=self._candidates.rank, default=tombstone))
        for key, record in uncovered.items():
            delta.expire(key, record)
        return ExpiredRecords(len(expired), lowest, states)

    def _add_batch(self, batch: Batch, outcome: CommittedOutcome) -> None:
        start = self._starts.get(batch.partition, 0)
        if batch.first < start:
            batch = _without_records_below(batch, start)
        records, bad = self._record_filter.apply_to(batch)
        outcome.bad.extend(bad)
        refused = frozenset(each.offset for each in bad if each.key is not None)
        # The filter has replaced these records by tombstones, which the delta counts although no producer wrote them.
        self._taken_tombstones -= sum(isinstance(each.record, Record) and not each.record.is_tombstone for each in bad)
        if self._counts_bytes:
            self._size_bytes += _size_of(records)
        partition = batch.partition
        is_late = batch.first < self._highest[partition]
        self._highest[partition] = max(batch.end, self._highest[partition])
        if len(self._highest) > 1 or is_late or self._candidates.families or self._prefixes[partition.topic]:
            if refused or not self._add_new_keys(partition, records):
                self._add_one_by_one(partition, records, refused, outcome)
                return
        else:
            self._delta.source = partition
            self._delta.add(records)
            bad_alone = self._candidates.bad_alone
            if refused or (bad_alone and not bad_alone.keys().isdisjoint(map(_KEY_OF, records))):
                self._note_bad_alone(partition, records, refused, outcome)
        if None in self._delta.changes:  # a single look-up per batch finds records without a key
            del self._delta.changes[None]  # type: ignore[arg-type]
            outcome.bad.extend(without_key(partition, record) for record in records if lacks_key(record))

    def _note_bad_alone(
        self, partition: Partition, records: Iterable[Stored], refused: Collection[int], outcome: CommittedOutcome
    ) -> None:
        """Note which keys of the only partition now have a bad record, or no longer."""
        candidates = self._candidates
        for raw in records:
            key = raw[0]
            if raw[2] in refused or key in candidates.bad_alone:
                bad_before = candidates.bad_records_of(key)
                candidates.keep_alone(key, as_record(raw, partition), is_bad=raw[2] in refused)
                outcome.states.update(candidates.states_of(key, bad_before))

    @property
    def _can_add_at_once(self) -> bool:
        """True if the batches of several partitions can be added together: every record is in the delta.

        In a bootstrap of many partitions, batches have few records, so that the fixed cost of each batch matters.
        """
        return (
            PARSER is not None  # its records contain their partition
            and len(self._highest) > 1
            and self._is_all_here
            and self._record_filter.is_open
            and not (self._counts_bytes or self._starts or self._candidates.families or self._candidates.bad_alone)
            and not any(self._prefixes.values())
        )

    def _add_new_batches(self, batches: list[Batch]) -> list[Batch]:
        """Add the records of batches in one step; if any key already has a record, return all batches, parsed."""
        try:
            parsed = [_unfiltered(batch.content.records(), batch.partition) for batch in batches]
        except DataError:
            return batches  # the record filter reports the error
        if not self._delta.add_new(parsed):
            return [
                batch._replace(content=ParsedContent(records)) for batch, records in zip(batches, parsed, strict=True)
            ]
        for batch in batches:
            self._highest[batch.partition] = max(batch.end, self._highest[batch.partition])
        return []

    def _add_new_keys(self, partition: Partition, records: Sequence[Stored]) -> bool:
        """Add the records of a batch in one step, if none of their keys has a record; return whether they were added.

        Records without a key are added too, under None.
        """
        if not self._is_all_here or self._candidates.families:
            return False
        records = _as_records(records, partition)
        if self._prefixes[partition.topic]:
            return self._add_new_prefixed_keys(self._prefixes[partition.topic], records)
        if not self._delta.changes.keys().isdisjoint(map(_KEY_OF, records)):
            return False
        self._delta.add(records)
        return True

    def _add_new_prefixed_keys(self, prefix: bytes, records: Sequence[Stored]) -> bool:
        """Add records as ``_add_new_keys`` does, for a topic with prefixed keys, but none without a key."""
        keys = list(map(_KEY_OF, records))
        if None in keys:
            return False
        names = [prefix + key for key in keys]
        if not self._delta.changes.keys().isdisjoint(names):
            return False
        self._delta.changes.update(zip(names, records, strict=True))
        self._delta.count(records)
        return True

    def _add_one_by_one(
        self, partition: Partition, records: Iterable[Stored], refused: Collection[int], outcome: CommittedOutcome
    ) -> None:
        prefix, candidates = self._prefixes[partition.topic], self._candidates
        self._delta.count(records := list(records))
        for raw in records:
            if lacks_key(raw):
                outcome.bad.append(without_key(partition, raw))
                continue
            record = as_record(raw, partition)
            key, is_bad = prefix + record.key, bool(refused) and record.offset in refused
            bad_before = candidates.bad_records_of(key) if candidates.bad_alone or candidates.families else ()
            if not self._is_outdated(key, record):
                self._delta.changes[key] = self._winner(key, record, is_bad=is_bad)
            elif is_bad:
                outcome.states.setdefault((partition.topic, partition.partition, record.key), NOT_BAD)
            if is_bad or bad_before:
                outcome.states.update(candidates.states_of(key, bad_before))

    def _known_record(self, key: bytes) -> Record | None:
        """Return the record or tombstone of a key in the delta, or else its record in the current version.

        A bad record that is alone is the known one, even if a tombstone of another partition was read later.
        """
        bad = self._candidates.bad_alone.get(key)
        if bad is not None:
            return bad
        known = self._delta.changes.get(key)
        if known is None:
            known = self._present(key)
        if known is None:
            return None
        return as_record(known, self._delta.source or next(iter(self._highest)))

    def _is_outdated(self, key: bytes, record: Record) -> bool:
        if self._pending_tombstones and self._pending_tombstones.get((record.source, key), -1) > record.offset:
            return True
        known = self._candidates.families.get(key, {}).get(record.source) or self._known_record(key)
        # The same offset means the same record, read again after a restart.
        return known is not None and known.source == record.source and known.offset >= record.offset

    def _winner(self, key: bytes, record: Record, *, is_bad: bool) -> Record:
        """Return the current record among a key's records in all partitions; a tombstone if none is left.

        A tombstone that another partition's record hides is remembered: a record that it deletes may come late.
        """
        if len(self._highest) == 1:
            self._candidates.keep_alone(key, record, is_bad=is_bad)
            return record
        changed = self._delta.changes.get(key)
        if changed is not None and changed[1] is None:
            replaced = as_record(changed, self._delta.source or next(iter(self._highest)))
            if replaced.source != record.source:
                self._remember_tombstone(key, replaced)
        winner = self._winner_of_several(key, record, is_bad=is_bad)
        if record.is_tombstone and winner is not record:
            self._remember_tombstone(key, record)
        return winner

    def _remember_tombstone(self, key: bytes, record: Record) -> None:
        offset = self._pending_tombstones.get((record.source, key), -1)
        self._pending_tombstones[record.source, key] = max(offset, record.offset)

    def _winner_of_several(self, key: bytes, record: Record, *, is_bad: bool) -> Record:
        candidates = self._candidates
        family = candidates.families.get(key)
        if family is None:
            known = self._known_record(key)
            is_initial = known is not None and known.partition == NO_PARTITION
            is_alone = known is None or is_initial or known.source == record.source
            if known is None or is_alone or (known.is_tombstone and key not in candidates.bad_alone):
                if is_bad or candidates.bad_alone:
                    candidates.keep_alone(key, record, is_bad=is_bad)
                return record
            family = {known.source: known}
        if record.is_tombstone and not is_bad:
            family.pop(record.source, None)
        else:
            family[record.source] = record
        candidates.keep(key, family)
        return candidates.current_of(family) if family else record

    def _add_tombstone(self, delta: Delta, position: Position) -> None:
        """Remember deletions that an older open transaction could still undo, and forget the others."""
        firsts = position.resume()
        if self._pending_tombstones:
            self._pending_tombstones = {
                (partition, key): offset
                for (partition, key), offset in self._pending_tombstones.items()
                if offset >= firsts.get(partition, 0)
            }
        is_ahead = any(end > position.get(partition, 0) for partition, end in self._highest.items())
        if not delta.has_deletions or not (position.open or is_ahead):
            return
        for record in self._tombstones(delta):
            if record.offset >= firsts.get(record.source, 0):
                self._remember_tombstone(self._prefixes[record.topic] + record.key, record)

    def _tombstones(self, delta: Delta) -> Iterator[Record]:
        source = delta.source or next(iter(self._highest))
        return (as_record(raw, source) for raw in delta.changes.values() if raw[1] is None)


def _size_of(records: Sequence[Stored]) -> int:
    """Return the approximate memory of records, tombstones included; some may lack a key."""
    if PARSER is not None:
        return PARSER.size_bytes(records) + _RECORD_BYTES * len(records)
    parts = filter(None, chain(map(_KEY_OF, records), map(_VALUE_OF, records)))
    return sum(map(len, parts)) + _RECORD_BYTES * len(records)


def _as_records(records: Sequence[Stored], source: Partition) -> Sequence[Stored]:
    """Return records as users see them; those of the compiled parser already have this form."""
    return records if set(map(type, records)) <= {Record} else [as_record(raw, source) for raw in records]


def _unfiltered(records: Sequence[Stored], source: Partition) -> list[Stored]:
    """Return the records of a batch as ``_as_records`` does, if no filter has replaced some: all have the same type."""
    if type(records) is list and (not records or type(records[0]) is Record):
        return records
    return [as_record(raw, source) for raw in records]


def _without_records_below(batch: Batch, start: int) -> Batch:
    """Return the batch without the records below an offset."""
    try:
        records = batch.content.records() if batch.end > start else ()
    except DataError:
        return batch  # the record filter reports the error
    return batch._replace(content=ParsedContent([record for record in records if record[2] >= start]))
