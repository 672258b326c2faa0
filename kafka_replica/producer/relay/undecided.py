"""The end of the producer's own transactions that Kafka has left open, with the outcome that the log shows.

A transaction has the same outcome in all partitions. So a marker in any partition, or an acknowledged commit, decides
how the transaction must end in the others. A transaction without a marker in any partition that was not acknowledged
was not visible to any reader, so it is aborted and sent again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from kafka_replica.broker.wire.transactions import ProducerId
from kafka_replica.broker.writing.transaction_inspector import TransactionInspector
from kafka_replica.errors import BrokerUnavailableError
from kafka_replica.headers.transactions import read_transaction_headers
from kafka_replica.producer.relay.progress import Progress, read_progress
from kafka_replica.records import Partition
from kafka_replica.transactions import Batch, Kind

_log = logging.getLogger("kafka_replica.producer")

_ROUNDS = 3
_EARLIER_MS = 600_000  # the greatest clock difference expected between this machine and the brokers


class ProgressRecords(NamedTuple):
    """The progress records of one producer."""

    arrived: Progress | None
    """The last record of a committed transaction of the present incarnation."""
    former: Progress | None
    """The last record of a committed transaction of the former incarnations."""
    has_begun: bool
    """True if there is any record of the present incarnation, even one that was aborted."""
    undecided: Mapping[int, Progress]
    """The last records of transactions without a marker, by Kafka's producer id."""


class OpenPart(NamedTuple):
    """The part of an open transaction in one partition."""

    tx_id: int | None
    """The number of the transaction; None if another program has written it."""
    written_ms: int


def progress_records(
    batches: Iterable[Batch], place: Partition, key: bytes, former_keys: Collection[bytes] = ()
) -> ProgressRecords:
    """Return the committed and undecided progress records among batches of the progress topic.

    Raises:
        BadRecordError: another program wrote a record of the keys.
    """
    keys = {key, *former_keys}
    committed: dict[bytes, Progress | None] = {}  # in the order of the log
    undecided: dict[int, tuple[bytes, Progress | None]] = {}
    has_begun = False

    def commit(of: bytes, progress: Progress | None) -> None:
        committed.pop(of, None)
        committed[of] = progress

    for batch in batches:
        if batch.kind in {Kind.COMMIT, Kind.ABORT}:
            ended = undecided.pop(batch.producer_id, None)
            if ended is not None and batch.kind is Kind.COMMIT:
                commit(*ended)
            continue
        for record in batch.content.records():
            if record[0] in keys:
                has_begun |= record[0] == key
                progress = read_progress(record[1], record[2], place, record[0])
                if batch.kind is Kind.PLAIN:
                    commit(record[0], progress)
                else:
                    undecided[batch.producer_id] = record[0], progress
    arrived = committed.pop(key, None)
    former = next((each for each in reversed(committed.values()) if each is not None), None)
    still_open = {producer: progress for producer, (_, progress) in undecided.items() if progress is not None}
    return ProgressRecords(arrived, former, has_begun, still_open)


def parts_to_commit(
    parts: Mapping[Partition, OpenPart], arrived: int, committed_tx_ids: Collection[int]
) -> set[Partition]:
    """Return the partitions in which an open transaction has to be committed; in all others, it has to be aborted.

    Args:
        parts: the open parts, by partition.
        arrived: the number up to which all transactions were committed, by the progress topic or by acknowledgement.
        committed_tx_ids: the transactions that have a commit marker in any partition.
    """
    return {
        place
        for place, part in parts.items()
        if part.tx_id is not None and (part.tx_id <= arrived or part.tx_id in committed_tx_ids)
    }


class UndecidedTransactions:
    """Ends the undecided transactions of one producer.

    Args:
        inspector: a reader of the log's batches and open transactions.
        transactional_ids: the producer's current and former transactional ids.
        name: the producer's id in the headers of records.
        key: the key of the producer's progress record.
        former_keys: the keys of its former incarnations, of which nothing is known to be marked.
        place: the partition of the producer's progress record.
        partitions: the partitions of the producer's topics.
    """

    def __init__(
        self,
        inspector: TransactionInspector,
        transactional_ids: Collection[str],
        name: str,
        key: bytes,
        former_keys: Collection[bytes],
        place: Partition,
        partitions: Collection[Partition],
    ) -> None:
        self._inspector = inspector
        self._transactional_ids = transactional_ids
        self._name = name
        self._key = key
        self._former_keys = former_keys
        self._place = place
        self._partitions = partitions

    def end_all(self, hint: int | None, acknowledged: Callable[[], int]) -> ProgressRecords:
        """End all open transactions of the producer; return its progress records, of which none is undecided then.

        A process that was frozen may continue here after another one has taken over, and has sent more. It ends nothing
        then: it either finds that it may no longer publish, or Kafka refuses the epoch that it had read before.

        Args:
            hint: an offset at or before that of this record; None if it is not known.
            acknowledged: returns the number up to which Kafka has acknowledged all commits; raises a KafkaReplicaError
                if this process may no longer publish.

        Raises:
            BrokerError: Kafka does not answer or refuses, or a transaction stays open.
        """
        for _ in range(_ROUNDS):
            records = self._read_records(hint)
            open_parts = [self._open_parts(each) for each in self._transactional_ids]
            if not any(parts for _, parts in open_parts):
                self._check_decided(records)
                return records
            # Only now, because what others have acknowledged until they lost their right to publish counts, too.
            arrived = max(acknowledged(), 0 if records.arrived is None else records.arrived.tx_id)
            # An open transaction is the last one. Before this incarnation has written anything, it is of a former one.
            former = None if records.has_begun else records.former
            committed = [] if former is None else [former.tx_id]
            for transactional_id, (producer, parts) in zip(self._transactional_ids, open_parts, strict=True):
                if parts:
                    to_commit = self._to_commit(producer.number, parts, arrived, committed)
                    self._end(transactional_id, producer, parts, to_commit)
        raise BrokerUnavailableError(
            f"Kafka does not end transactions of {', '.join(self._transactional_ids)}; see the brokers' logs"
        )

    def _read_records(self, hint: int | None) -> ProgressRecords:
        records = ProgressRecords(None, None, False, {})
        for begin in (0,) if hint is None else (hint, 0):
            batches = self._inspector.batches(self._place, begin)
            records = progress_records(batches, self._place, self._key, self._former_keys)
            if records.arrived is not None:
                break
        return records

    def _check_decided(self, records: ProgressRecords) -> None:
        """Check that no transaction of the producer is undecided.

        Raises:
            BrokerUnavailableError: an open transaction cannot be ended, because it has another transactional id, or a
                producer id that Kafka has replaced.
        """
        for producer, progress in records.undecided.items():
            topic, number = self._place
            raise BrokerUnavailableError(
                f"transaction {progress.tx_id} of {self._name} is open in {self._place} at offset {progress.offset}, "
                f"by the foreign producer id {producer}; if it remains open for longer than "
                f"transaction.timeout.ms, end it with kafka-transactions.sh abort --topic {topic} --partition {number} "
                f"--start-offset {progress.offset}, and likewise in the topics"
            )

    def _open_parts(self, transactional_id: str) -> tuple[ProducerId, dict[Partition, OpenPart]]:
        producer, first_offsets = self._inspector.open_parts(transactional_id, [self._place, *self._partitions])
        return producer, {place: self._part(producer.number, place, first) for place, first in first_offsets.items()}

    def _part(self, producer: int, place: Partition, first: int) -> OpenPart:
        batches = self._inspector.batches(place, first)
        for batch in batches:
            if batch.producer_id == producer and batch.kind is Kind.DATA:
                return OpenPart(self._number(batch, place), written_ms=batch.content.records()[0][3])
        raise BrokerUnavailableError(f"the transaction at offset {first} of {place} was ended meanwhile")

    def _number(self, batch: Batch, place: Partition) -> int | None:
        """Return the number of the transaction to which a batch belongs; None if another program has written it."""
        for record in batch.content.records():
            if place != self._place:
                headers = read_transaction_headers(record[4])
                name, _, number = ("", "", "") if headers is None else headers.transaction.rpartition("/")
                return int(number) if name == self._name and number.isdecimal() else None
            if record[0] == self._key or record[0] in self._former_keys:
                progress = read_progress(record[1], record[2], place, record[0])
                return None if progress is None else progress.tx_id
        return None

    def _to_commit(
        self, producer: int, parts: Mapping[Partition, OpenPart], arrived: int, committed: Collection[int]
    ) -> set[Partition]:
        doubtful = {
            part.tx_id: part.written_ms for part in parts.values() if part.tx_id is not None and part.tx_id > arrived
        }
        elsewhere = [each for each in self._partitions if each not in parts]
        committed_tx_ids = [
            tx_id
            for tx_id, written_ms in doubtful.items()
            if any(self._is_committed(producer, tx_id, batches) for batches in self._since(elsewhere, written_ms))
        ]
        return parts_to_commit(parts, arrived, {*committed, *committed_tx_ids})

    def _since(self, partitions: Collection[Partition], written_ms: int) -> Iterator[Iterator[Batch]]:
        """Yield the batches of each partition since a time before a transaction, with a tolerance for clocks."""
        begins = self._inspector.offsets(partitions, written_ms - _EARLIER_MS) if partitions else {}
        return (self._inspector.batches(place, begin) for place, begin in begins.items())

    def _is_committed(self, producer: int, tx_id: int, batches: Iterable[Batch]) -> bool:
        """Return whether records of a transaction are followed by the producer's commit marker."""
        is_there = False
        for batch in batches:
            if batch.producer_id != producer:
                continue
            if batch.kind is Kind.DATA:
                is_there |= self._number(batch, batch.partition) == tx_id
            elif is_there:
                if batch.kind is Kind.COMMIT:
                    return True
                is_there = False  # an aborted attempt; a later one may have been committed
        return False

    def _end(
        self,
        transactional_id: str,
        producer: ProducerId,
        parts: Mapping[Partition, OpenPart],
        to_commit: set[Partition],
    ) -> None:
        for commit in (True, False):
            places = [place for place in parts if (place in to_commit) is commit]
            if places:
                numbers = sorted({parts[place].tx_id or 0 for place in places})
                _log.warning(
                    "Kafka had left transaction %s of %s without a marker in %s: %s", ", ".join(map(str, numbers)),
                    self._name, ", ".join(map(str, places)), "committed" if commit else "aborted, to be sent again",
                )  # fmt: skip
                self._inspector.end(transactional_id, producer, places, commit=commit)
