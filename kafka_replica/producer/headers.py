"""The headers of transactions as the producer writes them; they are defined in a package that replicas share."""

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
