"""All pieces, alone and in every order: records return as they were, and no changed byte goes unnoticed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica import ConfigurationError
from kafka_replica.headers import Piece, PieceError, Stack
from kafka_replica.headers.pieces import Compression, ContentType, Encryption, RoutingTrail, Signing, TraceContext
from kafka_replica.records import Headers
from support.effort import examples
from support.headers.sample_stacks import ED25519, HMAC, KEYS, all_pieces, valid_orders

NAMES = st.sampled_from(["mine", "other", "transaction-id", "#7", ""])
HEADERS = st.lists(st.tuples(NAMES, st.none() | st.binary(max_size=6)), max_size=5).map(tuple)
VALUES = st.none() | st.binary(max_size=300) | st.binary(max_size=10).map(lambda data: data * 50)
KEPT = {"content-type", "routing-hop", "traceparent", "tracestate"}  # of pieces whose headers readers see


def foreign(headers: Headers) -> Headers:
    """Return the headers that no piece owns."""
    return tuple(header for header in headers if header[0] not in KEPT)


@pytest.mark.thorough
@pytest.mark.parametrize("number", range(len(all_pieces())))
@settings(max_examples=examples(100))
@given(key=st.binary(max_size=10), value=VALUES, headers=HEADERS, compact=st.booleans())
def test_each_piece_restores_any_record(
    number: int, key: bytes, value: bytes | None, headers: Headers, compact: bool
) -> None:
    """Each piece restores value and headers of any record; tombstones stay tombstones."""
    stack = Stack([all_pieces()[number]], compact_keys=compact)
    sent = stack.outgoing(key, value, headers, topic="t")
    assert sent.headers[: len(headers)] == headers
    assert (sent.value is None) == (value is None)
    received = stack.incoming(key, *sent, topic="t")
    assert received.value == value
    assert received.headers[: len(headers)] == headers
    assert not {name for name, _ in received.headers[len(headers) :]} - KEPT - {"#1", "#6"}


def test_the_number_of_valid_orders() -> None:
    """Content type, compression and encryption have one order; a signature may be anywhere after the content type."""
    # Three values transformed in one order, a signature at one of three places, two annotations anywhere: 3 x 5 x 6.
    assert len(valid_orders()) == 90


@pytest.mark.thorough
@settings(max_examples=examples(300))
@given(order=st.integers(0, 89), key=st.binary(max_size=10), value=VALUES, headers=HEADERS, compact=st.booleans())
def test_pieces_in_any_order_restore_any_record(
    order: int, key: bytes, value: bytes | None, headers: Headers, compact: bool
) -> None:
    """In every possible order all pieces together restore value and headers, whichever form of keys is written."""
    pieces = list(valid_orders()[order])
    sent = Stack(pieces, compact_keys=compact).outgoing(key, value, headers, topic="t")
    assert sent.headers[: len(headers)] == headers
    received = Stack(pieces, compact_keys=not compact).incoming(key, *sent, topic="t")
    assert received.value == value
    assert received.headers[: len(headers)] == headers


@pytest.mark.thorough
def test_every_order_round_trips() -> None:
    """A record and a tombstone are restored in each of the 90 orders."""
    for stack in valid_orders():
        for value in (b'{"a": 1}' * 40, b"", None):
            sent = stack.outgoing(b"k", value, [("mine", b"1"), ("mine", None)], topic="t")
            received = stack.incoming(b"k", *sent, topic="t")
            assert (received.value, foreign(received.headers)) == (value, (("mine", b"1"), ("mine", None)))


@pytest.mark.parametrize("order", range(0, 90, 7))
@settings(max_examples=examples(40))
@given(data=st.data())
def test_tampering_is_noticed(order: int, data: st.DataObject) -> None:
    """A change of key, value, topic, of any owned or covered header, or of which there are, makes a bad record."""
    stack = valid_orders()[order]
    key, topic = b"k", "t"
    value, headers = stack.outgoing(
        key, data.draw(st.none() | st.just(b'{"a": 1}' * 40)), [("mine", b"1")], topic=topic
    )
    at = data.draw(st.integers(0, len(headers) - 1))
    name, content = headers[at]
    changed: Headers = headers
    match data.draw(st.sampled_from(["key", "topic", "value", "no value", "header", "no header", "another header"])):
        case "key":
            key = b"l"
        case "topic":
            topic = "u"
        case "value" if value is not None:
            position = data.draw(st.integers(0, len(value) - 1))
            value = value[:position] + bytes([value[position] ^ 1]) + value[position + 1 :]
        case "no value" if value is not None:
            value = None
        case "header" if name not in KEPT - {"content-type"}:
            changed = (*headers[:at], (name, (content or b"") + b"!"), *headers[at + 1 :])
        case "no header" if name not in KEPT - {"content-type"}:
            changed = headers[:at] + headers[at + 1 :]
        case "another header" if name not in KEPT - {"content-type"}:
            changed = (*headers, (name, content))
        case _:
            return
    with pytest.raises(PieceError):
        stack.incoming(key, value, changed, topic=topic)


def test_a_codec_cannot_be_taken_off_signed_bytes() -> None:
    """Signed compressed bytes without their codec's header are refused, although the signed bytes are the same."""
    stack = Stack([Compression(min_bytes=0), Signing(HMAC)])
    value, headers = stack.outgoing(b"k", b"a" * 500)
    left = tuple(header for header in headers if header[0] == "record-signature")
    with pytest.raises(PieceError, match="'signing' refused it: its signature with the key hmac-1 does not match"):
        stack.incoming(b"k", value, left)


def test_different_stacks_read_each_other() -> None:
    """Headers of pieces that a reader lacks pass, as far as the value does not need them."""
    types = ContentType({"application/json": bytes}, default="application/json")
    writers = [
        Stack([types, Signing(HMAC)]),
        Stack([Signing(HMAC), RoutingTrail("p")], compact_keys=True),
        Stack([Signing(HMAC, headers=["mine"], bind_topic=True), TraceContext()]),
    ]
    readers = [Stack([Signing(accepts=[HMAC])]), Stack([RoutingTrail(), Signing(ED25519, accepts=[HMAC])])]
    for writer in writers:
        sent = writer.outgoing(b"k", b"1", [("mine", b"x")], topic="t")
        for reader in readers:
            received = reader.incoming(b"k", *sent, topic="t")
            assert (received.value, received.headers[0]) == (b"1", ("mine", b"x"))
    # A reader that acts on the content type demands that the signature covers it.
    reader = Stack([types, Signing(HMAC)])
    assert reader.incoming(b"k", *writers[0].outgoing(b"k", b"1")).value == b"1"
    with pytest.raises(PieceError, match="it does not protect the header content-type"):
        reader.incoming(b"k", *writers[1].outgoing(b"k", b"1", topic="t"))


@pytest.mark.parametrize(
    ("pieces", "says"),
    [
        ([Encryption(KEYS), Compression()], "'compression' cannot be used here"),
        ([Compression(), ContentType({"a/b": bytes})], "'content type' cannot be used here"),
        ([Signing(HMAC), ContentType({"a/b": bytes})], "'content type' cannot come after 'signing'"),
        ([Signing(HMAC, headers=["traceparent"]), TraceContext()], "reads the header 'traceparent', which"),
        ([Encryption(KEYS, headers=["routing-hop"]), RoutingTrail("p")], "reads the header 'routing-hop', which"),
        ([Signing(HMAC), Signing(ED25519)], "two pieces have the name 'signing'"),
    ],
)
def test_orders_that_cannot_work_are_refused(pieces: list[Piece], says: str) -> None:
    """The error names the pieces, and how to place them."""
    with pytest.raises(ConfigurationError, match=says):
        Stack(pieces)


def test_identities_have_no_secrets() -> None:
    """The identity and repr of stacks and keys show ids, and no key material."""
    for stack in valid_orders()[:5]:
        shown = f"{stack.identity} {stack!r} {KEYS!r} {HMAC!r} {ED25519!r}"
        assert "aes-1" in shown
        for secret in (bytes(range(32)), bytes(range(1, 33)), bytes(range(2, 34))):
            assert repr(secret)[2:20] not in shown
            assert secret.hex()[:8] not in shown
