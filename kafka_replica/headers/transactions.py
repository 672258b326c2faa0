"""The headers that identify the transaction of the source that wrote a record; see docs/transaction-headers.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from kafka_replica.records import Headers, Stored

__all__ = [
    "TransactionHeaders",
    "read_transaction_headers",
    "transaction_headers_by_number",
    "write_transaction_headers",
]

CONTENT_TYPE: Final = "content-type"
TRANSACTION: Final = "transaction-id"
NUMBER: Final = "transaction-number"
COUNT: Final = "transaction-count"
TIME: Final = "transaction-time-ms"
_DIGITS: Final = 18  # the maximum number of digits of a number


class TransactionHeaders(NamedTuple):
    """The values of a record's transaction headers."""

    transaction: str
    """The producer and the number of the transaction, such as ``structures/17``."""
    number: int
    """The number of the record in the transaction, counted from 1."""
    records: int
    """The number of records in the transaction."""
    time_ms: int
    """The time at which the source recorded the transaction, in ms since 1970-01-01 UTC."""


def write_transaction_headers(values: TransactionHeaders) -> Headers:
    """Return the values as four Kafka headers in UTF-8, with numbers in decimal digits."""
    return (
        (TRANSACTION, values.transaction.encode()),
        (NUMBER, b"%d" % values.number),
        (COUNT, b"%d" % values.records),
        (TIME, b"%d" % values.time_ms),
    )


def _numbered(number: int) -> tuple[str, bytes]:
    return NUMBER, b"%d" % number


_NUMBERED = tuple(map(_numbered, range(1000)))  # the same headers in every transaction


def transaction_headers_by_number(values: TransactionHeaders) -> Callable[[int], Headers]:
    """Return a function from the number of a record in the transaction to the headers of this record."""
    first, _, count, time = write_transaction_headers(values)
    ready = _NUMBERED
    return lambda number: (first, ready[number] if number < len(ready) else _numbered(number), count, time)


def read_transaction_headers(headers: Headers) -> TransactionHeaders | None:
    """Return the values of the four headers; None if one is missing or invalid, because another program wrote it."""
    found = dict(headers)
    transaction = found.get(TRANSACTION)
    numbers = [found.get(name) for name in (NUMBER, COUNT, TIME)]
    if transaction is None or not all(text is not None and text.isdigit() and len(text) <= _DIGITS for text in numbers):
        return None
    try:
        return TransactionHeaders(transaction.decode(), *(int(text or b"") for text in numbers))
    except ValueError:
        return None


def origins_of(
    records: Iterable[Stored], transactions: int | None, is_chunk: Callable[[bytes], bool]
) -> tuple[TransactionHeaders, ...]:
    """Return the distinct transactions of the source that wrote records, each from the headers of one of its records.

    If a record has several headers of one name, the last one counts, as in ``read_transaction_headers``.

    Args:
        records: the records of a version, including tombstones.
        transactions: the number of Kafka transactions that wrote the records; None if it is unknown. If it is 1, the
            records after the first one that has headers and is not a chunk are not read.
        is_chunk: returns whether a key is that of a chunk of a large value; chunks have no transaction headers.
    """
    found: dict[bytes, TransactionHeaders] = {}
    for record in records:
        headers = record[4]
        if not headers:
            continue
        if transactions == 1 and is_chunk(record[0]):
            continue
        name = next((value for header, value in reversed(headers) if header == TRANSACTION), None)
        if name is not None and name not in found:
            values = read_transaction_headers(headers)
            if values is not None:
                found[name] = values
        if transactions == 1:
            break
    return tuple(found.values())
