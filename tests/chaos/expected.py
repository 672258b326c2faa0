"""The state that the histories require once each writer has reached a certain transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from chaos.history import History, Outcome, Transaction
from chaos.plan import SHARED


class Write(NamedTuple):
    """A key's record: the transaction that wrote it, None for a deletion or no record; its offset if known."""

    by: str | None
    offset: int | None


NOTHING = Write(None, None)


class Expected:
    """The state after the transactions up to each writer's head.

    Args:
        history: what the writers did.
        seen: transactions that some reader saw: committed, whatever their writers know.
    """

    def __init__(self, history: History, seen: frozenset[str] = frozenset()) -> None:
        self._history, self._seen = history, seen
        self._state: dict[str, Write] = {}
        self._perhaps: dict[str, list[Write]] = {}
        self.heads = [0] * len(history.writers)

    def get(self, key: str) -> Write:
        """The allowed content of a key."""
        return self._state.get(key, NOTHING)

    def keys(self) -> set[str]:
        """Return every key that was ever written, up to the heads."""
        return self._state.keys() | self._perhaps.keys()

    def advance(self, heads: Mapping[int, int]) -> set[str]:
        """Move to newer heads, a transaction number by writer; return the keys that this touches."""
        touched: set[str] = set()
        for writer, head in heads.items():
            transactions = self._history.writers[writer].transactions
            for number in range(self.heads[writer] + 1, head + 1):
                transaction = transactions.get(number)
                if transaction is not None:
                    self._apply(transaction, touched)
            self.heads[writer] = head
        return touched

    def accepts(self, key: str, found: Write) -> bool:
        """Return True if a key may have this content, which resolves transactions in doubt."""
        expected = self.get(key)
        if _same(expected, found):
            return True
        for write in self._perhaps.get(key, ()):
            if _same(write, found):
                self._state[key] = Write(found.by, found.offset if found.by is not None else write.offset)
                return True
        return False

    def _apply(self, transaction: Transaction, touched: set[str]) -> None:
        if transaction.outcome is Outcome.ABORTED:
            return
        sure = transaction.outcome is Outcome.COMMITTED or transaction.name in self._seen
        deletes = set(transaction.deletes)
        for key in (*transaction.puts, *transaction.deletes):
            write = Write(None if key in deletes else transaction.name, transaction.offsets.get(key))
            touched.add(key)
            if sure:
                self._overwrite(key, write)
            else:
                self._perhaps.setdefault(key, []).append(write)

    def _overwrite(self, key: str, write: Write) -> None:
        """Return the record of a key: a writer's newest write, or a shared key's write with the highest offset."""
        if key in SHARED:
            self._overwrite_shared(key, write)
        else:
            self._state[key] = write
            self._perhaps.pop(key, None)

    def _overwrite_shared(self, key: str, write: Write) -> None:
        present = self._state.get(key, NOTHING)
        if write.offset is None or (present is not NOTHING and present.offset is None):
            # The last of the two is unknown: either may be there.
            self._perhaps.setdefault(key, []).extend((present, write))
        elif present.offset is not None and write.offset < present.offset:
            return
        self._state[key] = write
        if key in self._perhaps and write.offset is not None:
            self._perhaps[key] = [
                other for other in self._perhaps[key] if other.offset is None or other.offset > write.offset
            ]


def torn_that_delete(key: str, history: History, torn: Iterable[str]) -> Iterator[Transaction]:
    """Return transactions that Kafka itself tore and that have a tombstone of this key."""
    for name in torn:
        transaction = history.find(name)
        if transaction is not None and key in transaction.deletes:
            yield transaction


def torn_tombstones(key: str, due: Write, history: History, torn: Iterable[str]) -> Iterator[str]:
    """Return the names of torn transactions that may have deleted a key after the write that it should show.

    The head of such a transaction may lie in a partition that never got their marker, and then tells nothing about the
    tombstone.
    """
    for transaction in torn_that_delete(key, history, torn):
        offset = transaction.offsets.get(key)
        if offset is None or due.offset is None or offset > due.offset:
            yield transaction.name


def _same(expected: Write, found: Write) -> bool:
    if expected.by != found.by:
        return False
    return expected.by is None or None in {expected.offset, found.offset} or expected.offset == found.offset
