"""The creation of a transaction's records to send: encoded, with headers, and transformed by the header stack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias, cast

from kafka_replica.broker.writing.writer import TransactionalWriter
from kafka_replica.headers import PieceError, Stack
from kafka_replica.headers.transactions import CONTENT_TYPE, TransactionHeaders, transaction_headers_by_number
from kafka_replica.producer.changes.encoding import EncodedValue, Encoder, as_recorded
from kafka_replica.producer.errors import EncodingError
from kafka_replica.producer.outbox.recorded_transactions import Contents, RecordedTransaction
from kafka_replica.producer.relay.identity import Identity
from kafka_replica.producer.relay.steps import Step
from kafka_replica.records import key_text

Header: TypeAlias = tuple[str, str | bytes | None]  # as confluent-kafka types it
OutgoingRecord: TypeAlias = tuple[bytes, bytes | None, list[Header]]
"""Key, value and headers."""


@dataclass(slots=True)
class SentCounts:
    """Counts of a transaction's records: bytes, records, and records that the format cannot represent."""

    size: int = 0
    messages: int = 0
    not_carried: int = 0


class OutgoingRecords:
    """Converts the contents of transactions to the records that are sent.

    Args:
        identity: the producer's identity and topics.
        encoder: converts content to values.
        step: called with the name of each step.
    """

    def __init__(self, identity: Identity, encoder: Encoder, step: Step) -> None:
        self._identity = identity
        self._encoder = encoder
        self._step = step

    def records(
        self, transaction: RecordedTransaction, contents: Contents, counts: SentCounts
    ) -> Iterator[OutgoingRecord]:
        """Yield the keys, values and headers to send, and count them; the counts are complete at the end."""
        name = f"{self._identity.producer_id}/{transaction.tx_id}"
        headers_of = transaction_headers_by_number(
            TransactionHeaders(name, 1, contents.record_count, transaction.recorded_ms)
        )
        types: dict[str, Header] = {}  # few types for many records
        encodes = self._encoder is not as_recorded
        size = messages = 0
        for number, (key, value, content_type) in enumerate(contents.records, 1):
            if encodes and value is not None:
                encoded = self.encode(key, value, content_type)
                if encoded is None:
                    counts.not_carried += 1
                    continue
                value, content_type = encoded  # noqa: PLW2901
            messages += 1
            size += len(key) if value is None else len(key) + len(value)
            if content_type is None:
                yield key, value, [*headers_of(number), *transaction.trace]
            else:
                if content_type not in types:
                    types[content_type] = (CONTENT_TYPE, content_type.encode())
                yield key, value, [types[content_type], *headers_of(number), *transaction.trace]
            if messages == 1:
                self._step("record")
        counts.size, counts.messages = size, messages

    def send_through(self, stack: Stack, writer: TransactionalWriter, records: Iterable[OutgoingRecord]) -> None:
        """Send records after the header stack has transformed them for each topic.

        Raises:
            EncodingError: the header stack refuses a record.
        """
        for key, value, headers in records:
            for topic in self._identity.topics:
                try:
                    outgoing = stack.outgoing(key, value, cast("list[tuple[str, bytes | None]]", headers), topic=topic)
                except PieceError as error:
                    raise EncodingError(
                        f"sending {key_text(key)} to {topic}: the header piece {error.piece!r} refused it: "
                        f"{error.reason}; replace or skip it (kafka-replica producer replace, skip), and resume"
                    ) from error
                writer.send(topic, key, outgoing.value, outgoing.headers)

    def encode(self, key: bytes, value: bytes, content_type: str | None) -> EncodedValue | None:
        """Return content in the producer's format; None if the format cannot represent it.

        Raises:
            EncodingError: the content cannot be read.
        """
        try:
            return self._encoder(key, value, content_type, self._identity.media_type)
        except Exception as error:
            format_name = self._identity.media_type or "its format"
            raise EncodingError(
                f"writing {key_text(key)} as {format_name}: {error}; replace or skip it (kafka-replica producer "
                "replace, skip), and resume"
            ) from error
