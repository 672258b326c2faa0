"""Compression of values: only if it helps, in three codecs, and never more than the limit in memory."""

from __future__ import annotations

import gzip
import tracemalloc
from contextlib import suppress
from typing import Literal

import cramjam
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica import ConfigurationError
from kafka_replica.headers import PieceError, Stack
from kafka_replica.headers.pieces import Compression
from support.effort import examples

CODECS: list[Literal["gzip", "zstd", "lz4"]] = ["gzip", "zstd", "lz4"]
LIMIT = 1 << 20


@pytest.mark.parametrize("codec", CODECS)
def test_any_codec_is_read(codec: Literal["gzip", "zstd", "lz4"]) -> None:
    """A reader needs no setting for the codec; headers name it, and the size."""
    value = b'{"name": "value"}' * 100
    sent = Stack([Compression(codec)]).outgoing(b"k", value)
    assert sent.headers == (("content-encoding", codec.encode()), ("uncompressed-size", b"1700"))
    assert len(sent.value or b"") < 200
    assert Stack([Compression()]).incoming(b"k", *sent) == (value, ())


@pytest.mark.parametrize("value", [b"", b"a" * 127, bytes(range(256)), None])
def test_only_values_that_become_smaller_are_compressed(value: bytes | None) -> None:
    """Small or dense values and tombstones pass unchanged, without headers."""
    assert Stack([Compression()]).outgoing(b"k", value) == (value, ())


def test_the_headers_count() -> None:
    """A compressed value is never larger in the log, its headers included."""
    for size in range(0, 400, 3):
        sent = Stack([Compression(min_bytes=0)]).outgoing(b"k", b"ab" * size)
        own = sum(len(name) + len(content or b"") for name, content in sent.headers)
        assert len(sent.value or b"") + own <= 2 * size


@pytest.mark.thorough
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("states_size", [True, False])
def test_a_bomb_is_refused(codec: str, states_size: bool) -> None:
    """A value of 64 MiB in a few KB is refused, whatever its headers state, with little more memory than the limit."""
    bomb = bytes(getattr(cramjam, codec).compress(bytes(64 << 20)))
    stack = Stack([Compression(max_bytes=LIMIT)])
    tracemalloc.start()
    try:
        for size in [b"67108864", b"1048576"] if states_size else [None]:
            headers = [("content-encoding", codec.encode()), *([] if size is None else [("uncompressed-size", size)])]
            with pytest.raises(PieceError, match=r"'compression' refused it: its value .*1,048,576"):
                stack.incoming(b"k", bomb, headers)
        assert tracemalloc.get_traced_memory()[1] < 4 * LIMIT
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("size", [0, 1, 5000, LIMIT - 1, LIMIT])
def test_values_of_other_programs_are_read(size: int) -> None:
    """A value with ``content-encoding`` alone is read up to the limit."""
    stack = Stack([Compression(max_bytes=LIMIT)])
    assert stack.incoming(b"k", gzip.compress(bytes(size), mtime=0), [("content-encoding", b"gzip")]) == (
        bytes(size),
        (),
    )


@pytest.mark.parametrize(
    ("value", "headers", "says"),
    [
        (b"x", [("content-encoding", b"br")], "codec 'br' is unknown; known are gzip, lz4, zstd"),
        (b"x", [("content-encoding", None)], "codec '' is unknown"),
        (b"x", [("content-encoding", b"gzip"), ("content-encoding", b"gzip")], "no codec, or several"),
        (b"x", [("content-encoding", b"gzip"), ("#2", b"gzip")], "no codec, or several"),
        (b"x", [("uncompressed-size", b"1")], "no codec, or several"),
        (b"x", [("content-encoding", b"zstd")], "cannot be decompressed"),
        (b"", [("content-encoding", b"zstd"), ("uncompressed-size", b"1")], "cannot be decompressed|0 bytes"),
        (
            gzip.compress(b"abc", mtime=0),
            [("content-encoding", b"gzip"), ("uncompressed-size", b"4")],
            "3 bytes .* states 4",
        ),
        (
            gzip.compress(b"abc", mtime=0),
            [("content-encoding", b"gzip"), ("uncompressed-size", b"2")],
            "more than 2 bytes",
        ),
        (gzip.compress(b"abc", mtime=0), [("content-encoding", b"gzip"), ("uncompressed-size", b"-3")], "not a number"),
        (
            gzip.compress(b"abc", mtime=0),
            [("content-encoding", b"gzip"), ("uncompressed-size", b"9" * 30)],
            "not a number",
        ),
        (gzip.compress(b"abc", mtime=0)[:-4], [("content-encoding", b"gzip")], "cannot be decompressed"),
        (None, [("content-encoding", b"gzip")], "no value, but headers"),
    ],
)
def test_damaged_records_are_bad(value: bytes | None, headers: list[tuple[str, bytes | None]], says: str) -> None:
    """Values and headers that do not fit give a reason."""
    with pytest.raises(PieceError, match=says):
        Stack([Compression()]).incoming(b"k", value, headers)


@pytest.mark.thorough
@settings(max_examples=examples(300))
@given(value=st.binary(max_size=200), codec=st.sampled_from(CODECS), size=st.none() | st.integers(0, 10**13))
def test_any_bytes_give_a_value_or_a_reason(value: bytes, codec: str, size: int | None) -> None:
    """No bytes and headers raise anything else than the error that names the piece."""
    headers = [("content-encoding", codec.encode()), *([] if size is None else [("uncompressed-size", b"%d" % size)])]
    with suppress(PieceError):
        Stack([Compression(max_bytes=LIMIT)]).incoming(b"k", value, headers)


def test_writers_refuse_the_same_values_as_readers() -> None:
    """A value above the limit, or with such headers already, is refused when it is written."""
    with pytest.raises(PieceError, match="readers accept 200"):
        Stack([Compression(max_bytes=200)]).outgoing(b"k", b"a" * 201)
    with pytest.raises(PieceError, match="already has a header content-encoding"):
        Stack([Compression()]).outgoing(b"k", b"a", [("content-encoding", b"gzip")])
    for arguments in ({"codec": "br"}, {"min_bytes": -1}, {"max_bytes": 0}):
        with pytest.raises(ConfigurationError):
            Compression(**arguments)
