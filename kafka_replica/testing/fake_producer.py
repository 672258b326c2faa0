"""A producer for code under test, which is real except that it writes to memory."""

from __future__ import annotations

from kafka_replica.broker.writing.header_names import check_sendable
from kafka_replica.broker.writing.writer import TransactionalWriter
from kafka_replica.errors import (
    BrokerError,
    BrokerUnavailableError,
    CommitUnknownError,
    KafkaReplicaError,
    PublishError,
    WaitTimeoutError,
)
from kafka_replica.headers import Stack
from kafka_replica.producer import CommittedTransaction, PublishUnavailableError, TransactionalProducer
from kafka_replica.records import Headers, Partition, Position
from kafka_replica.testing.fake_identities import FakeIdentities
from kafka_replica.testing.fake_transaction import FakeTransaction

_FENCED = (
    "another producer has acquired the transactional id {}; give each producer its own id, and continue with a new "
    "producer"
)


class _FakeWriter(TransactionalWriter):
    """The implementation of ``TransactionalWriter`` for fake topics."""

    def __init__(self, identities: FakeIdentities, transactional_id: str) -> None:
        self.usable = True
        cluster = identities.cluster
        self._cluster = cluster
        self._transactional_id = transactional_id
        with cluster.changed:
            cluster.check()
            self._identity = identities.initialise(transactional_id)
            self._term = self._identity.term
        self._transaction: FakeTransaction | None = None
        self._queued: list[tuple[str, bytes, bytes | None, Headers]] = []
        """The records of the open transaction that no broker has acknowledged."""

    @property
    def transactional_id(self) -> str:
        """The transactional id of the producer."""
        return self._transactional_id

    @property
    def must_renew(self) -> bool:
        """False: requests to fake topics are never repeated."""
        return False

    def begin(self) -> None:
        """Begin a transaction."""
        with self._cluster.changed:
            if self._is_fenced:
                raise BrokerError(f"beginning a transaction: {self._fenced}")
            self.abort()  # aborts a transaction that was left open while the broker was unavailable
            self._transaction, self._queued = FakeTransaction(self._cluster, self._identity, None), []

    def send(self, topic: str, key: bytes, value: bytes | None, headers: Headers) -> None:
        """Write a record in the open transaction.

        Raises:
            RecordNotSentError: the name of a header is not UTF-8.
        """
        check_sendable(topic, key, headers)
        with self._cluster.changed:
            if self._transaction is None or not self._transaction.is_open:
                return  # because the producer was fenced, which commit() reports
            if self._queued or isinstance(self._cluster.failure, BrokerUnavailableError):
                self._queued.append((topic, key, value, headers))
            else:
                _write(self._transaction, topic, key, value, headers)

    def commit(self) -> dict[Partition, int]:
        """Commit the transaction; return the offset after its last record in each partition."""
        with self._cluster.changed:
            if self._is_fenced or self._transaction is None:
                raise PublishError(f"committing the transaction: {self._fenced}")
            if self._queued and isinstance(self._cluster.failure, BrokerUnavailableError):
                raise PublishUnavailableError(f"sending records to {self._queued[0][0]}: {self._cluster.failure}")
            for record in self._queued:
                _write(self._transaction, *record)
            self._queued = []
            try:
                self._cluster.check()
            except BrokerUnavailableError as error:
                self.usable = False
                raise CommitUnknownError(
                    f"committing the transaction: {error}; it may or may not have been committed: read the topic to "
                    "find "
                    "out, and continue with a new producer of the same transactional id"
                ) from error
            except KafkaReplicaError as error:
                raise PublishError(f"committing the transaction: {error}") from error
            return dict(self._transaction.commit().position or Position())

    def abort(self) -> None:
        """Abort the open transaction, if there is one and the broker is available."""
        with self._cluster.changed:
            if self._transaction is None or not self._transaction.is_open:
                return
            if isinstance(self._cluster.failure, BrokerUnavailableError):
                self._cluster.check()
            self._transaction.abort()

    @property
    def _is_fenced(self) -> bool:
        return self._identity.term != self._term

    @property
    def _fenced(self) -> str:
        return _FENCED.format(self._transactional_id)


def _write(transaction: FakeTransaction, topic: str, key: bytes, value: bytes | None, headers: Headers) -> None:
    if value is None:
        transaction.delete(key, headers, topic=topic)
    else:
        transaction.put(key, value, headers, topic=topic)


class FakeProducer(TransactionalProducer):
    """A producer of transactions to a fake topic; ``FakeTopic.producer`` creates it. Not thread-safe.

    Raises:
        BrokerUnavailableError: the test has made the broker unavailable.
    """

    def __init__(
        self,
        identities: FakeIdentities,
        topic: str,
        transactional_id: str,
        *,
        timeout_s: float = 30.0,
        header_stack: Stack | None = None,
    ) -> None:
        self._header_stack = header_stack
        self._cluster = identities.cluster
        self._topic = topic
        self._timeout_s = timeout_s
        self._writer = _FakeWriter(identities, transactional_id)

    def wait_visible(self, committed: CommittedTransaction, timeout_s: float = 10.0) -> None:
        """Wait until readers of committed data see a transaction, that is, until no earlier transaction is open.

        Raises:
            WaitTimeoutError: the transaction did not become visible within ``timeout_s`` seconds, because an earlier
                transaction is open or the broker is unavailable.
        """
        position = committed.position if committed.is_committed else Position()

        def is_visible() -> bool:
            if isinstance(self._cluster.failure, BrokerUnavailableError):
                return False
            logs = ((self._cluster.log(partition), offset) for partition, offset in position.items())
            return all(log.last_stable_offset >= offset for log, offset in logs)

        with self._cluster.changed:
            if not self._cluster.changed.wait_for(is_visible, timeout_s):
                reason = self._cluster.failure or "another producer holds a transaction open before it"
                raise WaitTimeoutError(
                    f"the transaction is committed ({position}) but did not become visible within {timeout_s} s: "
                    f"{reason}"
                )
