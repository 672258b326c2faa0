"""The common parts of signing and encryption: the protected headers, their statement, and the canonical form.

A signature or a ciphertext is bound to the record's key, to the headers that determine the meaning of the value, and
optionally to the topic. Their canonical form is a sequence of fields. A field is its length in bytes as an unsigned
32-bit big-endian integer, followed by the bytes; an absent field (null) is the length ``0xffffffff`` alone. The fields
are:

1. the purpose: ``kafka_replica record-signature 1`` or ``kafka_replica record-encryption 1``;
2. the algorithm, and 3. the id of the key, as in the header;
4. the topic, or null if it is not bound;
5. the key of the record, or null;
6. the value that is signed, or null for a tombstone; for encryption always null;
7. for each protected header, in the byte order of their names: its name, the number of its values in decimal digits,
   and each value (or null) in the order of the record. A protected header that the record lacks has the number 0, so
   that it cannot be added later. A header in compact form counts under its string key.

The header of the piece states what is protected. It has five parts, separated by semicolons as in DKIM (RFC 6376,
section 3.5): the version, the algorithm, the key id, ``topic`` or ``-``, and the names of the protected headers,
separated by commas.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from copy import copy
from functools import lru_cache
from typing import Final, NamedTuple, Self

from kafka_replica.errors import ConfigurationError
from kafka_replica.headers.stacks.header_keys import key_named
from kafka_replica.headers.stacks.piece import Piece, PieceInput

_ABSENT: Final = b"\xff\xff\xff\xff"
_KEY_ID: Final = re.compile(r"[A-Za-z0-9._:/-]{1,128}")
_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,128}")
_VERSION: Final = "1"
_MAX_STATEMENT_BYTES: Final = 8192


class Statement(NamedTuple):
    """The statement in a header about a signature or ciphertext: the key, the algorithm, and what is protected."""

    algorithm: str
    key_id: str
    binds_topic: bool
    protected: tuple[str, ...]
    """The string keys of the protected headers, sorted."""

    def text(self) -> str:
        """Return the text of the header."""
        topic = "topic" if self.binds_topic else "-"
        return ";".join((_VERSION, self.algorithm, self.key_id, topic, ",".join(self.protected)))


@lru_cache(maxsize=256)  # because all records of a producer have the same statement
def parse_statement(content: bytes) -> Statement:
    """Return the statement in a header.

    Raises:
        ValueError: the header is not a valid statement.
    """
    if len(content) > _MAX_STATEMENT_BYTES or not content.isascii():
        raise ValueError("its header is not a short ASCII text")
    version, *parts = content.decode().split(";")
    if version != _VERSION or len(parts) != 4:
        raise ValueError(f"its header does not have the form of version {_VERSION}")
    algorithm, key_id, topic, names = parts
    protected = tuple(names.split(",")) if names else ()
    if not _KEY_ID.fullmatch(key_id):
        raise ValueError("its header names an impossible key")
    if (
        topic not in {"topic", "-"}
        or list(protected) != sorted(set(protected))
        or not all(map(_NAME.fullmatch, protected))
    ):
        raise ValueError("its header does not name the topic or the protected headers in the form required")
    return Statement(algorithm, key_id, topic == "topic", protected)


@lru_cache(maxsize=1024)
def _forms(name: str) -> tuple[str, ...]:
    return key_named(name).forms


def check_key_id(key_id: str) -> str:
    """Return the id of a key unchanged, if it is valid.

    Raises:
        ConfigurationError: the id is empty, has more than 128 characters, or has characters other than letters, digits
            and ``._:/-``.
    """
    if not _KEY_ID.fullmatch(key_id):
        raise ConfigurationError(f"{key_id!r} is not an id for a key; use 1 to 128 letters, digits and ._:/-")
    return key_id


def refuse_protection_before(piece: Piece, earlier: Sequence[Piece]) -> None:
    """Check that a piece that converts values does not come after signing or encryption.

    Otherwise readers would verify the signature after the conversion, against the new value.

    Raises:
        ConfigurationError: signing or encryption is closer to the application than the piece.
    """
    for other in earlier:
        if isinstance(other, Protection):
            raise ConfigurationError(f"{piece.name!r} cannot come after {other.name!r}; swap them")


class Protection(Piece):
    """A piece that binds values to their records.

    Args:
        headers: headers to protect, in addition to those that describe the transformations by earlier pieces.
        bind_topic: whether to bind values to the topic, too; copies of records in a topic of another name are then
            refused.
    """

    purpose: bytes

    def __init__(self, headers: Iterable[str], bind_topic: bool) -> None:
        self._protected = self.reads = tuple(sorted(set(headers)))
        self._bind_topic = bind_topic
        self._forms_of_earlier: dict[str, tuple[str, ...]] = {}
        for name in self._protected:
            if not _NAME.fullmatch(name) or name == self.keys[0].name:
                raise ConfigurationError(f"headers={name!r} is not possible; a name has letters, digits and ._-")

    @property
    def identity(self) -> str:
        """The keys and requirements, without secrets."""
        return f"{self._keys_identity}; {','.join(self._protected)}; {'topic' if self._bind_topic else '-'}"

    @property
    @abstractmethod
    def _keys_identity(self) -> str:
        """The keys and policies, as text without secrets."""

    def placed_after(self, earlier: Sequence[Piece]) -> Self:
        """Return a copy that also protects the headers that describe the transformations by earlier pieces.

        Raises:
            ConfigurationError: the name of such a header cannot be written in a statement.
        """
        decisive = {key.name: piece for piece in earlier if piece.decides_value for key in piece.keys}
        for name, piece in decisive.items():
            if not _NAME.fullmatch(name):
                raise ConfigurationError(
                    f"{self.name!r} cannot protect the header {name!r} of {piece.name!r}; use a name of at most 128 "
                    "letters, digits and ._-"
                )
        placed = copy(self)
        placed._protected = tuple(sorted({*self._protected, *decisive}))  # noqa: SLF001 - a copy of this object
        placed._forms_of_earlier = {key.name: key.forms for piece in earlier for key in piece.keys}  # noqa: SLF001
        return placed

    def make_statement(self, record: PieceInput, algorithm: str, key_id: str) -> Statement:
        """Return the statement for a record that is about to be written.

        Raises:
            ValueError: the record has the header of this piece already.
        """
        if record.own_headers:
            raise ValueError(f"the record already has a header {self.keys[0].name}")
        return Statement(algorithm, key_id, self._bind_topic, self._protected)

    def check_statement(self, statement: Statement) -> None:
        """Check that a statement protects at least the required parts.

        Raises:
            ValueError: the topic or a header is not protected.
        """
        if self._bind_topic and not statement.binds_topic:
            raise ValueError("it does not protect the topic")
        missing = [name for name in self._protected if name not in statement.protected]
        if missing:
            raise ValueError(
                f"it does not protect {'the header' if len(missing) == 1 else 'headers'} {', '.join(missing)}"
            )

    def canonical_form(self, record: PieceInput, statement: Statement, value: bytes | None) -> bytes:
        """Return the canonical form of the protected parts of a record, with a value.

        Raises:
            ConfigurationError: the topic is bound, and the caller of the stack did not name it.
        """
        topic = record.topic if statement.binds_topic else None
        if statement.binds_topic and topic is None:
            raise ConfigurationError(f"{self.name} binds the topic; name it: stack.outgoing(..., topic=...)")
        facts = [statement.algorithm.encode(), statement.key_id.encode(), None if topic is None else topic.encode()]
        fields = [self.purpose, *facts, record.key, value]
        for name in statement.protected:
            # Only the stack knows the compact forms of its own pieces' headers.
            forms = self._forms_of_earlier.get(name) or _forms(name)
            values = [content for header, content in record.headers if header in forms]
            fields += [name.encode(), b"%d" % len(values), *values]
        return b"".join([_ABSENT if field is None else len(field).to_bytes(4, "big") + field for field in fields])
