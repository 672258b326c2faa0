"""A reader of Java key stores in the file formats JKS and JCEKS.

Both formats hold entries of private keys and of trusted certificates, followed by a SHA-1 digest of the password and
everything before it. All integers are big-endian. Every length in the file is checked against the remaining bytes.

Source: OpenJDK, ``sun.security.provider.JavaKeyStore`` (the file), ``sun.security.provider.KeyProtector`` (private
keys) and ``com.sun.crypto.provider.JceKeyStore``. JCEKS encrypts private and secret keys differently; only its
trusted certificates are read.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Final, NamedTuple

JKS_MAGIC: Final = b"\xfe\xed\xfe\xed"
JCEKS_MAGIC: Final = b"\xce\xce\xce\xce"
_PRIVATE_KEY, _TRUSTED_CERTIFICATE, _SECRET_KEY = 1, 2, 3
_DIGEST_BYTES: Final = 20
_SEQUENCE, _OCTET_STRING, _OBJECT_IDENTIFIER = 0x30, 0x04, 0x06
_KEY_PROTECTOR: Final = bytes.fromhex("2b060104012a02110101")
"""The object identifier 1.3.6.1.4.1.42.2.17.1.1 in DER: Sun's algorithm for private keys in JKS."""
_CONVERT: Final = "convert it with keytool -importkeystore -srckeystore OLD -destkeystore NEW.p12 -deststoretype PKCS12"


class JksError(ValueError):
    """The data is not a store of this format, is damaged, or the password is wrong."""


class WrongPasswordError(JksError):
    """The password does not open the store or the private key, or the data is damaged."""


class PrivateKeyEntry(NamedTuple):
    """A private key, still encrypted, and the certificates that belong to it."""

    alias: str
    protected_key: bytes
    """PKCS#8 ``EncryptedPrivateKeyInfo`` in DER."""
    certificate_chain: tuple[bytes, ...]
    """Certificates in DER, the key's own first."""

    def decrypt(self, password: str) -> bytes:
        """Return the private key as PKCS#8 ``PrivateKeyInfo`` in DER.

        Raises:
            WrongPasswordError: the password is wrong.
            JksError: the entry is damaged, or encrypted in a way that only JCEKS uses.
        """
        encrypted = _encrypted_data(self.protected_key)
        salt, secret, digest = (
            encrypted[:_DIGEST_BYTES], encrypted[_DIGEST_BYTES:-_DIGEST_BYTES], encrypted[-_DIGEST_BYTES:],
        )  # fmt: skip
        if len(encrypted) <= 2 * _DIGEST_BYTES:
            raise JksError(f"has a damaged private key {self.alias!r}")
        password_bytes = _password_bytes(password)
        key = bytes(a ^ b for a, b in zip(secret, _key_stream(password_bytes, salt, len(secret)), strict=True))
        if not hmac.compare_digest(_sha1(password_bytes + key), digest):
            raise WrongPasswordError(f"needs a different password for the private key {self.alias!r}, or is damaged")
        return key


class KeyStore(NamedTuple):
    """The entries of a store, in the order of the file."""

    private_keys: tuple[PrivateKeyEntry, ...]
    trusted_certificates: tuple[bytes, ...]
    """Certificates in DER."""


def is_jks(data: bytes) -> bool:
    """Return whether the data begins like a JKS or JCEKS store."""
    return data.startswith((JKS_MAGIC, JCEKS_MAGIC))


def read_jks(data: bytes, password: str | None) -> KeyStore:
    """Read a store.

    Args:
        data: the whole file.
        password: the password of the store. Without a password the digest at the end of the file is not checked, as in
            Java.

    Raises:
        WrongPasswordError: the digest does not match the password and the data.
        JksError: the data is not a store of this format, or is damaged.
    """
    content, digest = data[:-_DIGEST_BYTES], data[-_DIGEST_BYTES:]
    if not is_jks(data):
        raise JksError("is not a JKS store")
    expected = None if password is None else _sha1(_password_bytes(password) + b"Mighty Aphrodite" + content)
    if expected is not None and not hmac.compare_digest(expected, digest):
        raise WrongPasswordError("has a different password, or is damaged")
    return _read_entries(_Reader(content))


class _Reader:
    """A reader of fields, which never reads past the end of the data."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, size: int) -> bytes:
        end = self._at + size
        if end > len(self._data):
            raise JksError("is damaged: it ends in the middle of an entry")
        taken, self._at = self._data[self._at : end], end
        return taken

    def integer(self) -> int:
        return int.from_bytes(self.take(4))

    def text(self) -> str:
        # Java's modified UTF-8, truncated: the texts are only compared with short names and shown in messages.
        return self.take(int.from_bytes(self.take(2))).decode(errors="replace")[:100]

    def at_end(self) -> bool:
        return self._at == len(self._data)


def _read_entries(reader: _Reader) -> KeyStore:
    magic, version = reader.take(4), reader.integer()
    if version not in {1, 2}:
        raise JksError(f"is damaged, or of a newer format: its version is {version}; versions 1 and 2 are supported")
    keys: list[PrivateKeyEntry] = []
    certificates: list[bytes] = []
    for _ in range(reader.integer()):
        kind, alias, _created_ms = reader.integer(), reader.text(), reader.take(8)
        if kind == _PRIVATE_KEY:
            protected = reader.take(reader.integer())
            chain = tuple(_certificate(reader, version) for _ in range(reader.integer()))
            keys.append(PrivateKeyEntry(alias, protected, chain))
        elif kind == _TRUSTED_CERTIFICATE:
            certificates.append(_certificate(reader, version))
        elif kind == _SECRET_KEY and magic == JCEKS_MAGIC:
            raise JksError(f"has a secret key, {alias!r}, which only Java can read; {_CONVERT}")
        else:
            raise JksError(f"is damaged: its entry {alias!r} is of the unknown kind {kind}")
    if not reader.at_end():
        raise JksError("is damaged: it has data after its last entry")
    return KeyStore(tuple(keys), tuple(certificates))


def _certificate(reader: _Reader, version: int) -> bytes:
    if version == 2 and (kind := reader.text()) not in {"X.509", "X509"}:
        raise JksError(f"has a certificate of type {kind!r}; only X.509 is supported")
    return reader.take(reader.integer())


def _encrypted_data(protected_key: bytes) -> bytes:
    """Return the content of an ``EncryptedPrivateKeyInfo`` (RFC 5208, section 6), encrypted by Sun's algorithm."""
    info, _ = _der_element(protected_key, _SEQUENCE)
    algorithm, rest = _der_element(info, _SEQUENCE)
    # Older versions of Java write the parameter NULL after the identifier, newer versions write nothing.
    identifier, _ = _der_element(algorithm, _OBJECT_IDENTIFIER)
    if identifier != _KEY_PROTECTOR:
        raise JksError(f"has a private key with an encryption that only Java can read; {_CONVERT}")
    encrypted, _ = _der_element(rest, _OCTET_STRING)
    return encrypted


def _der_element(data: bytes, tag: int) -> tuple[bytes, bytes]:
    """Split off one element of DER (X.690, section 8.1); return its content and the data after it."""
    header, size = 2, data[1] if len(data) > 1 else 0
    if size & 0x80:
        header += size & 0x7F
        size = int.from_bytes(data[2:header])
    if len(data) < header + size or data[0] != tag:
        raise JksError("has a damaged private key")
    return data[header : header + size], data[header + size :]


def _key_stream(password: bytes, salt: bytes, size: int) -> bytes:
    """Return the key stream that is combined with a private key by XOR: each digest is an input of the next one."""
    blocks = [salt]
    for _ in range(0, size, _DIGEST_BYTES):
        blocks.append(_sha1(password + blocks[-1]))
    return b"".join(blocks[1:])[:size]


def _password_bytes(password: str) -> bytes:
    return password.encode("utf-16-be", "surrogatepass")


def _sha1(data: bytes) -> bytes:
    return hashlib.sha1(data, usedforsecurity=False).digest()  # the format's own digest
