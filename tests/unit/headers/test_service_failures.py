"""Errors of Confluent's deserializers: the failure of a service is waited for, and the rest makes a record bad."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from functools import reduce
from typing import Any

import httpx
import pytest
from confluent_kafka.schema_registry.error import OAuthTokenError, SchemaRegistryError
from confluent_kafka.schema_registry.serde import RuleError
from confluent_kafka.serialization import SerializationError
from referencing.exceptions import Unresolvable

from kafka_replica.headers import PieceError, ServiceUnavailableError, Stack
from kafka_replica.headers.pieces import RegistrySchemas
from kafka_replica.headers.pieces.service_failures import service_failure

_AWAY = httpx.ConnectError("Connection refused")
_KEY = RuleError("could not get kek one")


def chained(*errors: Exception) -> Exception:
    """Return the first error, whose cause is the second one, and so on."""

    def with_cause(cause: Exception, error: Exception) -> Exception:
        error.__cause__ = cause
        return error

    return reduce(with_cause, reversed(errors))


@pytest.mark.parametrize(
    ("error", "text", "refuses"),
    [
        (
            chained(SerializationError(), _KEY, _AWAY),
            "could not get kek one: Conn",
            False,
        ),
        (chained(SerializationError(), ServiceUnavailableError("no key", is_refusal=True)), "no key", True),
        (chained(RuleError("kms"), TimeoutError(110, "Connection timed out")), "kms: .*timed out", False),
        (chained(SerializationError(), RuleError("kms"), OAuthTokenError("no token")), "kms: no token", False),
        (chained(RuleError("kms"), ssl.SSLCertVerificationError("self-signed")), "kms: .*self-signed", True),
        (SchemaRegistryError(503, 1, "starting"), "starting", False),
        (chained(SerializationError(), SchemaRegistryError(401, 401, "Unauthorized")), "Unauthorized", True),
        (httpx.ReadTimeout(""), "ReadTimeout", False),
        (SchemaRegistryError(404, -1, "404 page not found"), "404 page not found", False),  # a proxy
        (SchemaRegistryError(404, None, None), "None .HTTP status code 404", False),  # type: ignore[arg-type]
        (SchemaRegistryError(404, 404, "HTTP 404 Not Found"), "HTTP 404 Not Found", False),  # a path of no registry
        (SchemaRegistryError(404, 0, "not found"), "not found", False),
        (chained(SerializationError(), SchemaRegistryError(422, -1, "a firewall")), "a firewall", True),
    ],
)
def test_a_service_that_fails_is_found_behind_other_errors(error: Exception, text: str, refuses: bool) -> None:
    """Confluent wraps the errors of rules, and of its client, in an error that has no text."""

    def fails(_value: Any, _context: Any) -> Any:
        raise error

    with pytest.raises(ServiceUnavailableError, match=f"^decoding a value with schema 7: {text}") as raised:
        decoded_by(fails)
    assert raised.value.is_refusal is refuses


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (SchemaRegistryError(404, 40403, "Schema not found"), "Schema not found"),
        (
            chained(SerializationError(), RuleError("the rule is wrong"), ValueError("digits")),
            "the rule is wrong: digi",
        ),
        (chained(SerializationError(), SchemaRegistryError(422, 42201, "invalid")), "invalid"),
        (SchemaRegistryError(404, 404, "No content with id '7' was found."), "No content"),  # an older Apicurio
        (SchemaRegistryError(409, 42203, "incompatible"), "incompatible"),  # Apicurio
        (SchemaRegistryError(409, 409, "incompatible"), "incompatible"),  # Karapace
        (FileNotFoundError(2, "No such file", "x"), "No such file"),
        (SerializationError("too short"), "too short"),
        (TimeoutError("the rule took too long"), "the rule took too long"),
        (chained(ValueError("schema"), Unresolvable("http://nowhere/x"), _AWAY), "schema"),
    ],
)
def test_a_wrong_record_schema_or_program_is_not_a_failure_of_the_service(error: Exception, reason: str) -> None:
    """Waiting would not help. The reason is never an error's name alone."""
    assert service_failure(error) is None

    def fails(_value: Any, _context: Any) -> Any:
        raise error

    with pytest.raises(PieceError, match=reason):
        decoded_by(fails)


def decoded_by(deserializer: Callable[[Any, Any], Any]) -> None:
    """Decode a value with schema 7."""
    Stack([RegistrySchemas(deserializer, bytes)]).incoming(b"a", b"\0\0\0\0\7x", topic="t")
