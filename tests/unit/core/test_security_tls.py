"""The ``ssl.*`` properties: real handshakes, in memory."""

from __future__ import annotations

import os
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kafka_replica.broker.connection.security import connection_failed, connection_settings
from kafka_replica.errors import ConfigurationError
from support.core.certificates import PASSWORD, Authority

SECRET = "do-not-tell"  # searched for in messages
TLS = {"bootstrap.servers": "b:1", "security.protocol": "SSL"}


class World:
    """Certificates of two authorities, a broker, a client and a stranger."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ours, self.others = Authority(folder, "ours"), Authority(folder, "others")
        self.broker = self.ours.issue("broker", "DNS:broker.example")
        self.client = self.ours.issue("client", "DNS:client")
        self.others.issue("stranger", "DNS:stranger")

    def path(self, name: str) -> str:
        """Return the path of a file."""
        return str(self.folder / name)

    def text(self, name: str) -> str:
        """Return the text of a file."""
        return (self.folder / name).read_text()

    def meet(self, host: str = "broker.example", **properties: Any) -> str:
        """Return the subject of the client's certificate, as seen by a broker that requires one.

        Errors are those of the client.
        """
        given = {name.replace("__", "."): value for name, value in properties.items()}
        client_side = connection_settings({**TLS, **given}).kwargs["ssl_context"]
        server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server_side.load_cert_chain(self.path("broker.crt"), self.path("broker.key"))
        server_side.load_verify_locations(self.path("ours.crt"))
        server_side.verify_mode = ssl.CERT_OPTIONAL
        up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = client_side.wrap_bio(down, up, server_hostname=host)
        server = server_side.wrap_bio(up, down, server_side=True)
        waiting = [client, server]
        while waiting:
            for side in tuple(waiting):
                try:
                    side.do_handshake()
                except ssl.SSLWantReadError:
                    continue
                waiting.remove(side)
        subject = (server.getpeercert() or {}).get("subject", ((("", "nobody"),),))
        return str(subject[0][0][1])


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """The certificates, made once."""
    return World(tmp_path_factory.mktemp("certificates"))


@pytest.mark.thorough
def test_only_configured_authorities_are_trusted(world: World) -> None:
    """A CA file, a folder and a PEM text are trusted; other authorities and host names only if that is configured."""
    ours = world.path("ours.crt")
    assert world.meet(ssl__ca__location=ours) == "nobody"
    assert world.meet(ssl__ca__pem=world.text("ours.crt")) == "nobody"
    assert world.meet(ssl__ca__location=world.path("others.crt"), ssl__ca__pem=world.text("ours.crt")) == "nobody"
    for untrusting in (
        {"ssl__ca__location": world.path("others.crt")},
        {"ssl__ca__location": str(world.folder)},  # not a folder of hashed names
        {"ssl__ca__location": "probe"},
        {},
        {"ssl__ca__location": ours, "host": "elsewhere.example"},
    ):
        with pytest.raises(ssl.SSLCertVerificationError):
            world.meet(**untrusting)
    none = {"ssl.endpoint.identification.algorithm": "None"}
    assert world.meet(ssl__ca__location=ours, host="elsewhere.example", **none) == "nobody"
    with pytest.raises(ssl.SSLCertVerificationError):
        world.meet(ssl__ca__location=world.path("others.crt"), **none)
    assert world.meet(host="elsewhere.example", enable__ssl__certificate__verification="False") == "nobody"


def test_named_authorities_replace_those_of_the_system(world: World) -> None:
    """The system's authorities are not trusted if others are named."""
    for properties in ({"ssl.ca.pem": world.text("ours.crt")}, {"ssl.ca.location": world.path("ours.crt")}):
        context = connection_settings({**TLS, **properties}).kwargs["ssl_context"]
        assert context.cert_store_stats()["x509"] == 1, properties


@pytest.mark.thorough
def test_a_folder_of_authorities(world: World, tmp_path: Path) -> None:
    """A folder of authorities with hashed names, as OpenSSL needs it, is trusted."""
    command = ["openssl", "x509", "-hash", "-noout", "-in", world.path("ours.crt")]
    name = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    (tmp_path / f"{name}.0").write_text(world.text("ours.crt"))
    assert world.meet(ssl__ca__location=str(tmp_path)) == "nobody"


@pytest.mark.thorough
def test_a_revoked_certificate_is_refused(world: World) -> None:
    """A certificate on the revocation list is refused; others are accepted."""
    ours = world.path("ours.crt")
    assert world.meet(ssl__ca__location=ours, ssl__crl__location=str(world.ours.revocations("none"))) == "nobody"
    with pytest.raises(ssl.SSLCertVerificationError, match="revoked") as caught:
        world.meet(ssl__ca__location=ours, ssl__crl__location=str(world.ours.revocations("one", world.broker)))
    assert "ssl.crl.location" in str(connection_failed(caught.value, "x"))


@pytest.mark.thorough
@pytest.mark.parametrize("memory", [True, False])
def test_certificate_and_key_work_in_every_form(
    world: World, memory: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Certificate and key work as files, texts, a mixture, and encrypted; no temporary file remains."""
    if not memory:
        monkeypatch.delattr(os, "memfd_create", raising=False)
    elif not hasattr(os, "memfd_create"):
        pytest.skip("this system has no files of memory")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    trusting = {"ssl__ca__location": world.path("ours.crt")}
    files = {"ssl__certificate__location": world.path("client.crt"), "ssl__key__location": world.path("client.key")}
    texts = {"ssl__certificate__pem": world.text("client.crt"), "ssl__key__pem": world.text("client.key")}
    locked = {**texts, "ssl__key__pem": world.text("client.locked.key")}
    assert world.meet(**trusting, **files) == "client"
    assert world.meet(**trusting, **texts) == "client"
    assert world.meet(**trusting, **{**files, "ssl__key__pem": texts["ssl__key__pem"]}) == "client"
    assert world.meet(**trusting, **locked, ssl__key__password=PASSWORD) == "client"
    stranger = {**files, "ssl__key__location": world.path("stranger.key")}
    for properties, reason in (
        (locked, r"ssl\.key\.password is missing"),
        ({**locked, "ssl__key__password": SECRET}, r"ssl\.key\.password does not open"),
        (stranger, "do not belong together"),
        ({**files, "ssl__key__location": "/nowhere"}, "No such file"),
    ):
        with pytest.raises(ConfigurationError, match=reason) as caught:
            world.meet(**trusting, **properties)
        assert SECRET not in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.thorough
def test_a_store_needs_its_package(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package cryptography a PKCS#12 store is refused, with an alternative."""
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.serialization.pkcs12", None)
    with pytest.raises(ConfigurationError, match="pip install cryptography"):
        world.meet(ssl__keystore__location=world.path("client.p12"), ssl__keystore__password=PASSWORD)


@pytest.mark.thorough
def test_a_pkcs12_store_is_the_clients_certificate(world: World) -> None:
    """A PKCS#12 store works; a wrong password and another kind of file are reported."""
    pytest.importorskip("cryptography", reason="the package cryptography, which reads PKCS#12, is not installed")
    store = str(world.ours.store("client"))
    trusting = {"ssl__ca__location": world.path("ours.crt")}
    assert world.meet(**trusting, ssl__keystore__location=store, ssl__keystore__password=PASSWORD) == "client"
    for location, password, reason in (
        (store, SECRET, "is not a PKCS#12 store, or the password is wrong"),
        (world.path("client.crt"), PASSWORD, "must contain a certificate and its private key in PEM"),
        ("/nowhere", PASSWORD, "cannot be read"),
    ):
        with pytest.raises(ConfigurationError, match=reason) as caught:
            world.meet(ssl__keystore__location=location, ssl__keystore__password=password)
        assert SECRET not in str(caught.value)
