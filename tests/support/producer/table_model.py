"""A model of a PostgreSQL table: row versions, concurrent transactions with subtransactions, and snapshots.

Transaction ids are assigned when a transaction first writes, as PostgreSQL does. Rows keep the lower 32 bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from kafka_replica.producer.postgres.position import ID_SPAN, Position, Snapshot, full_id
from kafka_replica.producer.postgres.rows import Column, RowMapping
from kafka_replica.producer.postgres.table_snapshot import Row, SnapshotSummary

SPECIAL = 3  # ids of which the lower 32 bits are less than this are not assigned


@dataclass(eq=False)
class Version:
    """A row version."""

    key: str
    serial: int
    writer: int
    deleters: list[int] = field(default_factory=list)

    @property
    def row_id(self) -> int:
        """The system column ``xmin``."""
        return self.writer % ID_SPAN


@dataclass(eq=False)
class Transaction:
    """A transaction, and its subtransactions that were not rolled back."""

    ids: list[int] = field(default_factory=list)
    """The id of the transaction, and then those of its subtransactions; empty if nothing was written."""
    is_open: bool = True


class ModelTable:
    """A table and all transactions of its database.

    Args:
        first_id: the next transaction id at the beginning.
        frozen: how many rows there are from the beginning, written 2^32 transactions earlier.
    """

    def __init__(self, first_id: int, frozen: int = 0) -> None:
        self.next_id = first_id
        self.serial = 0
        self.committed: set[int] = set()
        self.transactions: list[Transaction] = []
        self.versions: list[Version] = []
        for number in range(frozen):
            old = Transaction(ids=[first_id - ID_SPAN - 1 - number])
            self.transactions.append(old)
            self.versions.append(Version(f"frozen {number}", self._next_serial(), old.ids[0]))
            self.end(old, commit=True)

    def begin(self) -> Transaction:
        """Begin a transaction, which has no id yet."""
        self.transactions.append(Transaction())
        return self.transactions[-1]

    def write(
        self, transaction: Transaction, key: str, *, in_subtransaction: bool = False, delete: bool = False
    ) -> bool:
        """Insert, update or delete the row of a key; return False if another transaction has locked the row."""
        current = next(
            (each for each in self.versions if each.key == key and self._is_current(each, transaction)), None
        )
        locked = any(
            each.key == key
            and other.is_open
            and other is not transaction
            and {each.writer, *each.deleters} & set(other.ids)
            for each in self.versions
            for other in self.transactions
        )
        if locked or (delete and current is None):
            return False
        if not transaction.ids:
            transaction.ids.append(self._assign())
        if in_subtransaction:
            transaction.ids.append(self._assign())
        if current is not None:
            current.deleters.append(transaction.ids[-1])
        if not delete:
            self.versions.append(Version(key, self._next_serial(), transaction.ids[-1]))
        return True

    def roll_back_last(self, transaction: Transaction) -> None:
        """Roll back the last subtransaction."""
        if len(transaction.ids) > 1:
            transaction.ids.pop()

    def end(self, transaction: Transaction, *, commit: bool) -> None:
        """Commit or roll back."""
        transaction.is_open = False
        if commit:
            self.committed.update(transaction.ids)

    def snapshot(self) -> Snapshot:
        """Return the bounds of a snapshot; the list of running transactions lacks subtransactions."""
        running = sorted(each.ids[0] for each in self.transactions if each.is_open and each.ids)
        xmin = min([self.next_id, *running])
        return Snapshot(f"{xmin}:{self.next_id}:{','.join(map(str, running))}", "1/1", "00000001", self.serial)

    def visible(self) -> list[Version]:
        """Return the row versions that a snapshot shows now."""
        return [
            each for each in self.versions if each.writer in self.committed and not self.committed & set(each.deleters)
        ]

    def _is_current(self, version: Version, transaction: Transaction) -> bool:
        known = self.committed | set(transaction.ids)
        return version.writer in known and not known & set(version.deleters)

    def _assign(self) -> int:
        assigned = self.next_id
        self.next_id += 1
        while self.next_id % ID_SPAN < SPECIAL:
            self.next_id += 1
        return assigned

    def _next_serial(self) -> int:
        self.serial += 1
        return self.serial


class ModelSnapshot:
    """A snapshot of the model, with the methods of ``TableSnapshot``."""

    mapping = RowMapping(
        "item", [Column("key", "text", str), Column("serial", "text", str)], "key", camel_case_names=False
    )

    def __init__(self, table: ModelTable) -> None:
        self.snapshot = table.snapshot()
        self._shown = table.visible()

    def survey(self, since: Position | None) -> SnapshotSummary:
        """Return the number of new rows, and the next position."""
        ids = (full_id(each.row_id, self.snapshot.xmax) for each in self._shown)
        seen = frozenset(each for each in ids if each >= self.snapshot.xmin)
        return SnapshotSummary(len(self._new(since)), Position(self.snapshot, seen, self.mapping.digest))

    @contextmanager
    def rows(self, since: Position | None = None) -> Iterator[Iterator[Row]]:
        """Return the new rows."""
        yield (Row(True, (each.key, str(each.serial))) for each in self._new(since))

    def _new(self, since: Position | None) -> list[Version]:
        if since is None:
            return self._shown
        return [each for each in self._shown if not since.contains(full_id(each.row_id, self.snapshot.xmax))]
