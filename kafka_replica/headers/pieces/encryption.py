"""The piece that encrypts values with AES-256-GCM."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Literal

from kafka_replica.common.cryptography_modules import needed_cryptography
from kafka_replica.errors import ConfigurationError
from kafka_replica.headers.pieces.encryption_keys import KeyProvider
from kafka_replica.headers.pieces.protection import Protection, parse_statement
from kafka_replica.headers.stacks.header_keys import assigned_key
from kafka_replica.headers.stacks.piece import Form, PieceInput, PieceOutput

_KEY = assigned_key("record-encryption")
_ALGORITHM = "aes-256-gcm"
_KEY_BYTES, _NONCE_BYTES, _TAG_BYTES = 32, 12, 16


class Encryption(Protection):
    """Encryption of values with AES-256-GCM (NIST SP 800-38D), described in the header ``record-encryption``.

    A value becomes a random nonce of 12 bytes, the ciphertext, and a tag of 16 bytes. The additional authenticated data
    are the record's key, the headers that describe the transformations by earlier pieces, and optionally the topic, so
    that a ciphertext cannot be written under another key; ``protection`` describes their form. The keys of records,
    headers and the length of values remain readable. A tombstone has no value to encrypt and passes unchanged;
    ``Signing`` protects it. With random nonces, a key is safe for 2^32 values (SP 800-38D, section 8.3): change the
    current key before. The old key is needed as long as the topic has records encrypted with it.

    Args:
        keys: provides the keys: a ``KeyRing``, or your own ``KeyProvider``.
        headers: the names of further headers to bind.
        bind_topic: whether to bind the topic, too; copies of records in a topic of another name are then refused.
        unencrypted: ``"refuse"`` makes a record with an unencrypted value bad; ``"accept"`` lets it pass, for the time
            until all producers encrypt.

    Raises:
        ConfigurationError: an argument is invalid.
        MissingExtraError: the package cryptography is not installed.
    """

    name = "encryption"
    keys = (_KEY,)
    gives = Form.ENCRYPTED
    accepts = frozenset({Form.PLAIN, Form.COMPRESSED})
    purpose = b"kafka_replica record-encryption 1"

    def __init__(
        self,
        keys: KeyProvider,
        *,
        headers: Iterable[str] = (),
        bind_topic: bool = False,
        unencrypted: Literal["refuse", "accept"] = "refuse",
    ) -> None:
        super().__init__(headers, bind_topic)
        if not isinstance(keys, KeyProvider):
            raise ConfigurationError(f"{keys!r} provides no keys; give a KeyRing or another KeyProvider")
        if unencrypted not in {"refuse", "accept"}:
            raise ConfigurationError(f"unencrypted={unencrypted!r} is not possible; use 'refuse' or 'accept'")
        _cryptography("exceptions")
        self._provider = keys
        self._unencrypted = unencrypted

    @property
    def _keys_identity(self) -> str:
        return f"{self._provider.identity}; unencrypted {self._unencrypted}"

    def outgoing(self, record: PieceInput) -> PieceOutput:
        """Encrypt the value."""
        key_id = self._provider.current_key_id()
        statement = self.make_statement(record, _ALGORITHM, key_id)
        if record.value is None:
            return PieceOutput(None)
        nonce = os.urandom(_NONCE_BYTES)
        cipher = _cipher(self._provider.key(key_id))
        encrypted = cipher.encrypt(nonce, record.value, self.canonical_form(record, statement, None))
        return PieceOutput(nonce + encrypted, ((_KEY.name, statement.text().encode()),))

    def incoming(self, record: PieceInput) -> PieceOutput:
        """Decrypt the value."""
        value = record.value
        if not record.own_headers and (value is None or self._unencrypted == "accept"):
            return PieceOutput(value)
        if value is None:
            raise ValueError(f"it has no value, but the header {_KEY.name}")
        if len(record.own_headers) != 1:
            raise ValueError(f"it has several headers {_KEY.name}" if record.own_headers else "it is not encrypted")
        statement = parse_statement(record.own_headers[0][1] or b"")
        if statement.algorithm != _ALGORITHM:
            raise ValueError(f"it is encrypted with {statement.algorithm!r}, not {_ALGORITHM}")
        self.check_statement(statement)
        try:
            cipher = _cipher(self._provider.key(statement.key_id))
        except LookupError as error:
            raise ValueError(f"it is encrypted with the key {statement.key_id!r}, which is unknown") from error
        if len(value) < _NONCE_BYTES + _TAG_BYTES:
            raise ValueError("its value is too short to be encrypted")
        try:
            associated = self.canonical_form(record, statement, None)
            plain: bytes = cipher.decrypt(value[:_NONCE_BYTES], value[_NONCE_BYTES:], associated)
        except _cryptography("exceptions").InvalidTag as error:
            raise ValueError(f"its value, key or headers are not those that {statement.key_id} encrypted") from error
        return PieceOutput(plain, ())


@lru_cache(maxsize=16)
def _cipher(key: bytes) -> Any:
    if len(key) != _KEY_BYTES:
        raise ConfigurationError(f"the key provider returned {len(key)} bytes; AES-256 needs {_KEY_BYTES}")
    return _cryptography("hazmat.primitives.ciphers.aead").AESGCM(key)


def _cryptography(module: str) -> Any:
    return needed_cryptography(module, what="encrypting and decrypting values", extra="headers")
