"""The observations: each version of a replica as it came, and the whole log as a plain consumer reads it."""

from __future__ import annotations

from dataclasses import dataclass, field

from confluent_kafka import Consumer, KafkaError, TopicPartition

from kafka_replica import Change, Partition, Replica
from kafka_replica.errors import BrokerUnavailableError
from kafka_replica.headers.transactions import TransactionHeaders, read_transaction_headers


@dataclass(frozen=True, slots=True)
class Version:
    """The changes of one version: values by key, None for a deletion; and the transactions that its records name."""

    changes: dict[str, str | None]
    transactions: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Logged:
    """A record of the log."""

    place: Partition
    offset: int
    key: str
    value: str | None
    transaction_headers: TransactionHeaders | None


class Watch:
    """A replica, and every version of it, from the first on."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.versions: list[Version] = []
        self.conflated = 0
        self._replica = Replica(
            {"bootstrap.servers": bootstrap, "log_level": 0, "reconnect.backoff.max.ms": 500}, topic
        )
        self._replica.subscribe(self._hear, max_pending=1_000_000)
        self._replica.start()

    def finish(self, ends: dict[Partition, int], timeout_s: float) -> dict[str, str]:
        """Wait for these positions; return the last state.

        Raises:
            KafkaReplicaError: the replica did not reach them in time, or failed.
        """
        snapshot = self._replica.wait_for(ends, timeout_s)
        return {key.decode(): (record.value or b"").decode() for key, record in snapshot.items()}

    def close(self) -> None:
        """End the replica after all published versions were received."""
        self._replica.close()

    def _hear(self, change: Change) -> None:
        self.conflated += max(0, change.conflated - 1)
        changes: dict[str, str | None] = {key.decode(): None for key in change.deleted}
        transactions = set()
        for key in change.changed:
            record = change.snapshot[key]
            changes[key.decode()] = (record.value or b"").decode()
            transaction_headers = read_transaction_headers(record.headers)
            if transaction_headers is not None:
                transactions.add(number_of(transaction_headers))
        self.versions.append(Version(changes, transactions))


def number_of(transaction_headers: TransactionHeaders) -> int:
    """Return the number of the transaction in the headers."""
    return int(transaction_headers.transaction.rpartition("/")[2])


def read_log(bootstrap: str, topic: str, ends: dict[Partition, int]) -> list[Logged]:
    """Return every committed record, partition by partition, as a plain consumer sees it.

    Raises:
        BrokerUnavailableError: there was no response.
    """
    reader = Consumer(
        {
            "bootstrap.servers": bootstrap, "group.id": "chaos-log", "isolation.level": "read_committed",
            "enable.auto.commit": False, "enable.partition.eof": True, "auto.offset.reset": "earliest", "log_level": 0,
        }
    )  # fmt: skip
    reader.assign([TopicPartition(place.topic, place.partition, 0) for place in ends])
    found: list[Logged] = []
    todo = set(ends)
    try:
        while todo:
            message = reader.poll(30)
            if message is None:
                raise BrokerUnavailableError(f"reading the log of {topic}: nothing was heard in 30 s")
            error = message.error()
            place = Partition(message.topic() or "", message.partition() or 0)
            if error is None:
                value = message.value()
                transaction_headers = read_transaction_headers(tuple(message.headers() or ()))  # type: ignore[arg-type]
                text = None if value is None else value.decode()
                found.append(
                    Logged(place, message.offset() or 0, (message.key() or b"").decode(), text, transaction_headers)
                )
            elif error.code() == KafkaError._PARTITION_EOF:
                todo.discard(place)
    finally:
        reader.close()
    return sorted(found, key=lambda each: (each.place, each.offset))
