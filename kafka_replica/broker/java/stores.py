"""Java's key and trust stores (JKS, JCEKS, PKCS#12) as PEM and as the PKCS#12 that librdkafka reads."""

from __future__ import annotations

import atexit
import importlib
import os
import ssl
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from kafka_replica.errors import ConfigurationError, MissingExtraError

_JKS, _JCEKS = b"\xfe\xed\xfe\xed", b"\xce\xce\xce\xce"


class JavaStore:
    """One store: the property that names it, its file, its password.

    Args:
        name: the property, for messages.
        location: the file.
        password: of the store; Java allows none for a trust store.

    Raises:
        ConfigurationError: the file cannot be read.
    """

    def __init__(self, name: str, location: str, password: str | None) -> None:
        self._name, self._location, self._password = name, location, password
        try:
            self._data = Path(location).read_bytes()
        except OSError as error:
            raise ConfigurationError(f"{name}: {location} cannot be read ({error.strerror})") from error

    @property
    def is_java(self) -> bool:
        """Whether only Java reads it: JKS or JCEKS."""
        return self._data.startswith((_JKS, _JCEKS))

    @property
    def is_pem(self) -> bool:
        """Whether it is text in PEM."""
        return b"-----BEGIN " in self._data

    def trusted(self) -> str:
        """The certificates in it, in PEM.

        Raises:
            ConfigurationError: there are none, the password is wrong, or it is no such store.
            MissingExtraError: the packages that read it are not installed.
        """
        if self.is_pem:
            return self._data.decode(errors="replace")
        found = self._trusted_java() if self.is_java else self._trusted_pkcs12()
        if not found:
            raise self._wrong("has no certificate of an authority")
        return "".join(found)

    def as_pkcs12(self, key_password: str | None) -> tuple[str, str]:
        """Path and password of a PKCS#12 store with its one private key and that key's certificates.

        The file is of this process alone, in memory where the system has that, and encrypted.

        Raises:
            ConfigurationError: there is no private key or more than one, or a password is wrong.
            MissingExtraError: the packages that read it are not installed.
        """
        store = self._load_java()
        keys = list(store.private_keys.values())
        if len(keys) != 1:
            raise self._wrong(f"has {len(keys)} private keys ({', '.join(store.private_keys)}); it has to be one")
        key = keys[0]
        if not key.is_decrypted():
            try:
                key.decrypt(key_password or self._password or "")
            except Exception as error:
                raise ConfigurationError(
                    f"ssl.key.password does not open the private key {key.alias} of {self._location}"
                ) from error
        password = self._password or ""
        return _in_memory(self._pkcs12(key, password)), password

    def _pkcs12(self, key: Any, password: str) -> bytes:
        _need("cryptography", "pkcs12")
        forms = importlib.import_module("cryptography.hazmat.primitives.serialization")
        pkcs12 = importlib.import_module("cryptography.hazmat.primitives.serialization.pkcs12")
        x509 = importlib.import_module("cryptography.x509")
        chain = [x509.load_der_x509_certificate(der) for _kind, der in key.cert_chain]
        secret = forms.load_der_private_key(key.pkey_pkcs8, None)
        locked = forms.BestAvailableEncryption(password.encode())
        made: bytes = pkcs12.serialize_key_and_certificates(key.alias.encode(), secret, chain[0], chain[1:], locked)
        return made

    def _trusted_java(self) -> list[str]:
        store = self._load_java()
        return [ssl.DER_cert_to_PEM_cert(entry.cert) for entry in store.certs.values()]

    def _trusted_pkcs12(self) -> list[str]:
        _need("cryptography", "pkcs12")
        forms = importlib.import_module("cryptography.hazmat.primitives.serialization")
        pkcs12 = importlib.import_module("cryptography.hazmat.primitives.serialization.pkcs12")
        password = None if self._password is None else self._password.encode()
        try:
            store = pkcs12.load_pkcs12(self._data, password)
        except ValueError as error:
            raise self._wrong("is no PKCS#12 store, or its password is another") from error
        return [one.certificate.public_bytes(forms.Encoding.PEM).decode() for one in store.additional_certs]

    def _load_java(self) -> Any:
        jks = _need("jks", "jks")
        try:
            return jks.KeyStore.loads(self._data, self._password or "", try_decrypt_keys=True)
        except jks.util.KeystoreSignatureException as error:
            raise self._wrong("has another password, or is damaged") from error
        except Exception as error:
            raise self._wrong(f"cannot be read as a Java key store ({type(error).__name__})") from error

    def _wrong(self, reason: str) -> ConfigurationError:
        return ConfigurationError(f"{self._name}: {self._location} {reason}")


def _need(module: str, extra: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError("reading Java's key stores", extra) from error


@cache
def _in_memory(data: bytes) -> str:
    """A path under which this process, and no other user, reads these bytes until it ends."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("keystore")
        path = f"/proc/self/fd/{descriptor}"
    else:
        descriptor, path = tempfile.mkstemp(prefix="kafka-replica-", suffix=".p12")  # readable by us alone
        atexit.register(_remove, path)
    with os.fdopen(descriptor, "wb", closefd=not path.startswith("/proc")) as file:
        file.write(data)
    return path


def _remove(path: str) -> None:
    with suppress(OSError):
        Path(path).unlink()
