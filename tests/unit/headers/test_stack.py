"""The stack: which orders are possible, whose headers are changed, and what becomes of everything else."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica import ConfigurationError, UsageError
from kafka_replica.headers import (
    PRIVATE,
    PUBLIC,
    RESERVED,
    HeaderKey,
    Piece,
    PieceError,
    PieceInput,
    PieceOutput,
    ServiceUnavailableError,
    Stack,
    compact_key,
    identifier_of,
)
from kafka_replica.headers.stacks.header_keys import ASSIGNED
from support.effort import examples
from support.headers.small_pieces import Hop, PlainOnly, Squeeze, Suffix

FOREIGN = st.lists(
    st.tuples(st.sampled_from(["a", "A", "", "suffix", "#0", "hop2", "é"]), st.none() | st.binary(max_size=4))
)
VALUES = st.none() | st.binary(max_size=20)
LETTERS = st.permutations(["x", "y", "z"])


@pytest.mark.thorough
@settings(max_examples=examples(300))
@given(LETTERS, VALUES, FOREIGN, st.booleans())
def test_other_headers_pass_unchanged(
    letters: list[str], value: bytes | None, headers: list[tuple[str, bytes | None]], compact: bool
) -> None:
    """Headers that no piece owns keep their values, order and duplicates; the mirror restores the record exactly."""
    stack = Stack([Suffix(letter, 0x8000_0100 + ord(letter)) for letter in letters], compact_keys=compact)
    sent = stack.outgoing(b"k", value, headers)
    assert list(sent.headers[: len(headers)]) == headers
    own = [f"#{0x8000_0100 + ord(letter):x}" if compact else f"suffix-{letter}" for letter in letters]
    assert [name for name, _ in sent.headers[len(headers) :]] == own
    assert sent.value == (None if value is None else value + "".join(letters).encode())
    assert stack.incoming(b"k", *sent) == (value, tuple(headers))
    assert stack.incoming("k", sent.value, list(sent.headers)) == (value, tuple(headers))


@pytest.mark.thorough
@settings(max_examples=examples(200))
@given(FOREIGN, FOREIGN, st.booleans())
def test_headers_that_stay_keep_their_places(
    before: list[tuple[str, bytes | None]], after: list[tuple[str, bytes | None]], compact: bool
) -> None:
    """A piece that only adds a header moves no other; its readers see string keys at the same places."""
    stack = Stack([Hop()], compact_keys=compact)
    headers = (*before, ("hop", b"0"), *after, ("#80000001", b"1"))
    assert stack.outgoing(b"k", b"v", headers).headers == (*headers, ("#80000001" if compact else "hop", b"2"))
    assert stack.incoming(b"k", b"v", headers).headers == (*before, ("hop", b"0"), *after, ("hop", b"1"))


@given(st.booleans(), st.booleans())
def test_both_forms_of_keys_are_read(writes: bool, reads: bool) -> None:
    """A stack reads headers in both forms, whichever it writes."""
    one, other = (Stack([Suffix("x", 0x1_0000)], compact_keys=compact) for compact in (writes, reads))
    assert other.incoming(b"k", *one.outgoing(b"k", b"v")) == (b"v", ())


def test_a_failing_piece_is_named() -> None:
    """The error of any piece names the piece and the reason; it survives pickling."""
    with pytest.raises(PieceError, match="header piece 'suffix-x' refused it: expected one header suffix-x") as refused:
        Stack([Suffix("y"), Suffix("x")]).incoming(b"k", b"vy", [("suffix-y", b"y")])
    assert (refused.value.piece, refused.value.reason) == ("suffix-x", "expected one header suffix-x")
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)


class _Odd(Piece):
    """A piece that does what a test says."""

    name = "odd"
    keys = (HeaderKey("odd"),)
    identity = "odd"

    def __init__(self, does: Callable[[PieceInput], PieceOutput]) -> None:
        self.outgoing = self.incoming = does  # type: ignore[method-assign,assignment]

    outgoing = incoming = lambda self, record: PieceOutput(record.value)


def test_a_record_that_cannot_be_written_is_named_with_its_topic() -> None:
    """The error names key and topic as far as they are known, and the next step; it can be pickled."""
    stack = Stack([Refusing()])
    with pytest.raises(PieceError) as refused:
        stack.outgoing(b"A\xff", b"v", topic="t")
    text = (
        r"writing key A\xff to topic t: the header piece 'refusing' refused it: no value for merchant; "
        "correct the record, or the options of the piece"
    )
    assert str(refused.value) == str(pickle.loads(pickle.dumps(refused.value))) == text
    assert (refused.value.piece, refused.value.reason) == ("refusing", "no value for merchant")
    with pytest.raises(
        PieceError, match=r"^writing a record without a key: the header piece 'refusing' refused it: no"
    ):
        stack.outgoing(None, b"v")


class Refusing(Piece):
    """A piece that refuses to write."""

    name = "refusing"
    identity = ""

    def outgoing(self, record: PieceInput) -> PieceOutput:
        """Refuse the record."""
        raise ValueError("no value for merchant")

    def incoming(self, record: PieceInput) -> PieceOutput:
        """Leave the record as it is."""
        return PieceOutput(record.value)


def test_a_key_that_is_not_available_is_no_bad_record() -> None:
    """An outage of a key service passes as it is, so that no good record is set aside for it."""

    def unavailable(record: PieceInput) -> PieceOutput:
        raise ServiceUnavailableError("the key service does not answer")

    with pytest.raises(ServiceUnavailableError):
        Stack([_Odd(unavailable)]).incoming(b"k", b"v")


def test_a_lack_of_memory_is_no_bad_record() -> None:
    """No good record is set aside because the machine has too little memory at the moment."""

    def exhaust(record: PieceInput) -> PieceOutput:
        raise MemoryError

    with pytest.raises(MemoryError):
        Stack([_Odd(exhaust)]).incoming(b"k", b"v")


@pytest.mark.parametrize(
    ("does", "value"),
    [
        (lambda record: PieceOutput(None), b"v"),
        (lambda record: PieceOutput(b"v"), None),
        (lambda record: PieceOutput(record.value, (("another", b""),)), b"v"),
    ],
)
def test_a_piece_that_breaks_the_contract_is_refused(
    does: Callable[[PieceInput], PieceOutput], value: bytes | None
) -> None:
    """A piece can neither delete nor revive a key, nor write a header of another one."""
    with pytest.raises(ConfigurationError, match="header piece 'odd'"):
        Stack([_Odd(does)]).outgoing(b"k", value)


@pytest.mark.parametrize(
    ("pieces", "says"),
    [
        ([Squeeze(), PlainOnly()], "'plain only' cannot be used here: .* plain, and they are compressed"),
        ([Suffix("x"), Suffix("x")], "two pieces have the name 'suffix-x'"),
        ([Suffix("x", 0x8000_0001), Hop()], "'suffix-x' and 'hop' both own the header '#80000001'"),
        ([Hop, Suffix("x")], "is not a piece"),
    ],
)
def test_impossible_stacks_are_refused(pieces: list[Piece], says: str) -> None:
    """A stack that cannot work is refused when it is made."""
    with pytest.raises(ConfigurationError, match=says):
        Stack(pieces)


def test_an_empty_stack() -> None:
    """An empty stack is false, so that it counts as none."""
    assert not Stack()
    assert Stack([Hop()])
    assert Stack().outgoing(b"k", b"v", [("a", b"1")]) == (b"v", (("a", b"1"),))
    assert repr(Stack()) == "<Stack without pieces>"
    assert repr(Stack([Hop(), Suffix("x")])) == "<Stack hop, suffix-x>"


def test_the_identity_has_the_order_and_options() -> None:
    """Stacks of other options or another order have different identities, because they read differently."""
    stacks = [
        Stack([Suffix("x")]),
        Stack([Suffix("y")]),
        Stack([Suffix("x"), Suffix("y")]),
        Stack([Suffix("y"), Suffix("x")]),
    ]
    assert len({stack.identity for stack in stacks}) == 4


@given(st.integers(0, 2**32 - 1))
def test_identifiers_have_one_compact_form(identifier: int) -> None:
    """Each identifier is in one range, and its compact form leads back to it."""
    assert sum(identifier in ids for ids in (RESERVED, PUBLIC, PRIVATE)) == 1
    assert identifier_of(compact_key(identifier)) == identifier


@pytest.mark.parametrize("key", ["", "#", "#01", "#1A", "#100000000", "1", "#1 ", "#g", "signature"])
def test_other_keys_have_no_identifier(key: str) -> None:
    """Only the canonical form is compact; there is one form for each identifier."""
    assert identifier_of(key) is None


@pytest.mark.parametrize(
    ("name", "identifier"), [("", None), ("#1", None), ("mine", 1), ("content-type", 2), ("x", -1), ("x", 2**32)]
)
def test_impossible_header_keys_are_refused(name: str, identifier: int | None) -> None:
    """A name must not look compact, and reserved identifiers belong to this library's own headers."""
    with pytest.raises(UsageError):
        HeaderKey(name, identifier)


def test_assigned_identifiers_differ() -> None:
    """The library's headers have different identifiers, all of them reserved."""
    assert len(set(ASSIGNED.values())) == len(ASSIGNED)
    assert all(identifier in RESERVED for identifier in ASSIGNED.values())
