"""JAAS texts and Java's property names, without any file or broker."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_replica.broker.connection.java import from_java
from kafka_replica.broker.connection.java.jaas import parse_jaas
from kafka_replica.errors import ConfigurationError

SECRET = "hush-hush"
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


@pytest.mark.parametrize(
    "text",
    [
        f'{PLAIN} required username="me" password="{SECRET}";',
        f'{PLAIN} required\n  username="me"\n  password="{SECRET}"\n;\n',
        f"{PLAIN} required \\\n  username='me' \\\n  password={SECRET};",
        f'KafkaClient {{\n // who\n {PLAIN} REQUIRED\n username=me /* and */ password="{SECRET}";\n}};',
        f'# kept by hand\n{PLAIN} required username = "me" password = "{SECRET}" ;',
    ],
)
def test_ways_to_write_jaas(text: str) -> None:
    """JAAS may be written on one line or many, quoted or not, with comments, or in a section."""
    login = parse_jaas(text)
    assert (login.module, dict(login.options)) == ("PlainLoginModule", {"username": "me", "password": SECRET})
    assert SECRET not in repr(login)


def test_escapes_and_odd_characters() -> None:
    """User names and passwords in JAAS may contain quotes, backslashes and other special characters."""
    login = parse_jaas(rf'{PLAIN} required username="a\"b" password="p;={{}}\\ \'#//";')
    assert dict(login.options) == {"username": 'a"b', "password": "p;={}\\ '#//"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "begin with a class and a flag"),
        (SECRET, "begin with a class and a flag"),
        (f'{PLAIN} username="me" password="{SECRET}";', "begin with a class and a flag"),
        (f'{PLAIN} required password="{SECRET}"', "semicolon at its end is missing"),
        (f'{PLAIN} required password="{SECRET};', "line 1 has a quote that is not closed"),
        (f'{PLAIN} required\n\npassword="{SECRET}\n;', "line 3 has a quote"),
        (f"{PLAIN} required username=me {SECRET};", "after the option username there is no name=value"),
        (f'{PLAIN} required password="{SECRET}"; {PLAIN} required;', "several login modules"),
        (f"KafkaClient {{ {PLAIN} required;", "the closing } of the section is missing"),
    ],
)
def test_invalid_jaas_is_refused_without_quoting_it(text: str, reason: str) -> None:
    """The error says what is missing, and does not quote the text."""
    with pytest.raises(ConfigurationError, match=reason) as caught:
        parse_jaas(text)
    assert SECRET not in str(caught.value)


@pytest.mark.thorough
@given(st.text(alphabet="ab=\"';{}\\\n #/*", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Any text is either read or refused with an error of this package."""
    with contextlib.suppress(ConfigurationError):
        parse_jaas(text)


LOGIN = "com.sun.security.auth.module.Krb5LoginModule"
BEARER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"


@pytest.mark.parametrize(
    ("java", "ours"),
    [
        ({"a": "b"}, {"a": "b"}),
        ({"max.request.size": "5"}, {"message.max.bytes": "5"}),
        ({"ssl.endpoint.identification.algorithm": ""}, {"ssl.endpoint.identification.algorithm": "none"}),
        ({"ssl.truststore.certificates": "a\\nb"}, {"ssl.ca.pem": "a\nb"}),
        ({"key.serializer": "x", "buffer.memory": "1", "acks": "all"}, {"acks": "all"}),
        (
            {"sasl.jaas.config": f"{PLAIN} required username=me password={SECRET};"},
            {"sasl.mechanism": "PLAIN", "sasl.username": "me", "sasl.password": SECRET},
        ),
        (
            {"sasl.jaas.config": f'{LOGIN} required\n useKeyTab=true\n storeKey=true\n keyTab="/k"\n principal="a@B";'},
            {"sasl.mechanism": "GSSAPI", "sasl.kerberos.principal": "a@B", "sasl.kerberos.keytab": "/k"},
        ),
        (
            {"sasl.jaas.config": f"{LOGIN} required useTicketCache=true serviceName=bus;"},
            {
                "sasl.mechanism": "GSSAPI", "sasl.kerberos.service.name": "bus", "sasl.kerberos.kinit.cmd": "true",
            },
        ),
        (
            {"sasl.jaas.config": f"{BEARER} required clientId=c clientSecret={SECRET} scope=s;"},
            {
                "sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.method": "oidc", "sasl.oauthbearer.client.id": "c",
                "sasl.oauthbearer.client.secret": SECRET, "sasl.oauthbearer.scope": "s",
            },
        ),
        (
            {"sasl.jaas.config": f"{BEARER} required unsecuredLoginStringClaim_sub=me;"},
            {
                "sasl.mechanism": "OAUTHBEARER", "enable.sasl.oauthbearer.unsecure.jwt": "true",
                "sasl.oauthbearer.config": "principal=me",
            },
        ),
    ],
)  # fmt: skip
def test_in_librdkafkas_words(java: dict[str, Any], ours: dict[str, Any]) -> None:
    """Properties of Java's clients are translated to librdkafka's; librdkafka's own properties stay."""
    assert from_java(java) == ours
    assert from_java(ours) == ours


@pytest.mark.parametrize(
    ("java", "reason"),
    [
        (
            {"sasl.jaas.config": f"io.strimzi.Login required password={SECRET};"},
            "names Login, which exists only in Java",
        ),
        ({"sasl.jaas.config": f"{PLAIN} required password={SECRET};"}, "lacks the option username"),
        ({"sasl.jaas.config": f"a.ScramLoginModule required password={SECRET};"}, "set its variant in sasl.mechanism"),
        ({"sasl.jaas.config": f"{LOGIN} required useKeyTab=true;"}, "lacks the option keyTab"),
    ],
)
def test_a_property_without_an_equivalent_is_refused(java: dict[str, Any], reason: str) -> None:
    """A property without an equivalent is refused with the reason and without the secret."""
    with pytest.raises(ConfigurationError, match=reason) as caught:
        from_java(java)
    assert SECRET not in str(caught.value)
