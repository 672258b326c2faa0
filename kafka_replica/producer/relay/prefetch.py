"""Reading ahead of the next transactions while the relay waits for Kafka: small transactions in groups, in a thread.

The records of a recorded transaction do not change while the relay sends, so that they can be read at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from kafka_replica.producer.outbox.contents import RecordedContents
from kafka_replica.producer.outbox.recorded_transactions import Contents, RecordedTransaction
from kafka_replica.producer.outbox.tables import TransactionKind

_GROUP_BYTES: Final = 1 << 20  # at most two groups are in memory: one being sent, one being read
_GROUP_RECORDS: Final = 1000


class Prefetcher:
    """Provides the contents of consecutive transactions, which it reads ahead.

    Args:
        recorded: the contents of the producer's transactions.
    """

    def __init__(self, recorded: RecordedContents) -> None:
        self._recorded = recorded
        self._thread = ThreadPoolExecutor(1, "kafka_replica outbox")
        self._rest: Iterator[list[RecordedTransaction]] = iter(())
        self._reading: tuple[list[RecordedTransaction], Future[dict[int, Contents]]] | None = None
        self._ready: dict[int, Contents] = {}
        self._due = False

    def start(self, pending: Sequence[RecordedTransaction]) -> None:
        """Start reading the transactions that will be sent next, and discard those that were read before."""
        self._ready, self._reading = {}, None
        self._rest, self._due = group_transactions(pending), True
        self.read_next()  # these contents are requested next

    def contents(self, transaction: RecordedTransaction) -> Contents:
        """Return the records of a transaction; not for a sweep.

        Raises:
            OutboxError: the records could not be read.
        """
        if self._reading is not None and transaction in self._reading[0]:
            self._ready, self._due = self._reading[1].result(), True
        contents = self._ready.pop(transaction.tx_id, None)
        return self._recorded.contents(transaction) if contents is None else contents

    def read_next(self) -> None:
        """Start reading the next group, if it is due; call this when the relay starts to wait for Kafka.

        Reading records and queueing them for Kafka both need the interpreter, so that each would slow the other down.
        """
        if not self._due:
            return
        self._due = False
        group = next(self._rest, None)
        self._reading = None if group is None else (group, self._thread.submit(self._recorded.contents_of, group))

    def close(self) -> None:
        """Shut down the reading thread."""
        self._thread.shutdown(cancel_futures=True)


def group_transactions(pending: Iterable[RecordedTransaction]) -> Iterator[list[RecordedTransaction]]:
    """Group consecutive small transactions, which are read together; large ones, flushes and sweeps are left out."""
    group: list[RecordedTransaction] = []
    for each in pending:
        is_small = (
            each.kind in {TransactionKind.CHANGES, TransactionKind.DELETIONS}
            and each.size <= _GROUP_BYTES
            and each.messages <= _GROUP_RECORDS
        )
        if group and not (is_small and _fits(group, each)):
            yield group
            group = []
        if is_small:
            group.append(each)
    if group:
        yield group


def _fits(group: list[RecordedTransaction], each: RecordedTransaction) -> bool:
    return (
        sum(member.size for member in group) + each.size <= _GROUP_BYTES
        and sum(member.messages for member in group) + each.messages <= _GROUP_RECORDS
    )
