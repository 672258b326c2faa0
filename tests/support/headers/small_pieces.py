"""Small pieces that show what a stack does with any piece."""

from __future__ import annotations

from kafka_replica.headers import Form, HeaderKey, Piece, PieceInput, PieceOutput, ServiceUnavailableError


class Suffix(Piece):
    """A piece that appends a letter to values, and notes it in a header."""

    def __init__(self, letter: str, identifier: int | None = None) -> None:
        self.name = f"suffix-{letter}"
        self.letter = letter.encode()
        self.keys = (HeaderKey(f"suffix-{letter}", identifier),)

    @property
    def identity(self) -> str:
        """The letter."""
        return self.letter.decode()

    def outgoing(self, record: PieceInput) -> PieceOutput:
        """Append the letter."""
        value = None if record.value is None else record.value + self.letter
        return PieceOutput(value, ((self.keys[0].name, self.letter),))

    def incoming(self, record: PieceInput) -> PieceOutput:
        """Remove the letter, which has to be there."""
        if record.own_headers != ((self.keys[0].name, self.letter),):
            raise ValueError(f"expected one header {self.keys[0].name}")
        if record.value is not None and not record.value.endswith(self.letter):
            raise ValueError("the letter is missing")
        return PieceOutput(None if record.value is None else record.value[:-1], ())


class Hop(Piece):
    """A piece that adds one more header each time, and keeps those that are there."""

    name = "hop"
    keys: tuple[HeaderKey, ...] = (HeaderKey("hop", 0x8000_0001),)
    decides_value = False

    @property
    def identity(self) -> str:
        """An empty text."""
        return ""

    def outgoing(self, record: PieceInput) -> PieceOutput:
        """Add a header."""
        return PieceOutput(record.value, (*record.own_headers, ("hop", b"%d" % len(record.own_headers))))

    def incoming(self, record: PieceInput) -> PieceOutput:
        """Change nothing."""
        return PieceOutput(record.value)


class PlainOnly(Hop):
    """A piece that takes plain values only."""

    name = "plain only"
    keys = ()
    accepts = frozenset({Form.PLAIN})


class Squeeze(Hop):
    """A piece that declares its values to be compressed."""

    name = "squeeze"
    keys = ()
    gives = Form.COMPRESSED


class Unavailable(Hop):
    """A piece whose service does not answer while ``is_away``, or refuses; otherwise records stay as they are.

    Tombstones need the service unless ``only_values`` is set.
    """

    name = "unavailable"
    keys = ()
    is_away = True
    refuses = False
    only_values = False

    def outgoing(self, record: PieceInput) -> PieceOutput:
        """Leave the record as it is."""
        return PieceOutput(record.value)

    def incoming(self, record: PieceInput) -> PieceOutput:
        """Fail while the service is away."""
        if self.is_away and not (self.only_values and record.value is None):
            raise ServiceUnavailableError("the key service does not answer", is_refusal=self.refuses)
        return PieceOutput(record.value and bytes(bytearray(record.value)))  # an equal value, as if it was decrypted
