"""The headers of transactions as the producer writes them; defined where the replica can read them, too."""

from __future__ import annotations

from kafka_replica.headers.transactions import (
    CONTENT_TYPE,
    COUNT,
    NUMBER,
    TIME,
    TRANSACTION,
    TransactionHeaders,
    of_transaction,
    read,
    written,
)

__all__ = [
    "CONTENT_TYPE",
    "COUNT",
    "NUMBER",
    "TIME",
    "TRANSACTION",
    "TransactionHeaders",
    "of_transaction",
    "read",
    "written",
]
