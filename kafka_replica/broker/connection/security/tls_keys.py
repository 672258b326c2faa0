"""Load the client's certificate and key: PEM files, PEM texts, or a PKCS#12 store."""

from __future__ import annotations

import os
import secrets
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from kafka_replica.broker.connection.security.properties import Properties, refused, wrong
from kafka_replica.common.cryptography_modules import cryptography_module
from kafka_replica.errors import ConfigurationError


def load_client_certificate(context: ssl.SSLContext, properties: Properties) -> None:
    """Load the certificate that the properties name, if any. A store takes precedence over texts, and texts over files.

    Raises:
        ConfigurationError: the certificate or its key is missing, a password is missing or wrong, or a file cannot be
            used.
    """
    store = properties.text("ssl.keystore.location")
    if store:
        _load_store(context, store, properties.text("ssl.keystore.password"))
        return
    certificate, key = _given(properties, "ssl.certificate"), _given(properties, "ssl.key")
    if certificate is None and key is None:
        return
    if certificate is None or key is None:
        missing = "ssl.certificate.location" if certificate is None else "ssl.key.location"
        raise wrong(missing, "is missing: a certificate can only be used with its key")
    with _file(*certificate) as certificate_file, _file(*key) as key_file:
        _load(
            context, certificate_file, key_file, properties.text("ssl.key.password"), f"{certificate[0]} and {key[0]}"
        )


def _given(properties: Properties, prefix: str) -> tuple[str, str] | None:
    """Return the name and value of the property with the certificate or key; None if there is none."""
    for name in (f"{prefix}.pem", f"{prefix}.location"):
        value = properties.text(name)
        if value:
            return name, value
    return None


def _load(context: ssl.SSLContext, certificate: str, key: str, password: str | None, names: str) -> None:
    password_requests: list[bool] = []

    # Always passed: otherwise OpenSSL would prompt on the terminal for the password of an encrypted key.
    def give_password() -> str:
        password_requests.append(True)
        return password or ""

    try:
        context.load_cert_chain(certificate, key, give_password)
    except (OSError, ValueError) as error:
        if getattr(error, "reason", None) == "KEY_VALUES_MISMATCH":
            raise wrong(names, "do not belong together: the key belongs to another certificate") from None
        if password_requests and not password:
            raise wrong("ssl.key.password", f"is missing: the private key ({names}) is encrypted") from None
        if password_requests:
            raise wrong("ssl.key.password", f"does not open the private key ({names})") from None
        if isinstance(error, ssl.SSLError):
            raise wrong(names, "cannot be used: they must contain a certificate and its private key in PEM") from error
        raise wrong(names, f"cannot be used: {getattr(error, 'strerror', None) or error}") from error


def _load_store(context: ssl.SSLContext, location: str, password: str | None) -> None:
    name = "ssl.keystore.location"
    if password is None:
        raise wrong("ssl.keystore.password", f"is missing; {name} needs one")
    try:
        pkcs12 = cryptography_module("hazmat.primitives.serialization.pkcs12")
        forms = cryptography_module("hazmat.primitives.serialization")
    except ImportError:
        raise refused(
            name,
            "PKCS#12 is read by the package cryptography, which is not installed (pip install cryptography); "
            "or name PEM files in ssl.certificate.location and ssl.key.location",
        ) from None
    try:
        key, certificate, others = pkcs12.load_key_and_certificates(Path(location).read_bytes(), password.encode())
    except OSError as error:
        raise wrong(name, f"cannot be read: {location} ({error.strerror})") from error
    except ValueError:
        raise wrong(name, f"is not a PKCS#12 store, or the password is wrong: {location}") from None
    if key is None or certificate is None:
        raise wrong(name, f"has no private key with its certificate: {location}")
    # The key is never stored unencrypted, not even while it is being loaded.
    once = secrets.token_hex(32)
    encrypted = forms.BestAvailableEncryption(once.encode())
    key_pem = key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, encrypted).decode()
    chain = "".join(each.public_bytes(forms.Encoding.PEM).decode() for each in (certificate, *others))
    with _as_file(name, chain) as certificate_file, _as_file(name, key_pem) as key_file:
        _load(context, certificate_file, key_file, once, name)


def _file(name: str, value: str) -> AbstractContextManager[str]:
    return _as_file(name, value) if name.endswith(".pem") else nullcontext(value)


@contextmanager
def _as_file(name: str, pem: str) -> Iterator[str]:
    """Provide a path for PEM, which Python's ssl loads only from files; in memory if the system supports that."""
    try:
        if hasattr(os, "memfd_create"):
            descriptor, path = os.memfd_create("pem"), None
        else:
            descriptor, path = tempfile.mkstemp(prefix="kafka-replica-")  # readable only by this user
    except OSError as error:
        raise ConfigurationError(f"while loading {name}: it cannot be stored ({error.strerror}); set TMPDIR") from error
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(pem)
            file.flush()
            yield path or f"/proc/self/fd/{descriptor}"
    finally:
        if path is not None:
            Path(path).unlink()
