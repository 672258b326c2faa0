"""Properties of Java's clients: JKS and PKCS#12 stores made by Java's own keytool, JAAS, other names."""

from __future__ import annotations

import subprocess
import uuid
from pathlib import Path
from typing import Any, Literal

import pytest

from kafka_replica import Replica
from kafka_replica.broker.connection.java import from_java
from kafka_replica.embedded.java import find_java
from kafka_replica.errors import ConfigurationError
from kafka_replica.producer import TransactionalProducer
from support.broker.kafka_tools import quiet
from support.broker.secured_kafka import Secured, allow_all
from support.core.certificates import PASSWORD, Authority

pytestmark = [pytest.mark.long, pytest.mark.broker, pytest.mark.quiescence_long]

_LOGIN = "org.apache.kafka.common.security"
_PATIENCE_S = 60.0


def keytool(*arguments: str) -> None:
    """Run Java's own tool for its stores."""
    java = find_java().path
    own = java.with_name("keytool")
    command = [str(own)] if own.exists() else [str(java), "-m", "java.base/sun.security.tools.keytool.Main"]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def trust_store(folder: Path, kind: str, authority: str = "ours") -> dict[str, str]:
    """Return a trust store of that kind with the broker's authority, as Java properties."""
    store = folder / f"trust-{uuid.uuid4().hex}.{kind.lower()}"
    keytool(
        "-importcert", "-noprompt", "-alias", "ca", "-file", str(folder / f"{authority}.crt"), "-keystore", str(store),
        "-storetype", kind, "-storepass", PASSWORD,
    )  # fmt: skip
    return {
        "ssl.truststore.location": str(store), "ssl.truststore.password": PASSWORD, "ssl.truststore.type": kind,
    }  # fmt: skip


def key_store(folder: Path, kind: str, key_password: str = PASSWORD) -> dict[str, str]:
    """Return a key store of that kind with the client's certificate and key."""
    source, store = folder / "client.p12", folder / f"key-{uuid.uuid4().hex}.{kind.lower()}"
    if not source.exists():
        made = object.__new__(Authority)  # the authority of the broker, which made client.crt
        made._folder, made._name = folder, "ours"
        made.store("client")
    keytool(
        "-importkeystore", "-noprompt", "-srckeystore", str(source), "-srcstoretype", "PKCS12",
        "-srcstorepass", PASSWORD, "-srcalias", "1", "-destalias", "client", "-destkeystore", str(store),
        "-deststoretype", kind, "-deststorepass", PASSWORD, "-destkeypass", key_password,
    )  # fmt: skip
    return {
        "ssl.keystore.location": str(store), "ssl.keystore.password": PASSWORD, "ssl.keystore.type": kind,
        "ssl.key.password": key_password,
    }  # fmt: skip


def round_trip(
    secured: Secured, listener: str, properties: dict[str, Any], boundaries: Literal["markers", "quiescence"]
) -> None:
    """Write with the producer and read with a replica, both with Java's properties."""
    topic = f"java-{uuid.uuid4().hex}"
    secured.kafka.create_topic(topic, 1, {"cleanup.policy": "compact"})
    allow_all(secured, topic)
    config = quiet({**secured.config(listener), **properties})
    producer = TransactionalProducer(config, topic, f"{topic}-writer", timeout_s=_PATIENCE_S)
    with producer.transaction() as transaction:
        transaction.put("k", b"v")
    producer.wait_visible(transaction.committed, _PATIENCE_S)
    with Replica(config, topic, boundaries=boundaries) as replica:
        replica.wait_ready(timeout_s=_PATIENCE_S)
        assert replica.snapshot()["k"].value == b"v"


@pytest.mark.parametrize("boundaries", ["markers", "quiescence"])
@pytest.mark.parametrize("kind", ["JKS", "PKCS12"])
def test_java_key_and_trust_stores_authenticate_both_sides(
    secured: Secured, kind: str, boundaries: Literal["markers", "quiescence"]
) -> None:
    """Trust and key stores of either kind make a connection with certificates of both sides."""
    other = "another-secret" if kind == "JKS" else PASSWORD  # Java's PKCS#12 has one password for all
    stores = {**trust_store(secured.folder, kind), **key_store(secured.folder, kind, other)}
    round_trip(secured, "MTLS", stores, boundaries)


def test_scram_by_jaas(secured: Secured) -> None:
    """A JAAS configuration of several lines works, with a trust store of Java and Java's serializers."""
    jaas = f'{_LOGIN}.scram.ScramLoginModule required\n    username="me"\n    password="my-secret";\n'
    java = {
        **trust_store(secured.folder, "JKS"), "sasl.mechanism": "SCRAM-SHA-512", "sasl.jaas.config": jaas,
        "key.serializer": "org.apache.kafka.common.serialization.StringSerializer", "max.request.size": "1048576",
    }  # fmt: skip
    round_trip(secured, "SCRAM", java, "markers")


@pytest.fixture(scope="module")
def own_key(secured: Secured) -> dict[str, str]:
    """Stores of which the private key has a password of its own, made once: each takes a second of keytool."""
    return {**trust_store(secured.folder, "JKS"), **key_store(secured.folder, "JKS", "key-of-its-own")}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"ssl.truststore.password": "x"}, "has a different password, or is damaged"),
        ({"ssl.truststore.location": "nowhere.jks"}, r"nowhere.jks cannot be read \(No such file"),
        ({"ssl.keystore.password": "x"}, "has a different password, or is damaged"),
        ({"ssl.key.password": "x"}, "ssl.key.password does not open the private key client"),
    ],
)
def test_stores_that_do_not_open(own_key: dict[str, str], change: dict[str, str], reason: str) -> None:
    """An error about a store names the wrong property, and never shows a password."""
    with pytest.raises(ConfigurationError, match=reason) as caught:
        from_java({**own_key, **change})
    assert PASSWORD not in str(caught.value)


def test_a_damaged_store(secured: Secured) -> None:
    """A damaged store causes an error, without hanging or a foreign stack trace."""
    stores = trust_store(secured.folder, "JKS")
    path = Path(stores["ssl.truststore.location"])
    whole = path.read_bytes()
    for size in (4, 12, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(ConfigurationError, match=r"ssl\.truststore\.location"):
            from_java(stores)
