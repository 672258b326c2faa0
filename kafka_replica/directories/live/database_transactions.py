"""Versions that consist of whole database transactions, as Debezium's transaction topic proves."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from math import inf
from threading import Condition
from types import TracebackType
from typing import Any, Final, Self

from kafka_replica.common.error_causes import copy_of
from kafka_replica.directories.versions.topic_selection import TopicSelection
from kafka_replica.errors import ConfigurationError, KafkaReplicaError, NotReadyError, WaitTimeoutError
from kafka_replica.listeners import Change, Subscription
from kafka_replica.records import Record
from kafka_replica.replica import Replica
from kafka_replica.stores import Snapshot

__all__ = ["DatabaseTransactions"]

_LOOK_EVERY_S: Final = 1.0


class DatabaseTransactions:
    """The newest version of a replica that consists of whole database transactions.

    ::

        replica = Replica(config, topics=["shop.public.orders", "shop.public.items", "shop.transaction"])
        transactions = DatabaseTransactions(replica, "shop.transaction")
        snapshot = transactions.wait_ready(timeout_s=60)
        orders.at(snapshot)["7"], items.at(snapshot)["7"]

    A connector with ``provide.transaction.metadata=true`` writes BEGIN before the events of each database transaction,
    and END after them, to a separate topic with one partition. It writes all records in the order of the database's
    log. If it writes in Kafka transactions (``exactly.once.support=required``), a version has everything that it wrote
    up to some point: whole database transactions if the newest record of the topic is an END. This does not depend on
    ``event_count``, which compaction invalidates.

    Before the first END, during the initial snapshot, there is no such version. The topic proves nothing about a
    connector that does not write in Kafka transactions, about tables of other connectors, or about a table while an
    incremental snapshot reads it: for these, the replica's versions are whole Kafka transactions, as usual. Holding a
    version keeps the records in memory that newer versions replace.

    Args:
        replica: the replica, which must follow the transaction topic and the topics of the tables.
        topic: the transaction topic, ``PREFIX.transaction``.

    Raises:
        ConfigurationError: the replica does not follow the topic, or follows no other topic.
        ReplicaClosedError: the replica was closed.
    """

    def __init__(self, replica: Replica, topic: str) -> None:
        self._topic, self._name = TopicSelection(replica.topics, topic, has_key_spaces=replica.has_key_spaces), topic
        if len(replica.topics) < 2:
            raise ConfigurationError(f"a replica of {topic} alone shows no tables; follow their topics as well")
        self._replica = replica
        self._last: Record | None = None
        self._whole: Snapshot | None = None
        self._followed = -1
        """The number of the newest version that was examined."""
        self._error: KafkaReplicaError | None = None
        self._changed = Condition()
        self._subscription: Subscription = replica.subscribe(self._follow)

    def snapshot(self) -> Snapshot:
        """Return the newest version that consists of whole database transactions, in O(1).

        Raises:
            NotReadyError: there is no such version yet.
            KafkaReplicaError: the topic is not a transaction topic, or has several partitions.
        """
        if self._error is not None:
            raise copy_of(self._error)
        if self._whole is None:
            raise NotReadyError(
                f"no version is known to contain whole database transactions: {self._name} has no END yet, or the "
                "newest "
                "record is a BEGIN; call wait_ready(timeout_s=...)"
            )
        return self._whole

    def wait_ready(self, timeout_s: float | None = None) -> Snapshot:
        """Wait until the replica is ready and there is a version of whole transactions; return it, or a newer one.

        Args:
            timeout_s: the time to wait for both, in seconds; None means no limit.

        Raises:
            WaitTimeoutError: there was no such version in time.
            KafkaReplicaError: the replica failed, or the topic is not a transaction topic.
            ReplicaClosedError: the replica was closed.
        """
        give_up_s = inf if timeout_s is None else time.monotonic() + timeout_s
        ready = self._replica.wait_ready(timeout_s)
        with self._changed:
            # A version that a store has kept may be shown, and followed, before the replica is ready.
            while (self._whole is None or self._followed < ready.version) and self._error is None:
                left_s = give_up_s - time.monotonic()
                if self._subscription.closed:
                    self._replica._check_not_over()  # noqa: SLF001 - of this library
                    raise WaitTimeoutError(f"waiting for a whole database transaction of {self._name}: it was closed")
                if left_s <= 0:
                    raise WaitTimeoutError(f"{self._name} confirmed no whole database transaction within the timeout")
                if not self._changed.wait(min(left_s, _LOOK_EVERY_S)):  # because the end of the replica does not notify
                    self._replica._check_not_over()  # noqa: SLF001 - of this library
        return self.snapshot()

    def close(self) -> None:
        """Stop following the replica. Idempotent."""
        self._subscription.close()
        # In a forked process, the lock may be held by a thread that is not there. Threads that wait look each second.
        if self._changed.acquire(blocking=False):
            try:
                self._changed.notify_all()
            finally:
                self._changed.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        whole = "no version yet" if self._whole is None else f"version {self._whole.version}"
        return f"<DatabaseTransactions of {self._name}: {whole}>"

    def _follow(self, change: Change) -> None:
        try:
            is_whole = self._is_whole(change)
        except KafkaReplicaError as error:
            with self._changed:
                self._error = error.with_traceback(None)
                self._changed.notify_all()
            return
        with self._changed:
            if is_whole:
                self._whole = change.snapshot
            self._followed = change.snapshot.version
            self._changed.notify_all()

    def _is_whole(self, change: Change) -> bool:
        last = self._last = self._newest(change)
        return last is not None and _status(last) == "END"

    def _newest(self, change: Change) -> Record | None:
        """Return the newest record of the topic; normally, only changed records are examined."""
        partitions = sum(partition.topic == self._name for partition in change.snapshot.position)
        if partitions > 1:
            raise KafkaReplicaError(
                f"{self._name} has {partitions} partitions, across which its records have no order; use a topic with "
                "one partition"
            )
        part, last = self._topic.of(change.snapshot), self._last
        records: Iterable[Record]
        if change.initial or change.rebuilt or (last is not None and part.get(last.key) is None):
            records = part.values()
        else:
            touched = (part.get(key) for key in self._topic.keys(change.changed))
            records = [record for record in (last, *touched) if record is not None]
        return max(records, key=lambda record: record.offset, default=None)


def _status(record: Record) -> Any:
    """Return the status of a record: ``"BEGIN"`` or ``"END"``.

    Raises:
        KafkaReplicaError: the record has neither status.
    """
    try:
        event = json.loads(record.value or b"")
        status = event.get("payload", event)["status"]
        if status in {"BEGIN", "END"}:
            return status
        why = f"its status is {status!r}"
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        why = f"{type(error).__name__}: {error}"
    raise KafkaReplicaError(
        f"the record at {record.source}, offset {record.offset} is not a BEGIN or END of a database transaction: "
        f"{why}; "
        "name the transaction topic of Debezium, PREFIX.transaction"
    )
