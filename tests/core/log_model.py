"""A partition of Kafka as far as transactions go: a list of entries, and what a reader gets to see of it.

Written from what guarantees.md says was measured; the same histories run on a real broker in tests/broker.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kafka_replica import Partition, Record

PARTITION = Partition("model", 0)


@dataclass(frozen=True)
class Entry:
    """One offset of the log: a record of a transaction, or the marker that ends one."""

    writer: int
    transaction: int
    key: bytes | None = None
    value: bytes | None = None
    commits: bool | None = None  # of a marker

    @property
    def is_marker(self) -> bool:
        """Whether it ends a transaction."""
        return self.commits is not None


@dataclass
class ModelLog:
    """The log: entries by offset, None where compaction removed one."""

    entries: list[Entry | None] = field(default_factory=list)
    written: list[Entry] = field(default_factory=list)  # the same before compaction

    def append(self, entry: Entry) -> None:
        """Writes one more."""
        self.entries.append(entry)
        self.written.append(entry)

    @property
    def high_watermark(self) -> int:
        """The end."""
        return len(self.entries)

    def decided(self, end: int | None = None) -> dict[tuple[int, int], bool]:
        """Transactions that are over below ``end``: whether they were committed."""
        return {(e.writer, e.transaction): bool(e.commits) for e in self.written[:end] if e.is_marker}

    @property
    def last_stable_offset(self) -> int:
        """The first offset of the oldest open transaction, or the end."""
        decided = self.decided()
        opens = (o for o, e in enumerate(self.written) if (e.writer, e.transaction) not in decided)
        return next(opens, self.high_watermark)

    def fetch(self, position: int, max_entries: int) -> tuple[list[Record], int]:
        """What a read_committed consumer gets: committed records, and the next offset to ask for."""
        end = min(self.last_stable_offset, position + max_entries)
        decided = self.decided()
        found = [
            record_of(entry, offset)
            for offset, entry in enumerate(self.entries[position:end], position)
            if entry is not None and not entry.is_marker and decided[entry.writer, entry.transaction]
        ]
        return found, max(position, end)

    def compact(self) -> None:
        """Removes every committed record that a later committed one of its key replaces, and old markers."""
        decided = self.decided()
        latest: dict[bytes, int] = {}
        for offset in range(self.last_stable_offset):
            entry = self.entries[offset]
            if entry is None or entry.is_marker or entry.key is None:
                continue
            if not decided[entry.writer, entry.transaction]:
                self.entries[offset] = None
                continue
            if entry.key in latest:
                self.entries[latest[entry.key]] = None
            latest[entry.key] = offset

    def state_at(self, cut: int) -> dict[bytes, bytes] | None:
        """What a version cut there must hold; None if no version may be cut there (it would tear)."""
        decided = self.decided()
        parts: dict[tuple[int, int], set[bool]] = {}
        for offset, entry in enumerate(self.written):
            if not entry.is_marker and decided.get((entry.writer, entry.transaction)):
                parts.setdefault((entry.writer, entry.transaction), set()).add(offset < cut)
        if any(len(sides) > 1 for sides in parts.values()):
            return None
        state: dict[bytes, bytes] = {}
        for entry in self.written[:cut]:
            if entry.is_marker or not decided.get((entry.writer, entry.transaction)):
                continue
            assert entry.key is not None
            state.pop(entry.key, None)
            if entry.value is not None:
                state[entry.key] = entry.value
        return state


def record_of(entry: Entry, offset: int) -> Record:
    """The entry as a consumer gives it."""
    assert entry.key is not None
    return Record(entry.key, entry.value, offset, 0, (), PARTITION)
