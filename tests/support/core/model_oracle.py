"""The requirements on versions of the modelled cluster, checked against the history, which the reader never sees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_replica import Partition, Position, Record
from support.core.log_model import Cluster, Transaction


class BrokenError(AssertionError):
    """A guarantee is broken."""


class Oracle:
    """A checker of the versions that one replica shows.

    Args:
        cluster: what it reads.
        included: transactions in its initial state.
        causal: True if the transactions that a transaction may depend on must be there, too.
    """

    def __init__(self, cluster: Cluster, included: Iterable[int] = (), *, causal: bool = True) -> None:
        self.cluster = cluster
        self.causal = causal
        self.committed: set[int] = set(included)  # transactions of which a part was committed in the delta
        self.included: frozenset[int] = frozenset(included)  # those in the version shown
        self.position = Position()
        self.shown = 0
        self.starts: Mapping[Partition, int] = {}  # log start offsets that the reader received

    def fork(self, cluster: Cluster) -> Oracle:
        """Return a copy that can be continued differently."""
        other = Oracle(cluster, causal=self.causal)
        other.committed, other.included, other.position, other.shown = (
            {*self.committed},
            self.included,
            self.position,
            self.shown,
        )
        return other

    def commit(self, partition: Partition, offset: int) -> None:
        """Record that a record of that offset is part of the next version."""
        log = self.cluster.logs[partition].written
        own = next(batch.transaction for batch in log if batch.first <= offset < batch.end)
        self.committed.add(own)

    def show(self, state: Mapping[bytes, Record], position: Position) -> None:
        """Check a version that is shown, or a later position of the version shown.

        Raises:
            BrokenError: it is not as required.
        """
        self.shown += 1
        self._check_order(position)
        included = frozenset(self.committed | {t.number for t in self._decided_below(position)})
        self._check_decided(included)
        if self.causal:
            self._check_causes(included)
        expected = {
            key: record
            for key, record in self.cluster.state(included).items()
            if record.offset >= self.starts.get(record.source, 0)
        }
        if dict(state) != expected:
            raise BrokenError(f"{position}: torn: {brief(state)} instead of {brief(expected)} of {sorted(included)}")
        self._check_open(position, included)
        self.position, self.included = position, included

    def finish(self, state: Mapping[bytes, Record]) -> None:
        """Check the state when nothing is written and nothing is left to read: everything written must be shown.

        Raises:
            BrokenError: something is missing, or too much.
        """
        if dict(state) != self.cluster.independent():
            raise BrokenError(f"the end: {brief(state)} instead of {brief(self.cluster.independent())}")
        behind = {p: log.end for p, log in self.cluster.logs.items() if self.position.get(p, -1) < log.end}
        if behind:
            raise BrokenError(f"the end: {self.position} instead of {behind}")

    # --- checks ---

    def _check_order(self, position: Position) -> None:
        if not position.dominates(self.position):
            raise BrokenError(f"{position} comes after {self.position}")

    def _decided_below(self, position: Position) -> Iterable[Transaction]:
        for transaction in self.cluster.transactions:
            if transaction.commits and any(at < position.get(p, 0) for p, at in transaction.markers.items()):
                yield transaction

    def _check_decided(self, included: frozenset[int]) -> None:
        for number in included:
            if not self.cluster.transactions[number].commits:
                raise BrokenError(f"transaction {number} is shown and was not committed")

    def _check_causes(self, included: frozenset[int]) -> None:
        for number in included:
            missing = {
                cause
                for cause in self.cluster.transactions[number].after - included
                if self.cluster.transactions[cause].commits
            }
            if missing:
                raise BrokenError(f"transaction {number} is shown without {missing}, on which it may depend")

    def _check_open(self, position: Position, included: frozenset[int]) -> None:
        """Check that the position names what is below it and not included, also when queried by offset."""
        for partition, end in position.items():
            for batch in self.cluster.logs[partition].left:
                if batch.is_marker:
                    continue
                own = self.cluster.transactions[batch.transaction]
                for record in batch.records:
                    if record.offset < self.cluster.logs[partition].start:
                        continue
                    if record.offset >= end:
                        break
                    self._check_named(position, own, record, own.number in included)

    def _check_named(self, position: Position, own: Transaction, record: Record, is_included: bool) -> None:
        partition, offset = record.source, record.offset
        names = [open_ for open_ in position.open if open_.partition == partition and open_.holds(offset)]
        if any((o.producer_id, o.producer_epoch) != (own.producer, own.epoch) for o in names):
            raise BrokenError(f"{position}: {partition}@{offset} is said to be of {names}")
        is_over = own.commits is False and own.markers.get(partition, position[partition]) < position[partition]
        if len(names) > 1 or ((is_included or is_over) and names):
            raise BrokenError(f"{position}: {partition}@{offset} is decided, but {names} is said to be open")
        if not is_included and own.commits is not False and not names:
            raise BrokenError(f"{position}: {partition}@{offset} is not included and nothing is said to be open there")
        if position.includes({partition: offset + 1}) == bool(names):
            raise BrokenError(f"{position}: includes({partition}@{offset + 1}) says something else than {names}")


def brief(state: Mapping[bytes, Record]) -> dict[str, str]:
    """Return a readable state."""
    return {key.decode(): f"{(r.value or b'').decode()}@{r.source.partition}.{r.offset}" for key, r in state.items()}
