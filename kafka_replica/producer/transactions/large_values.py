"""Transactions with values of any size: large values are split into chunks, and chunks of old values are deleted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from kafka_replica.errors import BadRecordError, ConfigurationError
from kafka_replica.large_values import CHUNK_BYTES, LargeValueSnapshot, Manifest, manifest_of, orphaned_chunks, split
from kafka_replica.producer.transactions.keys import checked_key
from kafka_replica.producer.transactions.transactional_producer import (
    CommittedTransaction,
    Transaction,
    TransactionalProducer,
)
from kafka_replica.records import Headers, Key, Partition, Position
from kafka_replica.stores import Snapshot

_WRITING, _DELETING = "writing a value of any size", "deleting a value of any size"


class VersionSource(Protocol):
    """The part of a replica that a writer of large values needs."""

    def wait_for(self, positions: Mapping[Partition, int], timeout_s: float | None = None) -> Snapshot:
        """Wait for a version that includes the records below these offsets; return it, or a newer one."""
        ...


class LargeValueTransaction:
    """An open transaction that accepts values of any size.

    Args:
        transaction: an open transaction; it may also be written to directly.
        snapshot: a version of its topic, which determines the chunks to delete. If others have written since then, some
            unneeded chunks remain (``orphaned_chunks``); readers are not affected.
        chunk_bytes: the size of a chunk in bytes; smaller values are written unchanged.
    """

    def __init__(self, transaction: Transaction, snapshot: Snapshot, chunk_bytes: int = CHUNK_BYTES) -> None:
        self._transaction = transaction
        self._records = snapshot.records if isinstance(snapshot, LargeValueSnapshot) else snapshot
        self._chunk_bytes = chunk_bytes
        self._manifests: dict[bytes, Manifest | None] = {}

    def __repr__(self) -> str:
        return f"<LargeValueTransaction, {self._transaction!r}>"

    @property
    def committed(self) -> CommittedTransaction:
        """The result, filled in when the transaction is committed; it counts each chunk as a record."""
        return self._transaction.committed

    def put(self, key: Key, value: bytes, headers: Headers = ()) -> None:
        """Write a value.

        Raises:
            UsageError: the key or a header is reserved for large values.
            PublishError: a record cannot be sent.
        """
        self._write(checked_key(key, _WRITING), value, headers)

    def delete(self, key: Key, headers: Headers = ()) -> None:
        """Delete a key and its chunks. Raises the errors of :meth:`put`."""
        self._write(checked_key(key, _DELETING), None, headers)

    def _write(self, key: bytes, value: bytes | None, headers: Headers) -> None:
        parts = split(key, value, self._previous(key), headers=headers, chunk_bytes=self._chunk_bytes)
        for record in parts.records:
            if record.value is None:
                self._transaction.delete(record.key, record.headers)
            else:
                self._transaction.put(record.key, record.value, record.headers)
        self._manifests[key] = parts.manifest

    def _previous(self, key: bytes) -> Manifest | None:
        if key in self._manifests:
            return self._manifests[key]
        record = self._records.get(key)
        try:
            return None if record is None else manifest_of(record)
        except BadRecordError:  # writing the key again repairs it
            return None


class LargeValueProducer:
    """A producer of transactions with values of any size, to one topic. Use an instance from one thread only.

    ::

        producer = TransactionalProducer(config, "documents", "documents-1")
        with Replica(config, "documents", large_values=True) as replica:
            large = LargeValueProducer(producer, replica)
            with large.transaction() as transaction:
                transaction.put("report", path.read_bytes())

    Before each transaction, the producer waits until the replica has the previous transaction, so that the chunks of a
    replaced value are deleted. Create the producer before the replica is started: then the replica also has everything
    that an earlier producer with the same transactional id has written.

    Args:
        producer: the producer; it may also be used directly between transactions.
        replica: a replica of the topic. A replica of the manifests only is sufficient:
            ``Replica(config, topic, key_filter=WITHOUT_CHUNKS)``.
        chunk_bytes: the size of a chunk in bytes; smaller values are written unchanged.
        timeout_s: how long to wait for the replica, in seconds.

    Raises:
        ConfigurationError: the size of a chunk is impossible.
    """

    def __init__(
        self,
        producer: TransactionalProducer,
        replica: VersionSource,
        *,
        chunk_bytes: int = CHUNK_BYTES,
        timeout_s: float = 60.0,
    ) -> None:
        if chunk_bytes < 1:
            raise ConfigurationError(f"chunk_bytes={chunk_bytes} is not possible; it is a number of bytes, 1 or more")
        self._producer, self._replica = producer, replica
        self._chunk_bytes, self._timeout_s = chunk_bytes, timeout_s
        self._position = Position()

    def __repr__(self) -> str:
        return f"<LargeValueProducer, {self._producer!r}>"

    @contextmanager
    def transaction(self) -> Iterator[LargeValueTransaction]:
        """Yield a transaction, which is committed at the end of the block, or aborted if the block raises.

        Raises:
            WaitTimeoutError: the replica has not reached the previous transaction in time.
            PublishError: the transaction was not committed; none of its records is visible.
            CommitUnknownError: Kafka did not answer in time; whether the transaction is committed is unknown.
        """
        snapshot = self._snapshot()
        with self._producer.transaction() as transaction:
            yield LargeValueTransaction(transaction, snapshot, self._chunk_bytes)
        self._position = transaction.committed.position or self._position

    def delete_orphans(self) -> int:
        """Delete the chunks that no manifest names, in one transaction; return their number.

        The replica must not filter out chunks. Raises the errors of :meth:`transaction`.
        """
        orphans = list(orphaned_chunks(self._snapshot()))
        if orphans:
            with self._producer.transaction() as transaction:
                for key in orphans:
                    transaction.delete(key)
            self._position = transaction.committed.position or self._position
        return len(orphans)

    def _snapshot(self) -> Snapshot:
        return self._replica.wait_for(self._position, self._timeout_s)
