"""Authorities, certificates and keys for tests, made by openssl's command line."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

PASSWORD = "key-secret"  # of keys that exist only for a test
_CA_CONFIG = """[ca]
default_ca = it
[it]
database = {name}.index
default_md = sha256
"""


def _openssl(folder: Path, *arguments: str) -> None:
    done = subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"openssl {' '.join(arguments)}: {done.stderr}"


class Authority:
    """A certificate authority; clients trust ``<name>.crt`` in its folder."""

    def __init__(self, folder: Path, name: str) -> None:
        if shutil.which("openssl") is None:
            pytest.skip("there is no openssl on the path, which makes the certificates of this test")
        self._folder, self._name = folder, name
        self.certificate = folder / f"{name}.crt"
        # Python 3.13 and newer demand these extensions (RFC 5280), as they do of certificates.
        usage = ("-addext", "keyUsage=critical,keyCertSign,cRLSign")
        self._new_key(name, "req", "-x509", *usage, "-days", "30", "-out", f"{name}.crt")

    def _new_key(self, name: str, *arguments: str) -> None:
        kind = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", f"{name}.key")
        _openssl(self._folder, *arguments, *kind, "-subj", f"/CN={name}")

    def issue(self, name: str, alternatives: str) -> Path:
        """Create ``<name>.crt``, ``.key``, ``.locked.key`` (with PASSWORD) and ``.pem`` (Kafka's form of all of it).

        Args:
            name: of the holder.
            alternatives: such as ``DNS:localhost,IP:127.0.0.1``.

        Returns:
            The path of ``<name>.crt``.
        """
        folder, ca = self._folder, self._name
        self._new_key(name, "req", "-out", f"{name}.csr")
        (folder / f"{name}.ext").write_text(
            f"subjectAltName={alternatives}\nextendedKeyUsage=serverAuth,clientAuth\n"
            "subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n"
        )
        signed_by = ("-CA", f"{ca}.crt", "-CAkey", f"{ca}.key", "-CAcreateserial", "-extfile", f"{name}.ext")
        _openssl(folder, "x509", "-req", "-in", f"{name}.csr", *signed_by, "-days", "30", "-out", f"{name}.crt")
        locked = ("-v2", "aes-256-cbc", "-passout", f"pass:{PASSWORD}", "-out", f"{name}.locked.key")
        _openssl(folder, "pkcs8", "-topk8", "-in", f"{name}.key", *locked)
        parts = (folder / f"{name}.key", folder / f"{name}.crt", self.certificate)
        (folder / f"{name}.pem").write_text("".join(part.read_text() for part in parts))
        return folder / f"{name}.crt"

    def revocations(self, name: str, revoked: Path | None = None) -> Path:
        """Create a revocation list: empty, or with one certificate."""
        config = self._folder / f"{name}.cnf"
        config.write_text(_CA_CONFIG.format(name=name))
        (self._folder / f"{name}.index").touch()
        by = ("ca", "-config", config.name, "-cert", f"{self._name}.crt", "-keyfile", f"{self._name}.key")
        if revoked is not None:
            _openssl(self._folder, *by, "-revoke", str(revoked))
        _openssl(self._folder, *by, "-gencrl", "-crldays", "30", "-out", f"{name}.crl")
        return self._folder / f"{name}.crl"

    def store(self, name: str) -> Path:
        """Create a PKCS#12 store with PASSWORD, of the key and certificate with that name."""
        source = ("-in", f"{name}.crt", "-inkey", f"{name}.key", "-certfile", f"{self._name}.crt")
        _openssl(self._folder, "pkcs12", "-export", *source, "-passout", f"pass:{PASSWORD}", "-out", f"{name}.p12")
        return self._folder / f"{name}.p12"
