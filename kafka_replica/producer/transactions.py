"""Transactions of keys and values: all of one becomes visible at once, or none of it.

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
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kafka_replica.broker.admin.topics import Topics
from kafka_replica.broker.writing.writer import TransactionalWriter
from kafka_replica.common.secret_values import hide_secrets
from kafka_replica.common.wording import counted
from kafka_replica.errors import BrokerUnavailableError, CommitUnknownError, KafkaReplicaError, WaitTimeoutError
from kafka_replica.producer.names import topic_names
from kafka_replica.records import Headers, Key, Position, key_bytes

_ANSWER_S = 5.0
_LOOK_EVERY_S = 0.005


@dataclass(slots=True)
class Committed:
    """What became of a transaction; filled in when it was committed."""

    records: int = 0
    """How many were put and deleted; each is in all of the topics."""
    tombstones: int = 0
    position: Position | None = None
    """For each partition written, the offset after the last record; None while not committed."""

    def summary(self) -> str:
        """Return how many records there are, and how many of them are tombstones, if any."""
        deleted = f", {counted(self.tombstones, 'tombstone')} among them" if self.tombstones else ""
        return f"{counted(self.records, 'record')}{deleted}"


class Transaction:
    """An open transaction: what is put and deleted in it, in this order; of several topics, in each of them."""

    def __init__(self, writer: TransactionalWriter, topic: str) -> None:
        self._writer = writer
        self._topics = topic_names(topic)
        self.committed = Committed()

    def __repr__(self) -> str:
        state = "open or aborted" if self.committed.position is None else "committed"
        return f"<Transaction to {', '.join(self._topics)}, {state}, {self.committed.summary()}>"

    def put(self, key: Key, value: bytes, headers: Headers = ()) -> None:
        """Writes a record.

        Raises:
            PublishError: it cannot be sent.
        """
        self._send(key_bytes(key), value, headers)

    def delete(self, key: Key, headers: Headers = ()) -> None:
        """Writes a tombstone.

        Raises:
            PublishError: it cannot be sent.
        """
        self._send(key_bytes(key), None, headers)
        self.committed.tombstones += 1

    def _send(self, key: bytes, value: bytes | None, headers: Headers) -> None:
        for topic in self._topics:
            self._writer.send(topic, key, value, headers)
        self.committed.records += 1


class TransactionalProducer:
    """Writes whole transactions to one topic, or each to all of several. For one thread.

    Args:
        config: librdkafka's properties as they are; ``bootstrap.servers`` at least.
        topic: where to; several as ``FOO,BAR`` or a sequence of names.
        transactional_id: who writes. Kafka fences: an older producer of the same id is locked out, and
            what it left open is aborted.
        timeout_s: how long one step may take.

    Raises:
        ConfigurationError: no topic is named.
        BrokerError: the transactional id could not be taken up.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        topic: str | Sequence[str],
        transactional_id: str,
        *,
        timeout_s: float = 30.0,
    ) -> None:
        config = hide_secrets(config)
        self._config = config
        self._topic = ",".join(topic_names(topic))
        self._timeout_s = timeout_s
        self._writer = TransactionalWriter(config, transactional_id, timeout_s)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._writer.transactional_id} to {self._topic}>"

    @cached_property
    def _topics(self) -> Topics:
        return Topics(self._config)  # a connection of its own, for those who ask

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """A transaction: committed at the end of the block, aborted if the block raises.

        Raises:
            PublishError: it was not committed; nothing of it is visible.
            CommitUnknownError: Kafka did not answer in time; whether it is committed is not known.
        """
        self._writer.check_usable()
        self._writer.begin()
        transaction = Transaction(self._writer, self._topic)
        try:
            yield transaction
            transaction.committed.position = Position(self._writer.commit())
        except CommitUnknownError:
            raise  # Kafka may be committing it; aborting is not ours to do any more
        except BaseException:
            with suppress(KafkaReplicaError):  # the first error is the one to tell
                self._writer.abort()
            raise

    def wait_visible(self, committed: Committed, timeout_s: float = 10.0) -> None:
        """Waits until readers of committed data see a transaction; the commit itself returns earlier.

        Raises:
            WaitTimeoutError: not in time; another producer may hold a transaction open before it.
        """
        if not committed.position:
            return
        give_up_s = time.monotonic() + timeout_s
        reason = "another producer holds a transaction open before it"
        while True:
            try:
                if self._topics.ends(committed.position, min(timeout_s, _ANSWER_S)).stable.dominates(
                    committed.position
                ):
                    return
            except BrokerUnavailableError as error:
                reason = str(error)
            if time.monotonic() > give_up_s:
                raise WaitTimeoutError(
                    f"the transaction is committed ({committed.position}) but was not seen to be visible in "
                    f"{timeout_s} s: " + reason
                )
            time.sleep(_LOOK_EVERY_S)
