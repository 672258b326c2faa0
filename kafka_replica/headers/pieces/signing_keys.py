"""Keys for signatures: HMAC with SHA-256 (RFC 2104), and Ed25519 (RFC 8032)."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any, ClassVar, Protocol, runtime_checkable

from kafka_replica.common.cryptography_modules import needed_cryptography
from kafka_replica.errors import ConfigurationError
from kafka_replica.headers.pieces.protection import check_key_id

_MIN_SECRET_BYTES = 32
_RAW_BYTES = 32


@runtime_checkable
class VerifyingKey(Protocol):
    """A key that verifies signatures."""

    @property
    def algorithm(self) -> str:
        """The name of the algorithm, without semicolons."""

    @property
    def key_id(self) -> str:
        """The id of the key; it must never be used for another key."""

    def verify(self, signature: bytes, data: bytes) -> bool:
        """Return whether a signature of data was made with this key, or with the private key that belongs to it."""


@runtime_checkable
class SigningKey(VerifyingKey, Protocol):
    """A key that makes and verifies signatures."""

    def sign(self, data: bytes) -> bytes:
        """Return a signature of data."""


class HmacKey:
    """A secret that signs and verifies with HMAC-SHA256; any reader that can verify can therefore also sign.

    Args:
        key_id: the id of the key, 1 to 128 letters, digits and ``._:/-``.
        secret: at least 32 random bytes, the size of the hash; RFC 2104, section 3, discourages shorter secrets.

    Raises:
        ConfigurationError: the id is invalid, or the secret is too short.
    """

    algorithm: ClassVar = "hmac-sha256"

    def __init__(self, key_id: str, secret: bytes) -> None:
        self.key_id = check_key_id(key_id)
        if len(secret) < _MIN_SECRET_BYTES:
            raise ConfigurationError(
                f"the secret of key {key_id} is too short: give at least {_MIN_SECRET_BYTES} bytes"
            )
        self._secret = secret

    def __repr__(self) -> str:
        return f"<HmacKey {self.key_id}>"

    def sign(self, data: bytes) -> bytes:
        """Return the HMAC of data, 32 bytes."""
        return hmac.digest(self._secret, data, hashlib.sha256)

    def verify(self, signature: bytes, data: bytes) -> bool:
        """Return whether a signature of data is valid, in a time that does not reveal where it differs."""
        return hmac.compare_digest(self.sign(data), signature)


class Ed25519Verifier:
    """A public key that verifies signatures with Ed25519.

    Args:
        key_id: the id of the key, 1 to 128 letters, digits and ``._:/-``.
        public_key: 32 raw bytes, or PEM.

    Raises:
        ConfigurationError: the id is invalid, or the bytes are not a public key for Ed25519.
        MissingExtraError: the package cryptography is not installed.
    """

    algorithm: ClassVar = "ed25519"

    def __init__(self, key_id: str, public_key: bytes) -> None:
        self.key_id = check_key_id(key_id)
        self._public_key = _loaded(key_id, public_key, "Public")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.key_id}>"

    def verify(self, signature: bytes, data: bytes) -> bool:
        """Return whether a signature of data is valid."""
        try:
            self._public_key.verify(signature, data)
        except _cryptography("exceptions").InvalidSignature:
            return False
        return True


class Ed25519Signer(Ed25519Verifier):
    """A private key that signs with Ed25519; readers verify with its ``public_key``.

    Args:
        key_id: the id of the key, 1 to 128 letters, digits and ``._:/-``.
        private_key: 32 raw bytes, or unencrypted PEM (PKCS#8).

    Raises:
        ConfigurationError: the id is invalid, or the bytes are not a private key for Ed25519.
        MissingExtraError: the package cryptography is not installed.
    """

    def __init__(self, key_id: str, private_key: bytes) -> None:
        self._private_key = _loaded(key_id, private_key, "Private")
        super().__init__(key_id, self._private_key.public_key().public_bytes_raw())

    @property
    def public_key(self) -> bytes:
        """The public key, 32 raw bytes."""
        raw: bytes = self._public_key.public_bytes_raw()
        return raw

    def sign(self, data: bytes) -> bytes:
        """Return the signature of data, 64 bytes."""
        signature: bytes = self._private_key.sign(data)
        return signature


def _loaded(key_id: str, data: bytes, half: str) -> Any:
    kind = getattr(_cryptography("hazmat.primitives.asymmetric.ed25519"), f"Ed25519{half}Key")
    forms = _cryptography("hazmat.primitives.serialization")
    try:
        if len(data) == _RAW_BYTES:
            return getattr(kind, f"from_{half.lower()}_bytes")(data)
        key = forms.load_pem_public_key(data) if half == "Public" else forms.load_pem_private_key(data, None)
    except (TypeError, ValueError, _cryptography("exceptions").UnsupportedAlgorithm) as error:
        raise _no_key(key_id, half) from error
    if not isinstance(key, kind):
        raise _no_key(key_id, half)
    return key


def _no_key(key_id: str, half: str) -> ConfigurationError:
    return ConfigurationError(
        f"key {key_id} is not a {half.lower()} key for Ed25519; give 32 raw bytes, or PEM without a password"
    )


def _cryptography(module: str) -> Any:
    return needed_cryptography(module, what="signing with Ed25519", extra="headers")
