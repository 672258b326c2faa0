"""The tables: those that structure registries use, and additional tables of the outbox.

``kafka_producer_config``, ``kafka_producer_config_properties``, ``kafka_connection_settings`` and ``kafka_producer_tx``
have the names and columns that structure registries use. Everything else is in separate tables, so that these four stay
compatible. Secrets are never written to any table.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, MetaData, SmallInteger, String, Table, Text

metadata = MetaData()
_ID = String(255)


class Status(IntEnum):
    """The outcome of a recorded transaction: ``kafka_producer_tx.tx_status``."""

    PENDING = 0
    SENT = 1
    """Kafka has acknowledged the commit of the transaction."""
    LOCAL_FAILURE = 2
    """The transaction was never sent."""
    REFUSED = 3
    """Kafka refused the transaction."""
    UNEXPECTED = 4
    """Any other failure; the transaction was not sent, or it is not known whether it has arrived."""
    SKIPPED = 5
    """An operator skipped the transaction: its number is used, and none of its records is sent."""


class TransactionKind(StrEnum):
    """The kind of a recorded transaction."""

    CHANGES = "changes"
    DELETIONS = "deletions"
    FLUSH = "flush"
    """All content as of this transaction, which is read when the transaction is sent."""
    SWEEP = "sweep"
    """Tombstones for the topic's keys without content as of this transaction, determined when it is sent."""


config = Table(
    "kafka_producer_config",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("topic", Text, nullable=False),
    Column("format", Text, nullable=False),
)
properties = Table(
    "kafka_producer_config_properties",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("line_number", Integer, primary_key=True, autoincrement=False),
    Column("property", Text, nullable=False),
)
connection_settings = Table(
    "kafka_connection_settings",
    metadata,
    Column("conn_key", _ID, primary_key=True),
    Column("conn_value", Text, nullable=False),
)
tx = Table(
    "kafka_producer_tx",
    metadata,
    Column("tx_id", BigInteger, primary_key=True, autoincrement=False),
    Column("producer_id", _ID, primary_key=True),
    Column("tx_status", SmallInteger, nullable=False),
    Column("tx_last_updated", BigInteger, nullable=False),
    Column("tx_size", BigInteger, nullable=False),
    Column("tx_messages", Integer, nullable=False),
    Index("kafka_producer_tx_by_producer", "producer_id", "tx_id"),
)

detail = Table(
    "kafka_producer_tx_detail",
    metadata,
    Column("producer_id", _ID, primary_key=True),
    Column("tx_id", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", String(16), nullable=False),
    Column("recorded_ms", BigInteger, nullable=False),
    Column("error", Text),
    Column("traceparent", Text),
    Column("tracestate", Text),
)
"""The attributes of a transaction for which ``kafka_producer_tx`` has no column."""

change = Table(
    "kafka_producer_tx_change",
    metadata,
    Column("producer_id", _ID, primary_key=True),
    Column("tx_id", BigInteger, primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("key_hash", LargeBinary(32), nullable=False),
    Column("record_key", LargeBinary, nullable=False),
    Column("record_value", LargeBinary),
    Column("content_type", Text),
    Column("content_hash", LargeBinary(32)),
    Index("kafka_producer_tx_change_by_key", "producer_id", "key_hash", "tx_id"),
)
"""The records of transactions, in order. A null value is a deletion; the newest row of a key is its present content."""

counter = Table(
    "kafka_producer_counter",
    metadata,
    Column("producer_id", _ID, primary_key=True),
    Column("last_tx_id", BigInteger, nullable=False),
)
"""The last assigned number. Concurrent recording transactions of one producer wait for the lock on its row."""

state = Table(
    "kafka_producer_state",
    metadata,
    Column("producer_id", _ID, primary_key=True),
    Column("incarnation", String(32), nullable=False),
    Column("mode", String(16), nullable=False),
    Column("reason", Text),
    Column("transactional_id", _ID),
    Column("sent_tx_id", BigInteger, nullable=False),
    Column("progress_offset", BigInteger),
    Column("not_carried", BigInteger, nullable=False),
    Column("request_count", BigInteger, nullable=False),
    Column("cleaned_tx_id", BigInteger, nullable=False, server_default="0"),
    Column("former_incarnations", Text),
)
"""The producer's mode, the number up to which Kafka has acknowledged transactions, and the progress of clean-up.

``former_incarnations`` has the earlier incarnations, separated by blanks, until a transaction of the present one is
marked as sent.

Recording never locks this row, so that commands and starting instances do not wait for open recording transactions.
"""

lease = Table(
    "kafka_producer_lease",
    metadata,
    Column("producer_id", _ID, primary_key=True),
    Column("owner", Text),
    Column("term", BigInteger, nullable=False),
    Column("beat", BigInteger, nullable=False),
)
"""The instance that publishes, which increases ``beat`` as a sign of life; no clocks are compared."""

database = Table(
    "kafka_producer_database",
    metadata,
    Column("row_number", SmallInteger, primary_key=True, autoincrement=False),
    Column("database_id", String(32), nullable=False),
    Column("default_producer_id", _ID, nullable=False),
    Column("location", Text),
)
"""A single row with the identity of this database, and its location when its producer last published."""

amendment = Table(
    "kafka_producer_tx_amendment",
    metadata,
    Column("producer_id", _ID, primary_key=True),
    Column("tx_id", BigInteger, primary_key=True, autoincrement=False),
    Column("request", Integer, primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("action", String(16), nullable=False),
    Column("requested_ms", BigInteger, nullable=False),
    Column("applied_ms", BigInteger),
    Column("reason", Text),
    Column("record_key", LargeBinary),
    Column("record_value", LargeBinary),
    Column("content_type", Text),
    Column("content_hash", LargeBinary(32)),
)
"""Records that an operator skips or replaces in unsent transactions.

``number`` is the number of the record, or 0 for the whole transaction. The content is the replacement until the
amendment is applied, and the original content afterwards.
"""
