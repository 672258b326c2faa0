"""Kerberos with a real KDC: librdkafka logs in with the ``sasl.jaas.config`` of a registry.

confluent-kafka's wheels have no GSSAPI, so a client process uses one that was built against the system's librdkafka,
which may be an old version: it gets only the translated properties. Where this environment's
own confluent-kafka has GSSAPI, producer and replica are tested completely.
"""

from __future__ import annotations

import importlib.util
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_replica import Replica
from kafka_replica.broker.connection.java import from_java
from kafka_replica.errors import ConfigurationError
from kafka_replica.producer import TransactionalProducer
from support.broker.kerberos_tools import REALM, Kerberos, client_with_kerberos, missing_programs, wheel_has_kerberos

pytestmark = pytest.mark.broker

_PATIENCE_S = 60.0


@pytest.fixture(scope="module")
def kerberos(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kerberos]:
    """A KDC, and a broker that uses it."""
    missing = missing_programs()
    if missing is not None:
        pytest.skip(missing)
    made = Kerberos(tmp_path_factory.mktemp("kerberos"))
    yield made
    made.stop()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a confluent-kafka with GSSAPI."""
    missing = missing_programs()
    found = missing or client_with_kerberos(tmp_path_factory.mktemp("site"))
    if isinstance(found, str):
        pytest.skip(found)
    return found


def registrys(kerberos: Kerberos, keytab: str = "registry", principal: str = "registry") -> dict[str, str]:
    """Return a registry's properties: Java's names, and a login of several lines."""
    login = f"""com.sun.security.auth.module.Krb5LoginModule required
        useKeyTab=true
        storeKey=true   // Java keeps it, librdkafka asks kinit
        keyTab="{kerberos.folder}/{keytab}.keytab"
        principal="{principal}@{REALM}"
        serviceName="kafka";"""
    return {
        "bootstrap.servers": kerberos.address,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "GSSAPI",
        "sasl.jaas.config": login,
    }


def by_ticket(kerberos: Kerberos) -> dict[str, str]:
    """Return these properties for an existing ticket."""
    login = """com.sun.security.auth.module.Krb5LoginModule required
        useTicketCache=true
        serviceName="kafka";"""
    return {**registrys(kerberos), "sasl.jaas.config": login}


def test_a_registrys_login_is_translated_and_works(kerberos: Kerberos, site: Path) -> None:
    """A login works by keytab and by ticket, and fails without either and with another user's keytab."""
    topic = kerberos.kafka.create_topic(f"kerberos-{uuid.uuid4().hex}")
    tickets = kerberos.folder / "tickets"

    report = kerberos.client(site, from_java(by_ticket(kerberos)), topic, "without a ticket")
    assert "_AUTHENTICATION" in report["errors"], report
    assert "read" not in report
    report = kerberos.client(site, from_java(registrys(kerberos, "broker")), topic, "with another's keytab")
    assert "_AUTHENTICATION" in report["errors"], report
    assert "read" not in report

    assert kerberos.client(site, from_java(registrys(kerberos)), topic, "keytab").get("read") == ["keytab"]

    tickets.unlink(missing_ok=True)
    kerberos.run("kinit", "-k", "-t", f"{kerberos.folder}/registry.keytab", f"registry@{REALM}")
    report = kerberos.client(site, from_java(by_ticket(kerberos)), topic, "ticket")
    assert report.get("read") == ["keytab", "ticket"], report
    tickets.unlink()


def test_producer_and_replica_by_kerberos(kerberos: Kerberos, monkeypatch: pytest.MonkeyPatch) -> None:
    """Producer and replica work completely, where this environment's confluent-kafka has GSSAPI."""
    if not wheel_has_kerberos():
        pytest.skip("SKIPPED LOUDLY: this environment's confluent-kafka is a wheel, and these have no GSSAPI")
    monkeypatch.setenv("KRB5_CONFIG", kerberos.environment["KRB5_CONFIG"])
    topic = kerberos.kafka.create_topic(f"kerberos-{uuid.uuid4().hex}", config={"cleanup.policy": "compact"})
    producer = TransactionalProducer(registrys(kerberos), topic, topic)
    with producer.transaction() as transaction:
        transaction.put("a", b"1")
    producer.wait_visible(transaction.committed)
    with Replica(registrys(kerberos), topic, boundaries="quiescence") as replica:
        replica.wait_ready(timeout_s=_PATIENCE_S)
        found = replica.snapshot().get("a")
    assert found is not None
    assert found.value == b"1"


def test_a_replica_by_markers(kerberos: Kerberos, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection of aiokafka works by ticket with the package gssapi, where that is installed."""
    if importlib.util.find_spec("gssapi") is None:
        pytest.skip("SKIPPED LOUDLY: the package gssapi is not installed (pip install gssapi; needs libkrb5-dev)")
    monkeypatch.setenv("KRB5_CONFIG", kerberos.environment["KRB5_CONFIG"])
    kerberos.run("kinit", "-k", "-t", f"{kerberos.folder}/registry.keytab", f"registry@{REALM}")
    topic = kerberos.kafka.create_topic(f"kerberos-{uuid.uuid4().hex}", config={"cleanup.policy": "compact"})
    producer = TransactionalProducer({"bootstrap.servers": kerberos.kafka.bootstrap_servers}, topic, topic)
    with producer.transaction() as transaction:
        transaction.put("a", b"1")
    with Replica(by_ticket(kerberos), topic, boundaries="markers") as replica:
        replica.wait_ready(timeout_s=_PATIENCE_S)
        found = replica.snapshot().get("a")
    assert found is not None
    assert found.value == b"1"


def test_a_client_without_kerberos_raises_with_advice() -> None:
    """A confluent-kafka without Kerberos causes an error that says what is missing, and where to get it."""
    if wheel_has_kerberos():
        pytest.skip("this environment's confluent-kafka has GSSAPI")
    login = 'com.sun.security.auth.module.Krb5LoginModule required useTicketCache=true serviceName="kafka";'
    config = {"bootstrap.servers": "localhost:1", "security.protocol": "SASL_PLAINTEXT", "sasl.jaas.config": login}
    with pytest.raises(ConfigurationError, match=r"none of confluent-kafka's wheels has Kerberos.*libsasl2-modules"):
        TransactionalProducer(config, "topic", "id")
