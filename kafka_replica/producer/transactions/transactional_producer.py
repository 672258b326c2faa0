"""Transactions of keys and values: either all records of a transaction become visible together, or none.

::

    producer = TransactionalProducer({"bootstrap.servers": "localhost:9092"}, "sdmx.structures", "registry-1")
    with producer.transaction() as transaction:
        transaction.put(key, value)
        transaction.delete(other_key)
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any

from kafka_replica.broker.admin.topics import Topics
from kafka_replica.broker.writing.writer import TransactionalWriter
from kafka_replica.common.secret_values import hide_secrets
from kafka_replica.common.wording import counted
from kafka_replica.errors import (
    BrokerUnavailableError,
    CommitUnknownError,
    KafkaReplicaError,
    UsageError,
    WaitTimeoutError,
)
from kafka_replica.headers import Stack
from kafka_replica.producer.transactions.keys import checked_key
from kafka_replica.producer.transactions.topic_names import topic_names
from kafka_replica.records import Headers, Key, Position, key_text

_ANSWER_S = 5.0
_POLL_S = 0.005


class CommittedTransaction:
    """The result of a transaction, filled in when it is committed.

    Attributes:
        records: the number of puts and deletions, each of which is written to all topics.
        tombstones: how many of them are deletions.
    """

    __slots__ = ("_position", "records", "tombstones")

    def __init__(self, records: int = 0, tombstones: int = 0, position: Position | None = None) -> None:
        self.records = records
        self.tombstones = tombstones
        self._position = position

    def __repr__(self) -> str:
        state = f"committed at {self._position.summary()}" if self._position is not None else "not committed"
        return f"<{type(self).__name__} {state}, {self.summary()}>"

    @property
    def is_committed(self) -> bool:
        """True from the moment when the commit has returned."""
        return self._position is not None

    @property
    def position(self) -> Position:
        """The offset after the last written record of each partition, as ``Replica.wait_for`` takes it.

        Raises:
            UsageError: the transaction is not committed: it is still open, was aborted, or its outcome is unknown.
        """
        if self._position is None:
            raise UsageError(
                f"a transaction of {self.summary()} has no position, because it is not committed; ask for it after the "
                "end of the `with` block, or check is_committed"
            )
        return self._position

    def commit_at(self, position: Position) -> None:
        """Note that the transaction is committed, and the offset after its last record in each partition."""
        self._position = position

    def summary(self) -> str:
        """Return the number of records, and how many of them are tombstones, if any."""
        deleted = f", {counted(self.tombstones, 'tombstone')} among them" if self.tombstones else ""
        return f"{counted(self.records, 'record')}{deleted}"


class Transaction:
    """An open transaction, which writes puts and deletions, in their order, to each of its topics."""

    def __init__(self, writer: TransactionalWriter, topic: str, header_stack: Stack | None = None) -> None:
        self._writer = writer
        self._header_stack = header_stack or None
        self._topics = topic_names(topic)
        self._doing = f"writing a record to {', '.join(self._topics)}"
        self._is_over = False
        self.committed = CommittedTransaction()

    def __repr__(self) -> str:
        return f"<Transaction to {', '.join(self._topics)}, {self._state}, {self.committed.summary()}>"

    @property
    def _state(self) -> str:
        if self.committed.is_committed:
            return "committed"
        return "not committed" if self._is_over else "open"

    def put(self, key: Key, value: bytes, headers: Headers = ()) -> None:
        """Write a record.

        Raises:
            PieceError: a piece of the header stack refused the record.
            PublishError: the record cannot be sent.
            UsageError: the transaction has ended, or the key is neither text nor bytes.
        """
        self._send(key, value, headers)

    def delete(self, key: Key, headers: Headers = ()) -> None:
        """Write a tombstone.

        Raises:
            PieceError: a piece of the header stack refused the tombstone.
            PublishError: the tombstone cannot be sent.
            UsageError: the transaction has ended, or the key is neither text nor bytes.
        """
        self._send(key, None, headers)
        self.committed.tombstones += 1

    def end(self) -> None:
        """Refuse further records, which would become part of the producer's next transaction. Idempotent."""
        self._is_over = True

    def _send(self, key: Key, value: bytes | None, headers: Headers) -> None:
        raw_key = checked_key(key, self._doing)
        if self._is_over:
            raise UsageError(
                f"writing key {key_text(raw_key)} to {', '.join(self._topics)}: this transaction has ended "
                f"({self._state}); begin a new one"
            )
        for topic in self._topics:
            if self._header_stack is None:
                self._writer.send(topic, raw_key, value, headers)
            else:
                self._writer.send(topic, raw_key, *self._header_stack.outgoing(raw_key, value, headers, topic=topic))
        self.committed.records += 1


class TransactionalProducer:
    """Writes transactions to one topic, or to several topics at once. Use an instance from one thread only.

    Args:
        config: librdkafka's properties, unchanged; ``bootstrap.servers`` at least.
        topic: the topic; several as ``FOO,BAR`` or a sequence of names.
        transactional_id: the identity of the writer. Kafka fences older producers with the same id, and aborts their
            open transactions. After a commit that took 0.4 s or longer, the id is acquired again, which fences all
            other producers with the same id, newer ones included.
        timeout_s: the timeout of one step, in seconds.
        header_stack: transforms values and headers before they are sent; replicas undo this with the same stack.

    Raises:
        ConfigurationError: no topic is named.
        BrokerError: the transactional id could not be initialized.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        topic: str | Sequence[str],
        transactional_id: str,
        *,
        timeout_s: float = 30.0,
        header_stack: Stack | None = None,
    ) -> None:
        config = hide_secrets(config)
        self._config = config
        self._topic = ",".join(topic_names(topic))
        self._timeout_s = timeout_s
        self._header_stack = header_stack
        self._writer = TransactionalWriter(config, transactional_id, timeout_s)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._writer.transactional_id} to {self._topic}>"

    @cached_property
    def _topics(self) -> Topics:
        return Topics(self._config)  # a separate client, created only if offsets are queried

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Yield a transaction, which is committed at the end of the block, or aborted if the block raises.

        Raises:
            PublishError: the transaction was not committed; none of its records is visible. If no broker answered, the
                error is a ``PublishUnavailableError``, which is a ``BrokerUnavailableError`` as well.
            CommitUnknownError: Kafka did not answer in time; whether the transaction is committed is unknown.
        """
        self._writer.check_usable()
        if self._writer.must_renew:
            self._writer.renew()
        self._writer.begin()
        transaction = Transaction(self._writer, self._topic, self._header_stack)
        try:
            yield transaction
            transaction.committed.commit_at(Position(self._writer.commit()))
        except CommitUnknownError:
            raise  # Kafka may be committing; aborting is no longer possible
        except BaseException:
            with suppress(KafkaReplicaError):  # the first error is the one to report
                self._writer.abort()
            raise
        finally:
            transaction.end()

    def wait_visible(self, committed: CommittedTransaction, timeout_s: float = 10.0) -> None:
        """Wait until readers of committed data see a transaction; the commit itself returns earlier.

        Raises:
            WaitTimeoutError: it was not visible in time; another producer may have an open transaction before it.
        """
        if not committed.is_committed or not committed.position:
            return
        give_up_s = time.monotonic() + timeout_s
        reason = "another producer holds a transaction open before it"
        while True:
            try:
                if self._topics.ends(committed.position, min(timeout_s, _ANSWER_S)).last_stable.dominates(
                    committed.position
                ):
                    return
            except BrokerUnavailableError as error:
                reason = str(error)
            if time.monotonic() > give_up_s:
                raise WaitTimeoutError(
                    f"the transaction is committed ({committed.position}) but did not become visible within "
                    f"{timeout_s} s: " + reason
                )
            time.sleep(_POLL_S)
