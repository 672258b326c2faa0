"""The relay's session with Kafka: it acquires the transactional id, reads what has arrived, and sends transactions."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple

from kafka_replica.broker.admin.topics import Topics
from kafka_replica.broker.reading.last_record import committed_records
from kafka_replica.broker.topic_settings import PROGRESS_TOPIC
from kafka_replica.broker.writing.size_limits import QUEUE_LIMIT, fitting_batches
from kafka_replica.broker.writing.writer import TransactionalWriter, own_limit
from kafka_replica.errors import BrokerUnavailableError, CommitUnknownError, KafkaReplicaError, TopicNotFoundError
from kafka_replica.headers import Stack
from kafka_replica.producer.changes.encoding import Encoder
from kafka_replica.producer.outbox.recorded_transactions import Contents, Raw, RecordedTransaction
from kafka_replica.producer.relay.arrival import ArrivalReader
from kafka_replica.producer.relay.conflicts import ProgressRecord, check_conflicts, foreign_records
from kafka_replica.producer.relay.identity import Identity
from kafka_replica.producer.relay.outgoing_records import OutgoingRecord, OutgoingRecords, SentCounts
from kafka_replica.producer.relay.progress import Progress, progress_of, progress_value
from kafka_replica.producer.relay.steps import Step
from kafka_replica.records import Partition

_log = logging.getLogger("kafka_replica.producer")

_DEFAULTS: dict[str, Any] = {
    "client.id": "kafka-replica-relay",
    "queue.buffering.max.messages": 10_000,
    "transaction.timeout.ms": 180_000,  # a full flush is one transaction
}
_PORTION_BYTES = 16 << 20  # about two portions are queued at most, which bounds the memory of a full flush
_REQUIRED: dict[str, Any] = {
    "delivery.report.only.error": True,  # a callback for each delivered record would be too slow; none is needed
}
_POLL_S = 0.05
_OFFSETS = 2  # a transaction uses at least two offsets of the progress topic: its progress record and its marker


class SentTransaction(NamedTuple):
    """The facts of a sent transaction."""

    size: int
    """Bytes of keys and values before compression, in one topic."""
    messages: int
    not_carried: int
    offset: int
    """An offset at or before that of the transaction's progress record."""
    is_last: bool = False
    """True if the session cannot be used for another transaction; see ``TransactionalWriter.must_renew``."""


class KafkaSession:
    """A session with Kafka; after any failure, it is closed and replaced by a new session.

    Args:
        config: librdkafka's properties.
        identity: the producer's identity and topics.
        encoder: converts content to values.
        timeout_s: the timeout of one step in Kafka, in seconds.
        step: called with the name of each step.
        header_stack: transforms values and headers before they are sent, for each topic.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        identity: Identity,
        encoder: Encoder,
        timeout_s: float,
        step: Step,
        header_stack: Stack | None = None,
    ) -> None:
        self._header_stack = header_stack or None
        # The queue has room for the largest record, which librdkafka would never accept otherwise.
        queue_kbytes = -(-max(own_limit(config).size_bytes, 2 * _PORTION_BYTES) // 1024)
        self._config = {**_DEFAULTS, QUEUE_LIMIT: queue_kbytes, **config, **_REQUIRED}
        self._plain = dict(config)
        self._identity = identity
        self._outgoing = OutgoingRecords(identity, encoder, step)
        self._timeout_s = timeout_s
        self._step = step
        self._writer: TransactionalWriter | None = None
        self._partitions: list[Partition] = []
        self.former_progress: Progress | None = None
        """The last progress record of the former incarnations, if the present one has none."""
        self._offset = 0

    @cached_property
    def _topics(self) -> Topics:
        return Topics(self._plain)

    @cached_property
    def _arrivals(self) -> ArrivalReader:
        return ArrivalReader(self._plain, self._identity, self._topics, self._timeout_s)

    def connect(
        self,
        former_id: str | None,
        hint: int | None,
        acknowledged: Callable[[], int],
        former_incarnations: Sequence[str] = (),
    ) -> Progress | None:
        """Fence any other producer of the transactional id, and return the last progress record.

        Fencing comes first: it ends the open transactions of predecessors, so that readers of committed data see the
        whole log, and nothing more can arrive afterwards. Only the owner of the lease may call this.

        Args:
            former_id: the previous transactional id, which is also fenced if it differs; None if there is none.
            hint: an offset at or before that of the last progress record; None if it is not known.
            acknowledged: returns the last transaction whose commit Kafka is known to have acknowledged; called only if
                transactions are open. It raises an error if this process may no longer publish.
            former_incarnations: the incarnations before a new one, oldest first; see ``former_progress``.

        Raises:
            KafkaReplicaError: fencing or reading failed.
        """
        identity = self._identity
        self._partitions = self._check_topics()
        # Checked before the transactional id is acquired, which would fence the producer of another database; and
        # afterwards, because the id may have been claimed while this process was frozen.
        self._check_conflicts(hint)
        self._config |= fitting_batches(self._plain, list(identity.topics), self._timeout_s)
        transactional_ids = list(dict.fromkeys([former_id or identity.transactional_id, identity.transactional_id]))
        for each in transactional_ids[:-1]:
            TransactionalWriter(self._config, each, self._timeout_s).close()
        self._writer = TransactionalWriter(self._config, identity.transactional_id, self._timeout_s)
        self._step("taken up")
        progress, self.former_progress = self._arrivals.read(
            self._partitions, transactional_ids, hint, acknowledged, former_incarnations
        )
        self._check_conflicts(hint)
        self._step("queried")
        _log.info(
            "connected as %s: the last transaction that has arrived is %s (read from offset %s)",
            identity.transactional_id,
            "none" if progress is None else f"{progress.tx_id}, at offset {progress.offset}",
            hint,
        )  # fmt: skip
        self._offset = -_OFFSETS if progress is None else progress.offset
        return progress

    def _check_conflicts(self, hint: int | None) -> None:
        """Raise ProducerConflictError if another database publishes under the producer's id."""
        identity = self._identity
        foreign = self._foreign_records(begin=hint or 0, decided_only=True)
        check_conflicts(foreign, identity.progress_partition, identity.transactional_id, identity.how_to_claim)

    def _wait_for_progress_topic(self) -> None:
        """Wait until the brokers know the topic that was just created."""
        give_up_s = time.monotonic() + self._timeout_s
        while True:
            try:
                self._topics.ends([self._identity.progress_partition], self._timeout_s)
            except (TopicNotFoundError, BrokerUnavailableError):
                if time.monotonic() > give_up_s:
                    raise
                time.sleep(_POLL_S)
            else:
                return

    def has_open_transactions(self) -> bool:
        """Return whether any transaction is open in the progress topic, or in the published topics.

        Raises:
            BrokerError: Kafka did not answer or refused.
        """
        return self._arrivals.has_open_transactions(self._partitions)

    def send(
        self, transaction: RecordedTransaction, contents: Contents, meanwhile: Callable[[], None] | None = None
    ) -> SentTransaction:
        """Send a transaction with its progress record, and commit it.

        Args:
            transaction: the transaction.
            contents: the records of the transaction.
            meanwhile: called when all records are queued; the work that it starts overlaps with the wait for Kafka.

        Raises:
            CommitUnknownError: Kafka did not answer; the transaction may have arrived.
            KafkaReplicaError: the transaction was not committed; none of its records is visible.
        """
        writer = self._writer
        assert writer is not None, "connect first"  # noqa: S101
        writer.begin()
        self._step("begun")
        try:
            place = self._identity.progress_partition
            database_id, position = self._identity.database_id, contents.position
            value = progress_value(transaction.tx_id, contents.fingerprint, database_id, position)
            # Sent first, so that one request adds all partitions to the transaction.
            writer.send_to(place, self._identity.progress_key, value, ())
            counts = SentCounts()
            records = self._in_portions(writer, self._outgoing.records(transaction, contents, counts))
            if self._header_stack is None:
                writer.send_all(self._identity.topics, records)
            else:
                self._outgoing.send_through(self._header_stack, writer, records)
            self._step("handed over")
            if meanwhile is not None:
                meanwhile()
            writer.commit()
        except CommitUnknownError:
            raise
        except BaseException:
            with suppress(KafkaReplicaError):  # otherwise the next producer with this id aborts it
                writer.abort()
            raise
        finally:
            contents.close()
        self._step("committed")
        self._offset += _OFFSETS
        return SentTransaction(counts.size, counts.messages, counts.not_carried, self._offset, writer.must_renew)

    def _in_portions(self, writer: TransactionalWriter, records: Iterable[OutgoingRecord]) -> Iterator[OutgoingRecord]:
        """Yield records; wait after each portion until those before it are delivered."""
        copies = len(self._identity.topics)
        queued = size_bytes = 0
        for record in records:
            more_bytes = copies * len(record[1] or b"")
            if queued and size_bytes + more_bytes > _PORTION_BYTES:
                writer.wait_for_deliveries(queued)
                queued = size_bytes = 0
            queued += copies
            size_bytes += more_bytes
            yield record

    def present_keys(self) -> Iterator[bytes]:
        """Yield the keys that the topics currently have, sorted.

        Raises:
            BrokerError: Kafka did not answer or refused.
        """
        there: set[bytes] = set()
        for topic in self._identity.topics:
            alive: set[bytes] = set()
            for record in committed_records(
                self._plain, self._topics.look_up(topic, self._timeout_s).partitions, self._timeout_s, {}
            ):
                if record.key is not None:
                    (alive.discard if record.value is None else alive.add)(record.key)
            there |= alive
        yield from sorted(there)

    def representable_keys(self, contents: Iterable[Raw]) -> Iterator[bytes]:
        """Return the keys of content that the format can represent.

        Raises:
            EncodingError: some content cannot be read.
        """
        return (
            key
            for key, value, content_type in contents
            if value is not None and self._outgoing.encode(key, value, content_type) is not None
        )

    def claim(self) -> None:
        """Make this database the only one that publishes under the producer's id.

        The progress records of other databases are deleted. If a copy of this database has written this producer's
        progress record, the record is kept, and names this database from then on.

        Raises:
            KafkaReplicaError: Kafka did not answer or refused.
        """
        identity = self._identity
        self._check_topics()
        # Creating the writer ends the open transactions of other producers.
        writer = TransactionalWriter(self._config, identity.transactional_id, self._timeout_s)
        try:
            foreign = self._foreign_records()
            if foreign:
                writer.begin()
                for record in foreign:
                    is_own = record.key == identity.progress_key
                    value = progress_of(record.value, identity.database_id) if is_own else None
                    writer.send_to(identity.progress_partition, record.key, value, ())
                writer.commit()
                self._wait_until_claim_shows()
        finally:
            writer.close()

    def _wait_until_claim_shows(self) -> None:
        """Wait until readers see the claim, because a start before that moment would be refused."""
        give_up_s = time.monotonic() + self._timeout_s
        while self._foreign_records(decided_only=True) and time.monotonic() < give_up_s:
            time.sleep(_POLL_S)

    def forget(self) -> None:
        """Delete this producer's progress record.

        Raises:
            KafkaReplicaError: the record could not be deleted.
        """
        writer = TransactionalWriter(self._config, self._identity.transactional_id, self._timeout_s)
        writer.begin()
        place = self._identity.progress_partition
        writer.send_to(place, self._identity.progress_key, None, ())
        writer.commit()
        writer.close()

    def close(self) -> None:
        """Close the connection."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    def _foreign_records(self, *, begin: int = 0, decided_only: bool = False) -> list[ProgressRecord]:
        identity = self._identity
        return foreign_records(
            self._plain, identity.progress_partition, identity.producer_id, identity.database_id, self._timeout_s,
            begin=begin, decided_only=decided_only,
        )  # fmt: skip

    def _check_topics(self) -> list[Partition]:
        """Check that all topics exist, and create a missing progress topic; return the published topics' partitions."""
        topics = self._topics
        # A Kafka producer would wait for a missing topic.
        descriptions = [topics.look_up(topic, self._timeout_s) for topic in self._identity.topics]
        try:
            topics.look_up(self._identity.progress_topic, self._timeout_s)
        except TopicNotFoundError:
            copies = self._identity.progress_replication_factor
            topics.create(self._identity.progress_topic, 1, PROGRESS_TOPIC, self._timeout_s, copies)
            self._wait_for_progress_topic()
        return [partition for topic in descriptions for partition in topic.partitions]
