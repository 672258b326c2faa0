"""Tell the failure of a service from a bad record, by the errors of Confluent's client and of its rules."""

from __future__ import annotations

import socket
import ssl
from typing import Final

from kafka_replica.common.error_causes import causes, text_of
from kafka_replica.headers.errors import ServiceUnavailableError

# The registry's own answers about a schema: unknown, incompatible or invalid. Any other refusal, such as a proxy's 407,
# says nothing about the record.
_UNKNOWN: Final = 404
_ABOUT_SCHEMA: Final = frozenset({_UNKNOWN, 409, 422})
_UNKNOWN_PATH: Final = "HTTP 404 Not Found"  # Confluent's message for a path that the registry does not have
# Proxies answer 404, too, while their registry restarts.
_MAY_PASS: Final = frozenset({_UNKNOWN, 408, 425, 429})
_CLOSED: Final = (ssl.SSLEOFError, ssl.SSLZeroReturnError)  # as a proxy closes connections while its registry is away
_NO_CONNECTION: Final = (ConnectionError, socket.gaierror, ssl.SSLError)
_OF_TOKENS: Final = frozenset({"OAuthError", "OAuthTokenError"})  # without a cause


def is_about_schema(error: BaseException) -> bool:
    """Return whether a registry has answered that a schema is unknown, incompatible or invalid.

    A proxy, or another service at a wrong URL, may answer with the same status, but not with a registry's error code.
    """
    return _status(error) in _ABOUT_SCHEMA and has_code_of_registry(error)


def is_foreign_not_found(error: BaseException | None) -> bool:
    """Return whether the status is 404, but not about a schema: the answer of a proxy, or to a path that is unknown."""
    return _status(error) == _UNKNOWN and not has_code_of_registry(error)


def is_refusal(error: Exception) -> bool:
    """Return whether a service is there, but not for this client: its status, certificate or credentials say so."""
    for cause in causes(error, with_context=True):
        status = _status(cause)
        if status is not None:
            return 300 <= status < 500 and status not in _MAY_PASS
        if isinstance(cause, ssl.SSLError):
            return not isinstance(cause, _CLOSED)
        if type(cause).__name__ == "OAuthError":
            return True
    return False


def service_failure(error: Exception) -> ServiceUnavailableError | None:
    """Return the failure of a service behind an error; None if the record or the schema is wrong, or our program.

    Confluent's deserializers wrap the errors of rules, such as those for encrypted fields, in errors without text.
    """
    for cause in causes(error):
        if isinstance(cause, ServiceUnavailableError):
            return cause
        if is_about_schema(cause) or type(cause).__module__.partition(".")[0] == "referencing":
            return None  # a JSON schema refers to another one, at an address where there may never be anything
        if _status(cause) is not None or _is_of_connection(cause):
            return ServiceUnavailableError(text_of(error), is_refusal=is_refusal(error))
    return None


def _status(error: BaseException | None) -> int | None:
    """Return the HTTP status of a SchemaRegistryError, whose package needs an extra; None for other errors."""
    status = getattr(error, "http_status_code", None)
    return status if isinstance(status, int) else None


def has_code_of_registry(error: BaseException | None) -> bool:
    """Return whether the error code in an answer is one of a registry, such as 40403 for an unknown schema.

    Confluent's client sets -1 for answers in another format, and None for JSON without a code; Apicurio writes 0 for
    errors that no registry of Confluent has. Karapace and older versions of Apicurio repeat the status as the code.
    """
    code = getattr(error, "error_code", None)
    if not isinstance(code, int) or code <= 0:
        return False
    if _status(error) != _UNKNOWN:
        return True  # Apicurio answers 409 with the codes of 422
    return code // 100 == _UNKNOWN or (code == _UNKNOWN and getattr(error, "error_message", None) != _UNKNOWN_PATH)


def _is_of_connection(cause: BaseException) -> bool:
    """Return whether a connection failed; a bare TimeoutError may be that of a rule's own time limit."""
    if isinstance(cause, TimeoutError):
        return cause.errno is not None
    return isinstance(cause, _NO_CONNECTION) or type(cause).__name__ in _OF_TOKENS or _is_of_http(cause)


def _is_of_http(cause: BaseException) -> bool:
    """Return whether httpx, in whichever version Confluent's client uses, has found no connection or no response."""
    return any(
        each.__name__ == "TransportError" and each.__module__.partition(".")[0] in {"httpx", "httpx2"}
        for each in type(cause).__mro__
    )
