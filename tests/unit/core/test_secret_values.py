"""Secrets in settings: which settings are secret; they are shown nowhere and usable everywhere."""

from __future__ import annotations

import copy
import pickle
import pprint
import traceback
from typing import Any

import pytest
from aiokafka.protocol.admin import SaslAuthenticateRequest, SaslAuthenticateResponse_v1

from kafka_replica.broker.connection.security.connection import _HiddenRequest, _hide_steps
from kafka_replica.common.secret_values import (
    Secret,
    SecretBytes,
    hide_password,
    hide_secrets,
    is_secret,
    without_frames,
)
from kafka_replica.errors import ConfigurationError
from support.core.secret_tools import PASSWORD


@pytest.mark.parametrize(
    "name",
    [
        "sasl.password", "sasl.pasword", "ssl.key.password", "ssl.keystore.password", "ssl.truststore.password",
        "ssl.key.pem", "ssl_key", "ssl.keystore.key", "sasl.jaas.config", "basic.auth.user.info",
        "sasl.oauthbearer.client.secret", "sasl.oauthbearer.client.credentials.client.secret",
        "sasl.oauthbearer.config", "sasl.oauthbearer.assertion.private.key.passphrase", "token", "SASL.PASSWORD",
        "schema.registry.basic.auth.user.info", "bearer.auth.token", "sasl.kerberos.kinit.cmd",
    ],
)  # fmt: skip
def test_secret_properties_are_hidden(name: str) -> None:
    """Secret values appear in no text of the settings, and still equal the given values."""
    settings = hide_secrets({name: PASSWORD, "client.id": "me"})
    assert is_secret(name)
    for text in (repr(settings), str(settings), f"{settings}", pprint.pformat(settings), repr(settings[name][:5])):
        assert PASSWORD[:5] not in text
    assert settings == {name: PASSWORD, "client.id": "me"}
    assert hide_secrets(settings) == settings


@pytest.mark.parametrize(
    "name",
    [
        "sasl.username", "ssl.key.location", "ssl.ca.pem", "ssl.certificate.pem", "key.serializer", "bootstrap.servers",
        "sasl.oauthbearer.token.endpoint.url", "sasl.oauthbearer.client.id", "ssl.keystore.location",
        "transactional.id",
    ],
)  # fmt: skip
def test_other_properties_are_shown(name: str) -> None:
    """Properties that are not secret are shown: they help to find mistakes."""
    assert repr(hide_secrets({name: "value"})) == repr({name: "value"})


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("postgresql+psycopg://me:p@ss/word@host:5432/db", "postgresql+psycopg://me:***@host:5432/db"),
        ("postgresql://host/db?user=me&password=x&sslmode=verify", "postgresql://host/db?user=me&password=***&sslmode=verify"),
        ("https://example.org/token?client_secret=x", "https://example.org/token?client_secret=***"),
        ("me:x@localhost:9092", "me:***@localhost:9092"),
        ("localhost:9092,other:9092", "localhost:9092,other:9092"),
        ("[::1]:9092", "[::1]:9092"),
        ("sqlite:///outbox.db", "sqlite:///outbox.db"),
        ("kafka/host@REALM", "kafka/host@REALM"),
        ("-----BEGIN PRIVATE KEY-----\nMIIB", "***"),
    ],
)  # fmt: skip
def test_values_with_secrets_in_them(value: str, shown: str) -> None:
    """A value that contains a password is shown without it but with its address, whatever the property's name."""
    found = hide_secrets({"some.address": value})["some.address"]
    assert repr(found) == repr(shown)
    assert found == value
    if "://" in value:
        assert repr(hide_password(value)) == repr(shown)


@pytest.mark.parametrize("value", [None, True, print])
def test_values_other_than_texts_are_unchanged(value: Any) -> None:
    """Callbacks, flags and hidden values are unchanged; a number becomes the text that clients make of it."""
    assert hide_secrets({"some.secret": value})["some.secret"] is value
    assert hide_secrets({"some.secret": 4711})["some.secret"] == "4711"


def test_conversions_of_a_secret_stay_hidden() -> None:
    """Conversions, copies and pickles of a secret stay hidden; otherwise the secret behaves like its text."""
    secret = Secret(PASSWORD)
    for made in (str(secret), copy.deepcopy(secret), pickle.loads(pickle.dumps(secret)), Secret(secret), secret[:]):
        assert repr(made) == "'***'"
        assert made == PASSWORD
    assert repr(secret.encode()) == "b'***'"
    assert secret.encode() == PASSWORD.encode()
    assert secret + "x" == PASSWORD + "x"
    assert {PASSWORD: 1}[secret] == 1


def test_settings_have_to_be_a_mapping() -> None:
    """Settings that are not a mapping are refused with an explanation."""
    with pytest.raises(ConfigurationError, match="must be a mapping"):
        hide_secrets([("sasl.password", PASSWORD)])  # type: ignore[arg-type]


def test_a_librarys_frames_are_dropped() -> None:
    """Frames of a library are dropped from an error and its causes; the messages stay."""

    def fail(password: str) -> None:
        try:
            raise OSError(f"nobody there, {len(password)}")
        except OSError as error:
            raise ValueError("cannot connect") from error

    try:
        fail(PASSWORD)
    except ValueError as error:
        without_frames(error)
        text = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    assert PASSWORD not in text
    assert "cannot connect" in text
    assert "nobody there" in text


@pytest.mark.parametrize("version", [0, 1])
def test_requests_that_authenticate_show_nothing(version: int) -> None:
    """Authentication requests of any mechanism show nothing in the log; what is sent and received is unchanged."""
    plain = SaslAuthenticateRequest(PASSWORD.encode())
    hidden = _HiddenRequest(SaslAuthenticateRequest(PASSWORD.encode())).prepare({36: (0, version)})
    assert f"{hidden}" == f"SaslAuthenticateRequest_v{version}(***)"
    assert hidden.encode() == plain.prepare({36: (0, version)}).encode()
    answer = SaslAuthenticateResponse_v1(0, None, b"s=salt,i=4096", 0).encode()
    received = hidden.RESPONSE_TYPE.decode(answer)
    assert repr(received) == f"SaslAuthenticateResponse_v{version}(***)"
    assert received.sasl_auth_bytes == b"s=salt,i=4096"


def test_the_steps_of_an_authenticator_show_nothing() -> None:
    """An authenticator's messages are hidden in asyncio's debug mode, which shows the results of futures."""

    class Kerberos:
        answers = iter([(PASSWORD.encode(), True), (PASSWORD.encode(), False), None])

        def _step(self, _answer: bytes | None) -> tuple[bytes, bool] | None:
            return next(self.answers)

    authenticator = _hide_steps(Kerberos())
    first, second, last = (authenticator._step(None) for _ in range(3))
    assert (repr(first), repr(second), last) == ("(b'***', True)", "(b'***', False)", None)
    assert first == (PASSWORD.encode(), True)
    assert type(first[0]) is SecretBytes
