"""librdkafka's properties as aiokafka's arguments: translations, refusals, meanings of failures."""

from __future__ import annotations

import asyncio
import socket
import ssl
import sys
import types
from typing import Any

import pytest
from aiokafka.errors import IncompatibleBrokerVersion, KafkaConnectionError, for_code
from confluent_kafka.admin import AdminClient

from kafka_replica.broker.connection import property_names
from kafka_replica.broker.connection.security import connection_failed, connection_settings
from kafka_replica.errors import AuthenticationError, BrokerError, BrokerUnavailableError, ConfigurationError

SECRET = "do-not-tell"  # searched for in messages
BASE = {"bootstrap.servers": "b:1"}
LOGIN = {"security.protocol": "SASL_PLAINTEXT", "sasl.username": "me", "sasl.password": SECRET}
OAUTH = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER"}
OIDC = {
    **OAUTH,
    "sasl.oauthbearer.method": "OIDC",
    "sasl.oauthbearer.token.endpoint.url": "http://localhost:1/token",
    "sasl.oauthbearer.client.id": "me",
    "sasl.oauthbearer.client.secret": SECRET,
}
UNSECURED = {**OAUTH, "enable.sasl.oauthbearer.unsecure.jwt": True, "sasl.oauthbearer.config": "principal=me"}
PLAIN = {"sasl_mechanism": "PLAIN", "sasl_plain_username": "me", "sasl_plain_password": SECRET}

# Given properties -> result. librdkafka itself has to accept each of them, too.
TRANSLATED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (BASE, {"servers": (("b", 1),), "client_id": "kafka-replica", "security_protocol": "PLAINTEXT"}),
    (BASE, {"request_timeout_ms": 60_000, "max_idle_ms": None, "setup_timeout_s": 30.0}),
    ({"metadata.broker.list": "a,b:2,a:9092"}, {"servers": (("a", 9092), ("b", 2))}),
    ({**BASE, "metadata.broker.list": "later:2"}, {"servers": (("later", 2),)}),
    ({"bootstrap.servers": "[::1]:3, [::2],::3, :4"},
     {"servers": (("::1", 3), ("::2", 9092), ("::3", 9092), ("localhost", 4))}),
    ({"bootstrap.servers": "PLAINTEXT://a:1/x,plaintext://[::1]"}, {"servers": (("a", 1), ("::1", 9092))}),
    ({"bootstrap.servers": "SSL://h:9093", "security.protocol": "Ssl"},
     {"servers": (("h", 9093),), "security_protocol": "SSL"}),
    ({**BASE, "client.id": "x", "socket.timeout.ms": "1000", "connections.max.idle.ms": 5},
     {"client_id": "x", "request_timeout_ms": 1000, "max_idle_ms": 5}),
    ({**BASE, "client.id": "", "client.rack": None, "broker.address.family": "any", "client.dns.lookup":
      "use_all_dns_ips", "socket.connection.setup.timeout.ms": 2000}, {"client_id": "kafka-replica",
                                                                      "setup_timeout_s": 2.0}),
    ({**BASE, **LOGIN, "sasl.mechanism": "PLAIN"}, {"security_protocol": "SASL_PLAINTEXT", **PLAIN}),
    ({**BASE, **LOGIN, "sasl.mechanism": "SCRAM-SHA-512", "sasl.mechanisms": "PLAIN"}, PLAIN),
    ({**BASE, **LOGIN, "sasl.mechanisms": "SCRAM-SHA-256"}, {**PLAIN, "sasl_mechanism": "SCRAM-SHA-256"}),
    ({**BASE, **LOGIN, "sasl.mechanism": "SCRAM-SHA-512", "security.protocol": "sasl_ssl"},
     {**PLAIN, "sasl_mechanism": "SCRAM-SHA-512", "security_protocol": "SASL_SSL"}),
    ({**BASE, **UNSECURED}, {"sasl_mechanism": "OAUTHBEARER"}),
    ({**BASE, **OIDC, "sasl.oauthbearer.scope": "a b", "sasl.oauthbearer.extensions": "k=v"},
     {"sasl_mechanism": "OAUTHBEARER"}),
    # Without TLS and SASL their properties are ignored, as in librdkafka; the others have no meaning here.
    ({**BASE, "ssl.ca.location": "/nowhere", "sasl.mechanism": "PLAIN", "ssl.curves.list": "P-256"}, {}),
    ({**BASE, "fetch.wait.max.ms": 5, "queued.min.messages": 7, "group.id": "g", "log_level": 0,
      "statistics.interval.ms": 0, "auto.offset.reset": "earliest", "socket.keepalive.enable": True}, {}),
]  # fmt: skip

TLS = {"security.protocol": "SSL"}
OTHER_WAY = 'boundaries="quiescence"'
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"bootstrap.servers": ""}, "no broker to connect to"),
    ({"bootstrap.servers": " , "}, "names no broker"),
    ({"bootstrap.servers": "a:x"}, "bootstrap.servers has a:x, whose port is invalid"),
    ({"metadata.broker.list": "a:70000"}, "metadata.broker.list has a:70000"),
    ({"bootstrap.servers": "SSL://a:1"}, "security.protocol is PLAINTEXT; make them agree"),
    ({"bootstrap.servers": f"me:{SECRET}@a:1"}, "set the user in sasl.username"),
    ({"bootstrap.servers": "a b:1"}, "whose host is invalid"),
    ({"security.protocol": "TLS"}, "has to be one of plaintext, ssl, sasl_plaintext, sasl_ssl"),
    ({"socket.timeout.ms": "soon"}, "socket.timeout.ms has to be a whole number"),
    ({"socket.timeout.ms": 5}, "is 5; it has to be from 10 to 300000"),
    ({"client.rack": "r1"}, OTHER_WAY),
    ({"plugin.library.paths": "x"}, OTHER_WAY),
    ({"broker.address.family": "v4"}, f"broker.address.family=v4 cannot be honoured .*{OTHER_WAY}"),
    ({"client.dns.lookup": "resolve_canonical_bootstrap_servers_only"}, OTHER_WAY),
    *(({**TLS, name: "x"}, f"{name} cannot be honoured .*{OTHER_WAY}") for name in (
        "ssl.engine.location", "ssl.engine.id", "ssl.providers", "ssl.curves.list", "ssl.sigalgs.list",
        "ssl.certificate.verify_cb", "ssl.ca.certificate.stores", "ssl.of.tomorrow")),
    ({**TLS, "ssl_key": SECRET}, "is not for this client; set ssl.key.pem"),
    ({**TLS, "ssl.ca.location": "/nowhere"}, r"ssl.ca.location cannot be used: /nowhere \(No such file"),
    ({**TLS, "ssl.ca.pem": "no pem"}, "ssl.ca.pem holds no certificate"),
    ({**TLS, "ssl.crl.location": "/nowhere"}, "ssl.crl.location cannot be used"),
    ({**TLS, "ssl.cipher.suites": "NONE-SUCH"}, "ssl.cipher.suites allows no cipher"),
    ({**TLS, "enable.ssl.certificate.verification": "maybe"}, "has to be true or false"),
    ({**TLS, "ssl.endpoint.identification.algorithm": "ftp"}, "has to be one of https, none"),
    ({**TLS, "ssl.certificate.location": "x"}, "ssl.key.location is missing"),
    ({**TLS, "ssl.key.pem": SECRET}, "ssl.certificate.location is missing"),
    ({**TLS, "ssl.key.pem": SECRET, "ssl.certificate.pem": "x"}, "ssl.certificate.pem and ssl.key.pem cannot"),
    ({**TLS, "ssl.keystore.location": "x"}, "ssl.keystore.password is missing"),
    ({**LOGIN, "sasl.mechanism": "plain"}, "'plain'; it has to be one of .*in capitals"),
    ({**LOGIN, "sasl.mechanism": "PLAIN,GSSAPI"}, "has to be one of"),
    ({**LOGIN, "sasl.mechanism": "PLAIN", "sasl.username": ""}, "sasl.username is missing; PLAIN needs it"),
    ({**LOGIN, "sasl.mechanism": "SCRAM-SHA-256", "sasl.password": None}, "sasl.password is missing"),
    ({**LOGIN, "sasl.mechanism": "PLAIN", "sasl.of.tomorrow": "x"}, OTHER_WAY),
    (OAUTH, "no source of tokens is set"),
    ({**UNSECURED, "oauth_cb": print}, "and oauth_cb exclude each other"),
    ({**UNSECURED, **OIDC}, "and sasl.oauthbearer.method=oidc exclude each other"),
    ({**OAUTH, "oauth_cb": "token"}, "must be a function, not str"),
    *(({**UNSECURED, "sasl.oauthbearer.config": config}, reason) for config, reason in (
        ("", "names no principal"), ("scope=a", "names no principal"), ("principal=", "unknown, empty or duplicated"),
        ("principal=a colour=b", "colour"), ("principal=a principal=b", "duplicated"),
        ("principal=a lifeSeconds=0", "lifeSeconds"), ("principal=a lifeSeconds=x", "lifeSeconds"))),
    ({**OIDC, "sasl.oauthbearer.client.secret": None}, "client.secret is missing"),
    ({**OIDC, "sasl.oauthbearer.token.endpoint.url": "file:///etc/passwd"}, "https://"),
    ({**OIDC, "sasl.oauthbearer.token.endpoint.url": f"https://u:{SECRET}@host/"}, "without a user name"),
    ({**OIDC, "sasl.oauthbearer.extensions": "k"}, "key=value"),
    ({**OIDC, "sasl.oauthbearer.grant.type": "urn:ietf:params:oauth:grant-type:jwt-bearer"}, OTHER_WAY),
    ({**OIDC, "sasl.oauthbearer.metadata.authentication.type": "azure_imds"}, OTHER_WAY),
    ({**OIDC, "sasl.oauthbearer.assertion.file": "x"}, OTHER_WAY),
    ({**OIDC, "https.ca.location": "/nowhere"}, "https.ca.location cannot be used"),
]  # fmt: skip


@pytest.mark.parametrize(("config", "expected"), TRANSLATED)
def test_a_configuration_is_translated(config: dict[str, Any], expected: dict[str, Any]) -> None:
    """Given properties become aiokafka's arguments, and librdkafka accepts the same without complaint."""
    settings = connection_settings(config)
    found = {**settings.kwargs, "servers": settings.servers, "setup_timeout_s": settings.setup_timeout_s}
    assert {name: found[name] for name in expected} == expected
    assert SECRET not in repr(settings)
    assert ("ssl_context" in settings.kwargs) == settings.security_protocol.endswith("SSL")
    AdminClient({"log_level": 0, **config})


@pytest.mark.thorough
@pytest.mark.parametrize(("config", "reason"), REFUSED)
def test_impossible_settings_are_refused_with_a_remedy(
    config: dict[str, Any], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each refusal is an error of this package, names the property and a remedy, and shows no secret."""
    monkeypatch.setattr(property_names, "_is_new", lambda _name: True)  # a later librdkafka may have other properties
    with pytest.raises(ConfigurationError, match=reason) as caught:
        connection_settings(config if "metadata.broker.list" in config else {**BASE, **config})
    chained: BaseException | None = caught.value
    while chained is not None:
        assert SECRET not in str(chained)
        chained = chained.__cause__


@pytest.mark.thorough
def test_kerberos_needs_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package gssapi Kerberos is refused with what to install; with it, the service name is passed on."""
    config = {**BASE, "security.protocol": "SASL_SSL", "sasl.kerberos.service.name": "k"}  # GSSAPI is the default
    monkeypatch.setitem(sys.modules, "gssapi", None)
    with pytest.raises(ConfigurationError, match="pip install gssapi"):
        connection_settings(config)
    monkeypatch.setitem(sys.modules, "gssapi", types.ModuleType("gssapi"))
    kwargs = connection_settings(config).kwargs
    assert (kwargs["sasl_mechanism"], kwargs["sasl_kerberos_service_name"]) == ("GSSAPI", "k")
    with pytest.raises(ConfigurationError, match=r"sasl\.kerberos\.of\.tomorrow"):
        connection_settings({**config, "sasl.kerberos.of.tomorrow": "x"})


# The errors of aiokafka's connections. tests/integration/broker/test_secured_brokers.py has those of real brokers.


def lost(cause: BaseException | None) -> KafkaConnectionError:
    """Return an error as aiokafka wraps the cause of a lost connection."""
    error = KafkaConnectionError("Connection at b:1 closed")
    error.__cause__ = cause
    return error


def tls_error(reason: str, kind: type[ssl.SSLError] = ssl.SSLError) -> ssl.SSLError:
    """Return an error as Python's ssl makes it."""
    error = kind(1, f"[SSL: {reason}] said")
    error.reason = reason
    return error


OURS = BrokerUnavailableError("ours")
FAILURES: list[tuple[BaseException, type[Exception], str]] = [
    (OURS, BrokerUnavailableError, "ours"),
    (
        for_code(58)("Authentication failed: x"),
        AuthenticationError,
        "SASL_AUTHENTICATION_FAILED: Authentication failed",
    ),
    (for_code(33)(object()), AuthenticationError, "UNSUPPORTED_SASL_MECHANISM: this listener does not support"),
    (for_code(34)(object()), AuthenticationError, "ILLEGAL_SASL_STATE: this listener requires no authentication"),
    (for_code(7)(), BrokerUnavailableError, "REQUEST_TIMED_OUT"),
    (for_code(-1)("x"), BrokerError, "b:1"),
    (TimeoutError(), BrokerUnavailableError, "no answer in time"),
    (socket.gaierror(-2, "Name or service not known"), BrokerUnavailableError, "cannot be resolved"),
    (ConnectionRefusedError(111, "x"), BrokerUnavailableError, "refused"),
    (ConnectionResetError(), BrokerUnavailableError, "closed at once"),
    (OSError(113, "No route to host"), BrokerUnavailableError, "No route to host"),
    (lost(None), BrokerUnavailableError, "was closed"),
    (lost(asyncio.IncompleteReadError(b"", 4)), BrokerUnavailableError, "closed the connection"),
    (lost(asyncio.IncompleteReadError(b"\x02\x02F", 0x15030300)), ConfigurationError, "requires TLS"),
    (lost(asyncio.IncompleteReadError(b"", int.from_bytes(b"HTTP"))), ConfigurationError, "not speak Kafka"),
    (lost(tls_error("SSLV3_ALERT_BAD_CERTIFICATE")), AuthenticationError, "or requires one"),
    (lost(tls_error("TLSV13_ALERT_CERTIFICATE_REQUIRED")), AuthenticationError, "or requires one"),
    (tls_error("SSLV3_ALERT_HANDSHAKE_FAILURE"), AuthenticationError, "in common"),
    (tls_error("WRONG_VERSION_NUMBER"), ConfigurationError, "does not speak TLS"),
    (tls_error("UNEXPECTED_EOF_WHILE_READING", ssl.SSLEOFError), BrokerUnavailableError, "during TLS"),
    (lost(tls_error("DECRYPTION_FAILED_OR_BAD_RECORD_MAC")), BrokerUnavailableError, "during TLS"),
    (tls_error("OF_TOMORROW"), AuthenticationError, "OF_TOMORROW"),
    (ValueError("Server sent wrong signature!"), AuthenticationError, "could not prove that it knows our password"),
    (IncompatibleBrokerVersion("x"), BrokerError, "controller"),
    (AssertionError("odd"), BrokerError, "AssertionError: odd"),
]


@pytest.mark.parametrize(("error", "kind", "reason"), FAILURES)
def test_refusals_outages_and_wrong_settings_are_distinguished(
    error: BaseException, kind: type[Exception], reason: str
) -> None:
    """A failure is a refusal, an outage or a wrong setting, never confused: a replica retries only after an outage."""
    found = connection_failed(error, "while connecting to b:1")
    assert type(found) is kind
    assert reason in str(found)
    assert found is error or "b:1" in str(found)


def test_gssapi_errors_are_authentication_errors() -> None:
    """Errors of the package gssapi are authentication errors."""
    gss_error = type("GSSError", (Exception,), {"__module__": "gssapi.raw.misc"})("No credentials")
    found = connection_failed(gss_error, "x")
    assert isinstance(found, AuthenticationError)
    assert "klist" in str(found)
