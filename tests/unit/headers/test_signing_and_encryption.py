"""Signatures and encryption: their form in the log, rotation of keys, and what is refused."""

from __future__ import annotations

import hashlib
import hmac
import sys
from base64 import b64decode

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from kafka_replica import ConfigurationError
from kafka_replica.errors import MissingExtraError
from kafka_replica.headers import Piece, PieceError, ServiceUnavailableError, Stack
from kafka_replica.headers.pieces import (
    Compression,
    Ed25519Signer,
    Ed25519Verifier,
    Encryption,
    HmacKey,
    KeyRing,
    Signing,
    VerifyingKey,
)
from support.headers.small_pieces import Hop, Suffix

OLD, NEW = HmacKey("2026-05", b"o" * 32), HmacKey("2026-11", b"n" * 32)
PRIVATE = Ed25519PrivateKey.from_private_bytes(b"p" * 32)


def field(content: bytes | None) -> bytes:
    """Return a field of the canonical form, written as the documentation says."""
    return b"\xff\xff\xff\xff" if content is None else len(content).to_bytes(4, "big") + content


@pytest.mark.parametrize("value", [b"value", b"", None])
@pytest.mark.parametrize("binds", [True, False])
def test_the_form_of_a_signature(value: bytes | None, binds: bool) -> None:
    """Another program can verify a signature from the documentation alone."""
    stack = Stack([Signing(NEW, headers=["b", "a"], bind_topic=binds)])
    sent = stack.outgoing(b"key", value, [("a", b"1"), ("x", b"y"), ("a", None)], topic="t")
    (text,) = [content for name, content in sent.headers if name == "record-signature"]
    *statement, signature = (text or b"").split(b";")
    assert statement == [b"1", b"hmac-sha256", b"2026-11", b"topic" if binds else b"-", b"a,b"]
    fields = [b"kafka_replica record-signature 1", b"hmac-sha256", b"2026-11", b"t" if binds else None, b"key", value]
    data = b"".join(map(field, [*fields, b"a", b"2", b"1", None, b"b", b"0"]))
    assert b64decode(signature) == hmac.digest(b"n" * 32, data, hashlib.sha256)


def test_the_form_of_an_encrypted_value() -> None:
    """Another program can decrypt a value from the documentation alone."""
    stack = Stack([Compression(min_bytes=0), Encryption(KeyRing({"k1": b"a" * 32}), bind_topic=True)])
    value, headers = stack.outgoing(b"key", b"v" * 200, topic="t")
    assert headers[-1] == ("record-encryption", b"1;aes-256-gcm;k1;topic;content-encoding,uncompressed-size")
    fields = [b"kafka_replica record-encryption 1", b"aes-256-gcm", b"k1", b"t", b"key", None]
    fields += [b"content-encoding", b"1", b"zstd", b"uncompressed-size", b"1", b"200"]
    assert value is not None
    assert AESGCM(b"a" * 32).decrypt(value[:12], value[12:], b"".join(map(field, fields)))


def test_rotation_of_signing_keys() -> None:
    """Readers accept both keys while the key changes, and refuse the old one after it."""
    before, during, after = (Signing(OLD), Signing(NEW, accepts=[OLD]), Signing(NEW))
    old, new = (Stack([piece]).outgoing(b"k", b"v") for piece in (before, during))
    for sent in (old, new):
        assert Stack([during]).incoming(b"k", *sent) == (b"v", ())
    assert Stack([after]).incoming(b"k", *new) == (b"v", ())
    with pytest.raises(PieceError, match="signed with the key '2026-05', which is not accepted"):
        Stack([after]).incoming(b"k", *old)


def test_rotation_of_encryption_keys() -> None:
    """The current key encrypts, and all others decrypt; a key that was removed makes its records bad."""
    one, two = {"1": b"1" * 32}, {"2": b"2" * 32}
    old = Stack([Encryption(KeyRing(one))]).outgoing(b"k", b"v")
    both = Stack([Encryption(KeyRing({**one, **two}, current="2"))])
    assert both.incoming(b"k", *old) == (b"v", ())
    with pytest.raises(PieceError, match="encrypted with the key '1', which is unknown"):
        Stack([Encryption(KeyRing(two))]).incoming(b"k", *old)


@pytest.mark.parametrize("value", [b"v", None])
def test_unsigned_records(value: bytes | None) -> None:
    """Unsigned records and tombstones are refused; while producers are converted they may be accepted."""
    with pytest.raises(PieceError, match="'signing' refused it: it is not signed"):
        Stack([Signing(NEW)]).incoming(b"k", value)
    lenient = Stack([Signing(NEW, unsigned="accept")])
    assert lenient.incoming(b"k", value) == (value, ())
    forged = Stack([Signing(HmacKey("2026-11", b"x" * 32))]).outgoing(b"k", value)
    with pytest.raises(PieceError, match="does not match"):
        lenient.incoming(b"k", *forged)


def test_values_that_are_not_encrypted() -> None:
    """Plain values are refused unless they are accepted; tombstones have nothing to encrypt."""
    keys = KeyRing({"k": b"k" * 32})
    assert Stack([Encryption(keys)]).incoming(b"k", None) == (None, ())
    with pytest.raises(PieceError, match="it is not encrypted"):
        Stack([Encryption(keys)]).incoming(b"k", b"v")
    assert Stack([Encryption(keys, unencrypted="accept")]).incoming(b"k", b"v") == (b"v", ())


def test_the_same_value_is_encrypted_differently_each_time() -> None:
    """Each value has a nonce of its own."""
    stack = Stack([Encryption(KeyRing({"k": b"k" * 32}))])
    assert len({stack.outgoing(b"k", b"v").value for _ in range(100)}) == 100


def test_a_record_cannot_be_moved() -> None:
    """A signed or encrypted record is refused under another key, and with ``bind_topic`` in another topic."""
    keys = KeyRing({"k": b"k" * 32})
    for free, bound in (
        (Signing(NEW), Signing(NEW, bind_topic=True)),
        (Encryption(keys), Encryption(keys, bind_topic=True)),
    ):
        sent = Stack([free]).outgoing(b"k", b"v", topic="t")
        assert Stack([free]).incoming(b"k", *sent, topic="u").value == b"v"
        with pytest.raises(PieceError):
            Stack([free]).incoming(b"l", *sent, topic="t")
        with pytest.raises(PieceError, match="does not protect the topic"):
            Stack([bound]).incoming(b"k", *sent, topic="t")
        sent = Stack([bound]).outgoing(b"k", b"v", topic="t")
        with pytest.raises(PieceError):
            Stack([free]).incoming(b"k", *sent, topic="u")
        with pytest.raises(ConfigurationError, match="binds the topic; name it"):
            Stack([bound]).outgoing(b"k", b"v")


@pytest.mark.parametrize("form", ["raw", "PEM"])
def test_keys_of_ed25519(form: str) -> None:
    """Keys are raw bytes or PEM; a reader needs only the public one."""
    private, public = b"p" * 32, PRIVATE.public_key().public_bytes_raw()
    if form == "PEM":
        private = PRIVATE.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        public = PRIVATE.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    signer = Ed25519Signer("ed", private)
    assert signer.public_key == PRIVATE.public_key().public_bytes_raw()
    sent = Stack([Signing(signer)]).outgoing(b"k", b"v")
    reader = Stack([Signing(accepts=[Ed25519Verifier("ed", public)])])
    assert reader.incoming(b"k", *sent) == (b"v", ())
    with pytest.raises(ConfigurationError, match="this stack can only verify"):
        reader.outgoing(b"k", b"v")


def test_a_key_of_another_algorithm_with_the_same_id_is_refused() -> None:
    """The algorithm is that of the reader's key, never the one that a record states."""
    public = PRIVATE.public_key().public_bytes_raw()
    forged = Stack([Signing(HmacKey("ed", public))]).outgoing(b"k", b"v")  # the public key as a secret
    with pytest.raises(PieceError, match="key ed is for ed25519, and the signature states another algorithm"):
        Stack([Signing(accepts=[Ed25519Verifier("ed", public)])]).incoming(b"k", *forged)


@pytest.mark.parametrize(
    "header",
    [
        None, b"", b"1", b"2;hmac-sha256;2026-11;-;;AAAA", b"1;hmac-sha256;2026-11;-;;A", b"1" * 9000,
        b"1;hmac-sha256;2026-11;-;a,a;AAAA", b"1;hmac-sha256;2026-11;-;a b;AAAA", b"1;hmac-sha256;2026-11;x;;AAAA",
        b"1;hmac-sha256;;-;;AAAA", b"1;hmac-sha256;2026-11;-;;AAAA;", "1;hmac-sha256;2026-11;-;;ä".encode(),
        b"1;hmac-sha256;2026-11;-;b,a;AAAA",
    ],
)  # fmt: skip
def test_headers_that_are_no_signatures(header: bytes | None) -> None:
    """Any other header makes the record bad, and so do two signatures."""
    stack = Stack([Signing(NEW)])
    with pytest.raises(PieceError):
        stack.incoming(b"k", b"v", [("record-signature", header)])
    value, headers = stack.outgoing(b"k", b"v")
    with pytest.raises(PieceError, match="several signatures"):
        stack.incoming(b"k", value, (*headers, ("#4", headers[0][1])))
    with pytest.raises(PieceError, match="already has a header record-signature"):
        stack.outgoing(b"k", b"v", headers)


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("change", ["other content", "no header", "one more", "one more in the other form"])
@pytest.mark.parametrize(
    "protection", [Signing(NEW), Encryption(KeyRing({"k": b"k" * 32}))], ids=["signed", "encrypted"]
)
def test_headers_of_pieces_of_your_own_are_covered(protection: Piece, change: str, compact: bool) -> None:
    """The header of an earlier piece of a user is covered in both forms, since it decides the value."""
    stack = Stack([Suffix("x", 0x8000_0001), protection], compact_keys=compact)
    value, headers = stack.outgoing(b"k", b"v")
    own, other = ("#80000001", "suffix-x") if compact else ("suffix-x", "#80000001")
    assert headers[0] == (own, b"x")
    rest = headers[1:]
    changed = {
        "other content": ((own, b"y"), *rest),
        "no header": rest,
        "one more": ((own, b"x"), *headers),
        "one more in the other form": ((other, b"x"), *headers),
    }[change]
    with pytest.raises(PieceError, match=f"'{protection.name}' refused it: its .* (does not match|are not those)"):
        stack.incoming(b"k", value, changed)
    # A mirror may write the other form: the header is the same one.
    for reader in (stack, Stack([Suffix("x", 0x8000_0001), protection], compact_keys=not compact)):
        assert reader.incoming(b"k", value, ((other, b"x"), *rest)) == (b"v", ())


def test_a_covered_header_of_a_piece_without_influence_on_values() -> None:
    """A header that is named to be covered counts in both forms, also if its piece only annotates records."""
    stack = Stack([Hop(), Signing(NEW, headers=["hop"])], compact_keys=True)
    value, headers = stack.outgoing(b"k", b"v")
    assert headers[0] == ("#80000001", b"0")
    assert stack.incoming(b"k", value, headers).headers == (("hop", b"0"),)
    with pytest.raises(PieceError, match="does not match"):
        stack.incoming(b"k", value, headers[1:])


def test_a_header_whose_name_cannot_be_stated() -> None:
    """A stack whose own records no reader would accept is refused when it is made."""
    with pytest.raises(ConfigurationError, match="'signing' cannot protect the header 'suffix-,' of 'suffix-,'"):
        Stack([Suffix(","), Signing(NEW)])


class _Service:
    """A key service with an outage."""

    identity = "service"

    def current_key_id(self) -> str:
        """Return the id of the key."""
        return "k"

    def key(self, key_id: str) -> bytes:
        """Return a key of the wrong size, or fail."""
        if key_id == "short":
            return b"k" * 16
        raise ServiceUnavailableError("the key service does not answer")


def test_a_key_service() -> None:
    """An outage of the service is not a bad record; a key for AES-128 is never used."""
    stack = Stack([Encryption(_Service())])
    with pytest.raises(ServiceUnavailableError):
        stack.incoming(b"k", b"v" * 40, [("record-encryption", b"1;aes-256-gcm;k;-;")])
    with pytest.raises(ConfigurationError, match="returned 16 bytes; AES-256 needs 32"):
        stack.incoming(b"k", b"v" * 40, [("record-encryption", b"1;aes-256-gcm;short;-;")])


@pytest.mark.parametrize(
    "make",
    [
        lambda: HmacKey("a;b", b"s" * 32),
        lambda: HmacKey("a", b"s" * 31),
        lambda: Ed25519Verifier("a", b"no key"),
        lambda: Ed25519Signer("a", PRIVATE.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)),
        lambda: Ed25519Signer(
            "a",
            ec.generate_private_key(ec.SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
        ),
        lambda: KeyRing({}),
        lambda: KeyRing({"a": b"k" * 32, "b": b"k" * 32}),
        lambda: KeyRing({"a": b"k" * 32}, current="b"),
        lambda: KeyRing({"a": b"k" * 16}),
        Signing,
        lambda: Signing(Ed25519Verifier("a", PRIVATE.public_key().public_bytes_raw())),  # type: ignore[arg-type]
        lambda: Signing(NEW, accepts=[NEW]),
        lambda: Signing(NEW, unsigned="maybe"),  # type: ignore[arg-type]
        lambda: Signing(NEW, headers=["a,b"]),
        lambda: Signing(NEW, headers=["record-signature"]),
        lambda: Encryption({"a": b"k" * 32}),  # type: ignore[arg-type]
        lambda: Encryption(KeyRing({"a": b"k" * 32}), unencrypted="maybe"),  # type: ignore[arg-type]
    ],
)
def test_impossible_arguments_are_refused(make: type) -> None:
    """Impossible keys and options are refused when the piece is made."""
    with pytest.raises(ConfigurationError):
        make()


def test_only_ed25519_and_encryption_need_cryptography(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package the error names the extra to install; HMAC works."""
    for name in ("exceptions", "hazmat.primitives.asymmetric.ed25519"):
        monkeypatch.setitem(sys.modules, f"cryptography.{name}", None)
    assert isinstance(NEW, VerifyingKey)
    assert Stack([Signing(NEW)]).incoming(b"k", *Stack([Signing(NEW)]).outgoing(b"k", b"v")).value == b"v"
    for make in (lambda: Ed25519Signer("a", b"p" * 32), lambda: Encryption(KeyRing({"a": b"k" * 32}))):
        with pytest.raises(MissingExtraError, match=r"kafka-replica\[headers\]"):
            make()
