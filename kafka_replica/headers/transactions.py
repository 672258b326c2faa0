"""The headers that tell which transaction of the source a record belongs to; see docs/transaction-headers.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from kafka_replica.records import Headers, Stored

CONTENT_TYPE: Final = "content-type"
TRANSACTION: Final = "transaction-id"
NUMBER: Final = "transaction-number"
COUNT: Final = "transaction-count"
TIME: Final = "transaction-time-ms"
_DIGITS: Final = 18  # of a number, at most


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


def _numbered(number: int) -> tuple[str, bytes]:
    return NUMBER, b"%d" % number


_NUMBERED = tuple(map(_numbered, range(1000)))  # the same in every transaction


def of_transaction(said: TransactionHeaders) -> Callable[[int], Headers]:
    """The same for all records of one transaction: a number -> the headers of that record."""
    first, _, count, time = written(said)
    ready = _NUMBERED
    return lambda number: (first, ready[number] if number < len(ready) else _numbered(number), count, time)


def read(headers: Headers) -> TransactionHeaders | None:
    """What they say, or None where one is missing or is not what it should be: somebody else wrote the record."""
    found = dict(headers)
    transaction = found.get(TRANSACTION)
    numbers = [found.get(name) for name in (NUMBER, COUNT, TIME)]
    if transaction is None or not all(text is not None and text.isdigit() and len(text) <= _DIGITS for text in numbers):
        return None
    try:
        return TransactionHeaders(transaction.decode(), *(int(text or b"") for text in numbers))
    except ValueError:
        return None


def origins_of(records: Iterable[Stored], transactions: int | None) -> tuple[TransactionHeaders, ...]:
    """The transactions of the source that records come from, each once, by the headers of one of its records.

    Args:
        records: those of one version, tombstones included.
        transactions: how many Kafka transactions they are of. One costs a look at one record.
    """
    found: dict[bytes, TransactionHeaders] = {}
    for record in records:
        headers = record[4]
        name = next((value for header, value in headers if header == TRANSACTION), None)
        if name is not None and name not in found:
            said = read(headers)
            if said is not None:
                found[name] = said
        if transactions == 1:
            break
    return tuple(found.values())
