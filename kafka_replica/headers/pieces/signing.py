"""The piece that signs records, and refuses those whose signature is missing or wrong."""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from collections.abc import Iterable
from typing import Literal

from kafka_replica.errors import ConfigurationError
from kafka_replica.headers.pieces.protection import Protection, parse_statement
from kafka_replica.headers.pieces.signing_keys import SigningKey, VerifyingKey
from kafka_replica.headers.stacks.header_keys import assigned_key
from kafka_replica.headers.stacks.piece import PieceInput, PieceOutput

_KEY = assigned_key("record-signature")


class Signing(Protection):
    """A signature of the record's key, value (or its absence) and headers, in the header ``record-signature``.

    A signed record cannot be written under another key or, with ``bind_topic``, to another topic. The signature covers
    the value that the piece receives: after ``Compression`` the compressed bytes, before it the plain bytes. It always
    covers the headers that describe the transformations by earlier pieces, such as ``content-encoding``. It does not
    show that a record is the newest of its key: an old record can be written again with its signature.

    Keys can be rotated without downtime: add the new key to ``accepts`` of all readers, then sign with it, and remove
    the old key when the topic has no more records signed with it. ``protection`` describes the canonical form.

    Args:
        key: the key for signing, whose signatures are also accepted; None for readers that only verify.
        accepts: further keys whose signatures are accepted.
        headers: the names of further headers to cover.
        bind_topic: whether to cover the topic, too; copies of records in a topic of another name are then refused.
        unsigned: ``"refuse"`` makes a record without a signature bad, even a tombstone; ``"accept"`` lets it pass, for
            the time until all producers sign.

    Raises:
        ConfigurationError: no key is given, two keys have the same id, or ``key`` cannot sign.
    """

    name = "signing"
    keys = (_KEY,)
    purpose = b"kafka_replica record-signature 1"

    def __init__(
        self,
        key: SigningKey | None = None,
        *,
        accepts: Iterable[VerifyingKey] = (),
        headers: Iterable[str] = (),
        bind_topic: bool = False,
        unsigned: Literal["refuse", "accept"] = "refuse",
    ) -> None:
        super().__init__(headers, bind_topic)
        if unsigned not in {"refuse", "accept"}:
            raise ConfigurationError(f"unsigned={unsigned!r} is not possible; use 'refuse' or 'accept'")
        if key is not None and not isinstance(key, SigningKey):
            raise ConfigurationError(f"{key!r} cannot sign; give key= one that can, or accepts=[...] to verify only")
        known = [*([] if key is None else [key]), *accepts]
        self._key = key
        self._unsigned = unsigned
        self._accepted = {each.key_id: each for each in known}
        if not known or len(self._accepted) < len(known):
            raise ConfigurationError("signing needs at least one key, and each has an id of its own")

    @property
    def _keys_identity(self) -> str:
        known = sorted(f"{key.algorithm}:{key.key_id}" for key in self._accepted.values())
        return f"{','.join(known)}; unsigned {self._unsigned}"

    def outgoing(self, record: PieceInput) -> PieceOutput:
        """Add the signature."""
        key = self._key
        if key is None:
            raise ConfigurationError("this stack can only verify: give Signing a key to sign with")
        statement = self.make_statement(record, key.algorithm, key.key_id)
        signature = b64encode(key.sign(self.canonical_form(record, statement, record.value)))
        return PieceOutput(record.value, ((_KEY.name, statement.text().encode() + b";" + signature),))

    def incoming(self, record: PieceInput) -> PieceOutput:
        """Verify the signature, and remove it."""
        if not record.own_headers and self._unsigned == "accept":
            return PieceOutput(record.value)
        if len(record.own_headers) != 1:
            raise ValueError("it has several signatures" if record.own_headers else "it is not signed")
        stated, _, encoded = (record.own_headers[0][1] or b"").rpartition(b";")
        statement = parse_statement(stated)
        key = self._accepted.get(statement.key_id)
        if key is None:
            raise ValueError(f"it is signed with the key {statement.key_id!r}, which is not accepted")
        if key.algorithm != statement.algorithm:
            raise ValueError(f"key {key.key_id} is for {key.algorithm}, and the signature states another algorithm")
        self.check_statement(statement)
        try:
            signature = b64decode(encoded, validate=True)
        except binascii.Error as error:
            raise ValueError("its signature is not in base64") from error
        if not key.verify(signature, self.canonical_form(record, statement, record.value)):
            raise ValueError(f"its signature with the key {key.key_id} does not match its key, value or headers")
        return PieceOutput(record.value, ())
