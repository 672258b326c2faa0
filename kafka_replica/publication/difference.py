"""The difference between two versions: the keys that were added, changed and deleted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kafka_replica.errors import BadRecordError
from kafka_replica.records import Record
from kafka_replica.stores import Snapshot


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between two versions: keys that were added, have a different record, or were deleted."""

    before: Snapshot
    after: Snapshot
    added: tuple[bytes, ...]
    changed: tuple[bytes, ...]
    deleted: tuple[bytes, ...]

    def __repr__(self) -> str:
        counts = f"{len(self.added):,} added, {len(self.changed):,} changed, {len(self.deleted):,} deleted"
        return f"<Difference from version {self.before.version} to {self.after.version}: {counts}>"

    def __iter__(self) -> Iterator[tuple[bytes, Record | None, Record | None]]:
        """Yield each key with its record before and after; None where it has no record."""
        for key in (*self.added, *self.changed, *self.deleted):
            yield key, self.before.get(key), self.after.get(key)

    def __len__(self) -> int:
        return len(self.added) + len(self.changed) + len(self.deleted)


def difference(before: Snapshot, after: Snapshot, touched: Iterable[bytes] | None = None) -> Difference:
    """Compare two versions by values and headers, regardless of offsets.

    Of a large value that is incomplete, the record that describes it is compared.

    Args:
        before: the first version.
        after: the second version.
        touched: all keys that may differ; None compares every key of both versions.
    """
    keys = dict.fromkeys([*before, *after]) if touched is None else dict.fromkeys(touched)
    added, changed, deleted = [], [], []
    for key in keys:
        was, now = _record(before, key), _record(after, key)
        if was is None:
            if now is not None:
                added.append(key)
        elif now is None:
            deleted.append(key)
        elif was is not now and (was.value, was.headers) != (now.value, now.headers):
            changed.append(key)
    return Difference(before, after, tuple(added), tuple(changed), tuple(deleted))


def _record(snapshot: Snapshot, key: bytes) -> Record | None:
    try:
        return snapshot.get(key)
    except BadRecordError as error:
        if not isinstance(error.record, Record):
            raise
        return error.record
