"""Convert Java's key and trust stores (JKS, JCEKS, PKCS#12) to PEM and to the PKCS#12 that librdkafka reads."""

from __future__ import annotations

import atexit
import os
import secrets
import ssl
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType

from kafka_replica.broker.connection.java.jks import (
    JksError,
    KeyStore,
    PrivateKeyEntry,
    WrongPasswordError,
    is_jks,
    read_jks,
)
from kafka_replica.common.cryptography_modules import needed_cryptography
from kafka_replica.errors import ConfigurationError

_LARGEST_BYTES = 32 * 2**20


class JavaStore:
    """A key or trust store with the property that names it, its file and its password.

    Args:
        name: the property, for messages.
        location: the file.
        password: the store's password; Java allows a trust store without a password.

    Raises:
        ConfigurationError: the file cannot be read.
    """

    def __init__(self, name: str, location: str, password: str | None) -> None:
        self._name, self._location, self._password = name, location, password
        try:
            with Path(location).open("rb") as file:
                self._data = file.read(_LARGEST_BYTES + 1)
        except OSError as error:
            raise ConfigurationError(f"{name}: {location} cannot be read ({error.strerror})") from error
        if len(self._data) > _LARGEST_BYTES:
            raise self._wrong(f"is not a key store: it is larger than {_LARGEST_BYTES // 2**20} MiB")

    @property
    def is_java(self) -> bool:
        """True if only Java reads the store: JKS or JCEKS."""
        return is_jks(self._data)

    @property
    def is_pem(self) -> bool:
        """True if the store is PEM text."""
        return b"-----BEGIN " in self._data

    def trusted(self) -> str:
        """Return the certificates in the store, in PEM.

        Raises:
            ConfigurationError: there are no certificates, the password is wrong, or the file is not such a store.
            MissingExtraError: the package that reads PKCS#12 is not installed.
        """
        if self.is_pem:
            return self._data.decode(errors="replace")
        found = self._load_java().trusted_certificates if self.is_java else self._trusted_pkcs12()
        if not found:
            raise self._wrong("has no certificate of an authority")
        for certificate in found:
            try:
                ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=certificate)
            except ssl.SSLError as error:
                raise self._wrong(f"has a certificate that OpenSSL cannot read ({error.reason})") from error
        return "".join(map(ssl.DER_cert_to_PEM_cert, found))

    def as_pkcs12(self, key_password: str | None) -> tuple[str, str]:
        """Write the only private key and its certificates to a PKCS#12 store; return its path and password.

        The file is encrypted, private to this process, and in memory where the system supports that.

        Raises:
            ConfigurationError: there is no private key or more than one private key, or a password is wrong.
            MissingExtraError: the package that writes PKCS#12 is not installed.
        """
        keys = self._load_java().private_keys
        if len(keys) != 1:
            aliases = ", ".join(key.alias for key in keys[:10])
            raise self._wrong(f"has {len(keys)} private keys ({aliases}); it must have exactly one")
        try:
            return _pkcs12_file(keys[0], key_password or self._password or "")
        except WrongPasswordError as error:
            raise ConfigurationError(
                f"ssl.key.password does not open the private key {keys[0].alias} of {self._location}"
            ) from error
        except JksError as error:
            raise self._wrong(str(error)) from error

    def _trusted_pkcs12(self) -> tuple[bytes, ...]:
        forms = _cryptography("hazmat.primitives.serialization")
        pkcs12 = _cryptography("hazmat.primitives.serialization.pkcs12")
        password = None if self._password is None else self._password.encode()
        try:
            store = pkcs12.load_pkcs12(self._data, password)
        except ValueError as error:
            raise self._wrong("is not a PKCS#12 store, or the password is wrong") from error
        return tuple(each.certificate.public_bytes(forms.Encoding.DER) for each in store.additional_certs)

    def _load_java(self) -> KeyStore:
        try:
            return read_jks(self._data, self._password)
        except JksError as error:
            raise self._wrong(str(error)) from error

    def _wrong(self, reason: str) -> ConfigurationError:
        return ConfigurationError(f"{self._name}: {self._location} {reason}")


@cache
def _pkcs12_file(key: PrivateKeyEntry, key_password: str) -> tuple[str, str]:
    """Write a private key and its certificates as PKCS#12; return path and password.

    Raises:
        JksError: the password is wrong, or the key or a certificate cannot be used.
        MissingExtraError: cryptography is not installed.
    """
    forms = _cryptography("hazmat.primitives.serialization")
    pkcs12 = _cryptography("hazmat.primitives.serialization.pkcs12")
    x509 = _cryptography("x509")
    unusable = (TypeError, ValueError, x509.InvalidVersion, _cryptography("exceptions").UnsupportedAlgorithm)
    key_der, password = key.decrypt(key_password), secrets.token_hex(32)
    if not key.certificate_chain:
        raise JksError(f"has no certificate for the private key {key.alias!r}")
    try:
        private_key = forms.load_der_private_key(key_der, None)
        own, *others = (x509.load_der_x509_certificate(certificate) for certificate in key.certificate_chain)
        encryption = forms.BestAvailableEncryption(password.encode())
        data = pkcs12.serialize_key_and_certificates(None, private_key, own, others, encryption)
    except unusable as error:
        raise JksError(f"has a private key {key.alias!r} that cannot be used with its certificates: {error}") from error
    return _in_memory(data), password


def _cryptography(module: str) -> ModuleType:
    return needed_cryptography(module, what="Reading Java's key stores", extra="pkcs12")


def _in_memory(data: bytes) -> str:
    """Write data to a file that only this user can read, in memory if possible; return its path."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("keystore")
        path = f"/proc/self/fd/{descriptor}"
    else:
        descriptor, path = tempfile.mkstemp(prefix="kafka-replica-", suffix=".p12")  # readable only by this user
        atexit.register(_remove, path)
    with os.fdopen(descriptor, "wb", closefd=not path.startswith("/proc")) as file:
        file.write(data)
    return path


def _remove(path: str) -> None:
    with suppress(OSError):
        Path(path).unlink()
