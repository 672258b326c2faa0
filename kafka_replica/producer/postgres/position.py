"""The position of a table source: which row versions of the table are in the topic. No I/O.

PostgreSQL stores in each row version the id of the transaction that wrote it (``xmin``), and an update writes a new row
version. A snapshot has a lower bound, also called ``xmin``: every transaction with a lower id, and every subtransaction
of it, has ended. A position is the lower bound of a snapshot S, and the set ``visible_ids`` of the ids, from this bound
on, of transactions that had written rows visible in S. The position *contains* an id if it is below the bound or in the
set.

A row version that is visible in a later snapshot T was visible in S exactly if the position of S contains its id x:

* x is below the bound: the transaction had ended, and since T shows its row it was committed. It was visible in S.
* x is in ``visible_ids``: S showed rows of x, so x was committed, and all its row versions were visible in S or
  deleted.
* otherwise: had x been committed in S, this row version would have been visible in S, because whoever deletes a row
  version deletes it for all later snapshots, and T still shows it. Then x would be in ``visible_ids``. So x was not
  committed in S, and the row version is new in T.

All this holds for row versions of one table. A row of another table that was given the name, or of a partition that was
attached, may have been written before S though S did not show it. So a position also has a digest with the oids of the
table and of its partitions (``Position.mapping``), and if the digest differs, all rows are compared with the topic.

Transactions in S are durable when its position is used (``TableSnapshot.survey``), so a crash does not undo them.

Nothing depends on the order of commits, on the columns of the table, or on the list of running transactions in S, which
lacks subtransactions (savepoints, and exception blocks in PL/pgSQL). A row version is read once in a sequence of
snapshots, however late its transaction commits.

The ids in rows have 32 bits, those of snapshots 64 bits (``xid8``). A row visible in a snapshot has an id below the
snapshot's upper bound, and is given the highest such id with its 32 bits (``full_id``). This is its true id, unless the
row is older than 2^32 transactions; then it is too high. So no row version is skipped, but one that is older is read
again after each 2^32 transactions.

Source: PostgreSQL, sections "System Columns", "Transactions and Identifiers" and "Transaction ID and Snapshot
Information Functions".
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate, pairwise
from typing import Any, Final, NamedTuple, Self

ID_SPAN: Final = 1 << 32


class Snapshot(NamedTuple):
    """The bounds of a snapshot, and its place in the history of its database."""

    text: str
    """The result of ``pg_current_snapshot()``: ``xmin:xmax:`` and the running transactions."""
    database: str = ""
    """The identity of the database: the system identifier and the database's oid."""
    timeline: str = ""
    """The timeline of the write-ahead log, which changes when a standby is promoted or a backup is recovered."""
    log_position: int = 0
    """The end of the write-ahead log just after the snapshot was taken, in bytes."""

    @property
    def xmin(self) -> int:
        """The lower bound: all transactions with lower ids have ended."""
        return int(self.text.split(":")[0])

    @property
    def xmax(self) -> int:
        """The upper bound: all visible rows were written by transactions with lower ids."""
        return int(self.text.split(":")[1])


def full_id(row_id: int, xmax: int) -> int:
    """Return the 64-bit id of the transaction that wrote a row version.

    Args:
        row_id: the lower 32 bits of the id, from the row's system column ``xmin``.
        xmax: the upper bound of the snapshot that shows the row.
    """
    return xmax - 1 - (xmax - 1 - row_id) % ID_SPAN


class Position(NamedTuple):
    """The set of row versions that have been copied; see the docstring of the module."""

    snapshot: Snapshot
    visible_ids: frozenset[int]
    mapping: str
    """A digest of the table, its partitions and columns, and the settings that determine the records of a row."""

    def contains(self, transaction_id: int) -> bool:
        """Return whether the row versions that a committed transaction has written have been copied."""
        return transaction_id < self.snapshot.xmin or transaction_id in self.visible_ids

    def history_problem(self, later: Snapshot) -> str | None:
        """Return why a snapshot is not a later state of the same database; None if nothing indicates this.

        Transaction ids are unique only within one history of a database: after a restore, or a failover that lost
        commits, they are assigned a second time.
        """
        earlier = self.snapshot
        if earlier.database != later.database:
            return "this is another database than the one that was copied"
        if earlier.timeline != later.timeline:
            return "the database was restored, or a standby was promoted"
        if later.xmax < earlier.xmax or later.xmin < earlier.xmin or later.log_position < earlier.log_position:
            return "the database is older than the topic: it was restored"
        return None

    def as_json(self) -> dict[str, Any]:
        """Return the position as it is stored in Kafka, with each visible id as the difference to the previous id."""
        xmin, ids = self.snapshot.xmin, sorted(self.visible_ids)
        gaps = [after - before for before, after in pairwise([xmin, *ids])]
        return {**self.snapshot._asdict(), "seen": gaps, "mapping": self.mapping}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Parse a stored position.

        Raises:
            KeyError, TypeError, ValueError: the value is not a position.
        """
        snapshot = Snapshot(*(stored[name] for name in Snapshot._fields))
        ids = list(accumulate(stored["seen"], initial=snapshot.xmin))[1:]
        return cls(snapshot, frozenset(ids), stored["mapping"])
