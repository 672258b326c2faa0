"""What the system trusts, as a file that Java reads: a JKS trust store made of a PEM bundle.

A Java that comes from PyPI trusts what it was built with, which is not what an administrator added (a
company's own certificate authority, say). Java reads no PEM bundle, and importing each certificate with
keytool takes minutes. JKS is a small format (read in OpenJDK, sun.security.provider.JavaKeyStore): magic,
version, entries, and a SHA-1 over the password, a phrase and the content, all integers big-endian.
"""

from __future__ import annotations

import hashlib
import os
import re
import ssl
import struct
from pathlib import Path

from kafka_replica.embedded.cache import cache_dir, explained

PASSWORD = "changeit"  # noqa: S105 - Java's customary one: what is in the store is public
_PEM = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)


def trust_store() -> Path | None:
    """A trust store of what the system trusts, made once for each content of its bundle; None without a bundle.

    Raises:
        EmbeddedKafkaError: the cache cannot be written.
    """
    bundle = _bundle()
    if bundle is None:
        return None
    certificates = [ssl.PEM_cert_to_DER_cert(text) for text in _PEM.findall(bundle)]
    content = jks(certificates)
    path = cache_dir() / "java" / f"trust-{hashlib.sha256(content).hexdigest()[:16]}.jks"
    with explained("making a trust store for Java", path):
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            made = path.with_suffix(f".{os.getpid()}")
            made.write_bytes(content)
            made.replace(path)
    return path


def jks(certificates: list[bytes]) -> bytes:
    """A JKS store of trusted certificates (DER), under the password ``PASSWORD``."""
    parts = [struct.pack(">III", 0xFEEDFEED, 2, len(certificates))]
    for number, certificate in enumerate(certificates):
        trusted_certificate, created_ms = 2, 0
        parts += [
            struct.pack(">I", trusted_certificate), _text(f"ca-{number}"), struct.pack(">Q", created_ms),
            _text("X.509"), struct.pack(">I", len(certificate)), certificate,
        ]  # fmt: skip
    content = b"".join(parts)
    digest = hashlib.sha1(PASSWORD.encode("utf-16-be") + b"Mighty Aphrodite" + content, usedforsecurity=False)
    return content + digest.digest()


def _text(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()


def _bundle() -> str | None:
    named = (os.environ.get("SSL_CERT_FILE"), ssl.get_default_verify_paths().cafile, *_BUNDLES)
    for name in named:
        if name and Path(name).is_file():
            text = Path(name).read_text(encoding="utf-8", errors="replace")
            if _PEM.search(text):
                return text
    return None
