"""Transaction headers match docs/transaction-headers.md byte by byte."""

from __future__ import annotations

import re

import pytest

from kafka_replica.headers import transactions as headers
from kafka_replica.records import Headers
from support.doc_blocks import programs

SAID = headers.TransactionHeaders("structures/17", 2, 3, 1795291687184)


def as_kafka_writes_them(written: Headers) -> bytes:
    """Return the headers in record format 2, where lengths below 64 take one byte each."""
    parts = [bytes([2 * len(written)])]
    for name, value in written:
        assert value is not None
        parts += [bytes([2 * len(name)]), name.encode(), bytes([2 * len(value)]), value]
    return b"".join(parts)


@pytest.mark.runs("docs/transaction-headers.md", language="text")
def test_the_page_shows_the_bytes() -> None:
    """The hexadecimal example of the page equals the bytes written."""
    [block] = programs("docs/transaction-headers.md", language="text")
    shown = bytes.fromhex("".join(re.split(r"  +", line)[0] for line in block.splitlines()))
    assert shown == as_kafka_writes_them(headers.write_transaction_headers(SAID))


@pytest.mark.runs("docs/transaction-headers.md", language="python")
def test_the_example_of_the_page_runs() -> None:
    """The Python example of the page runs as it is written there."""
    [example] = programs("docs/transaction-headers.md", language="python")
    exec(compile(example, "docs/transaction-headers.md", "exec", dont_inherit=True), {})


def test_reading_inverts_writing_and_ignores_foreign_headers() -> None:
    """Foreign headers next to the package's do no harm; with a missing or odd header they are not the package's."""
    written = headers.write_transaction_headers(SAID)
    assert headers.transaction_headers_by_number(SAID)(2) == written
    assert headers.read_transaction_headers((("content-type", b"x"), *written, ("other", None))) == SAID
    assert headers.read_transaction_headers((*written, (headers.NUMBER, b"3"))) == SAID._replace(number=3)
    for left_out in range(4):
        assert headers.read_transaction_headers(written[:left_out] + written[left_out + 1 :]) is None


@pytest.mark.parametrize("value", [None, b"", b"-1", b"1.0", b" 1", b"\xd9\xa1", b"+1", b"9" * 400])
def test_an_invalid_number_gives_none(value: bytes | None) -> None:
    """A number that the page does not allow gives None and no exception."""
    for name in (headers.NUMBER, headers.COUNT, headers.TIME):
        odd = tuple((each, value if each == name else text) for each, text in headers.write_transaction_headers(SAID))
        assert headers.read_transaction_headers(odd) is None
    assert (
        headers.read_transaction_headers(((headers.TRANSACTION, b"\xff"), *headers.write_transaction_headers(SAID)[1:]))
        is None
    )
