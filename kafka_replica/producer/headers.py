"""The headers that tell which transaction of the source a record belongs to; see docs/transaction-headers.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from kafka_replica.records import Headers

CONTENT_TYPE: Final = "content-type"
TRANSACTION: Final = "transaction-id"
NUMBER: Final = "transaction-number"
COUNT: Final = "transaction-count"
TIME: Final = "transaction-time-ms"


class TransactionHeaders(NamedTuple):
    """What the headers of a record say."""

    transaction: str
    """Producer and number of the transaction: ``structures/17``."""
    number: int
    """Which record of it this is, from 1 on."""
    records: int
    """How many records it has."""
    time_ms: int
    """When the source recorded it, in ms since 1970-01-01 UTC."""


def written(said: TransactionHeaders) -> Headers:
    """As Kafka carries them: four headers, each of UTF-8 text, numbers as decimals."""
    return (
        (TRANSACTION, said.transaction.encode()),
        (NUMBER, b"%d" % said.number),
        (COUNT, b"%d" % said.records),
        (TIME, b"%d" % said.time_ms),
    )


def of_transaction(said: TransactionHeaders) -> Callable[[int], Headers]:
    """The same for all records of one transaction: a number -> the headers of that record."""
    first, _, *rest = written(said)
    return lambda number: (first, (NUMBER, b"%d" % number), *rest)


def read(headers: Headers) -> TransactionHeaders | None:
    """What they say, or None where one is missing or is not what it should be: somebody else wrote the record."""
    found = dict(headers)
    transaction = found.get(TRANSACTION)
    numbers = [found.get(name) for name in (NUMBER, COUNT, TIME)]
    if transaction is None or not all(text is not None and text.isdigit() for text in numbers):
        return None
    try:
        return TransactionHeaders(transaction.decode(), *(int(text or b"") for text in numbers))
    except ValueError:
        return None
