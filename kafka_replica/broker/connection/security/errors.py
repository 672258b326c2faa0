"""Translate exceptions of aiokafka's connection into our exceptions, with advice."""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import TypeAlias

from aiokafka.errors import BrokerResponseError, IncompatibleBrokerVersion
from aiokafka.errors import KafkaConnectionError as ConnectionLostError
from confluent_kafka import KafkaError

from kafka_replica.broker.errors import translate_error
from kafka_replica.common.error_causes import causes
from kafka_replica.errors import AuthenticationError, BrokerError, BrokerUnavailableError, ConfigurationError

_SAID = {
    KafkaError.UNSUPPORTED_SASL_MECHANISM: "this listener does not support the configured sasl.mechanism",
    KafkaError.ILLEGAL_SASL_STATE: "this listener requires no authentication, but security.protocol demands it",
}
_NO_TLS = frozenset({"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG"})
# Errors of a broken connection, which do not concern our credentials.
_BROKEN = frozenset({
    "APPLICATION_DATA_AFTER_CLOSE_NOTIFY", "BAD_RECORD_MAC", "DECRYPTION_FAILED_OR_BAD_RECORD_MAC", "INTERNAL_ERROR",
    "UNEXPECTED_EOF_WHILE_READING", "USER_CANCELLED",
})  # fmt: skip
_NO_COMMON = frozenset({
    "HANDSHAKE_FAILURE", "INSUFFICIENT_SECURITY", "NO_CIPHERS_AVAILABLE", "NO_PROTOCOLS_AVAILABLE", "NO_SHARED_CIPHER",
    "PROTOCOL_VERSION", "UNSUPPORTED_PROTOCOL",
})  # fmt: skip
_CHECK_CRL = "check ssl.crl.location"
_NAME_IT = "use the host name of its certificate, or get it another certificate"
# Advice by OpenSSL's codes (X509_V_ERR_...).
_ABOUT_CERTIFICATE = {
    3: _CHECK_CRL,
    9: "check this machine's clock",
    10: "get the broker a new certificate, or check this machine's clock",
    12: _CHECK_CRL,
    23: _CHECK_CRL + ", or get the broker another certificate",
    62: _NAME_IT,
    64: _NAME_IT,
}
_TLS_ALERT = b"\x15\x03"

_CHECK_REACHABLE = "check bootstrap.servers, and that the broker runs and can be reached from here"
_CHECK_PROTOCOL = "check that security.protocol is the one of this listener"

_Found: TypeAlias = tuple[type[BrokerError | ConfigurationError], str]
_BY_TYPE: tuple[tuple[type[BaseException], type[BrokerError | ConfigurationError], str], ...] = (
    (TimeoutError, BrokerUnavailableError, f"no answer in time; {_CHECK_REACHABLE}"),
    (socket.gaierror, BrokerUnavailableError, f"the name of its host cannot be resolved; {_CHECK_REACHABLE}"),
    (ConnectionRefusedError, BrokerUnavailableError, f"the connection was refused; {_CHECK_REACHABLE}"),
    (
        ConnectionResetError,
        BrokerUnavailableError,
        f"the connection was closed at once; {_CHECK_REACHABLE}, and {_CHECK_PROTOCOL}",
    ),
    (
        IncompatibleBrokerVersion,
        BrokerError,
        "the server is too old, or not a broker (a controller?); check the port in bootstrap.servers",
    ),
)


def connection_failed(error: BaseException, doing: str) -> BrokerError | ConfigurationError:
    """Return our exception for an exception of aiokafka's connection.

    Args:
        error: the exception; our own exceptions are returned unchanged.
        doing: the current operation and the broker, for the message.

    Returns:
        AuthenticationError if waiting does not help (the broker refused our credentials, or we its certificate);
        BrokerUnavailableError if waiting may help; ConfigurationError if a setting must be wrong; else BrokerError.
    """
    if isinstance(error, (BrokerError, ConfigurationError)):
        return error
    chain = tuple(causes(error))
    for cause in chain:
        found = _explained(cause)
        if found is not None:
            kind, what = found
            return kind(f"{doing}: {what}")
        if isinstance(cause, BrokerResponseError):
            return translate_error(KafkaError(cause.errno, _SAID.get(cause.errno) or _words(cause)), doing)
    if isinstance(chain[-1], (OSError, EOFError, ConnectionLostError)):
        return BrokerUnavailableError(f"{doing}: the connection was closed ({_words(chain[-1])}); {_CHECK_REACHABLE}")
    return BrokerError(f"{doing}: {type(error).__name__}: {error}; see the broker's log")


def _explained(error: BaseException) -> _Found | None:
    if isinstance(error, ssl.SSLCertVerificationError):
        return _certificate(error)
    if isinstance(error, ssl.SSLError):
        return _tls(error)
    if isinstance(error, asyncio.IncompleteReadError):
        return _no_answer(error)
    if isinstance(error, ValueError) and str(error).startswith("Server "):  # aiokafka's SCRAM
        return AuthenticationError, (
            f"the broker could not prove that it knows our password ({error}); check the broker's address"
        )
    if type(error).__module__.partition(".")[0] == "gssapi":
        return AuthenticationError, f"Kerberos reports: {error}; check that there is a ticket (klist)"
    return next(((kind, what) for types, kind, what in _BY_TYPE if isinstance(error, types)), None)


def _certificate(error: ssl.SSLCertVerificationError) -> _Found:
    what = f"the broker's certificate was not accepted: {error.verify_message.rstrip('.')}"
    advice = _ABOUT_CERTIFICATE.get(error.verify_code, "check that ssl.ca.location holds the authority that signed it")
    return AuthenticationError, f"{what}; {advice}"


def _tls(error: ssl.SSLError) -> _Found:
    reason = error.reason or type(error).__name__
    _, alert, word = reason.rpartition("_ALERT_")  # an alert is the broker's verdict, any other reason is ours
    if word in _NO_TLS:
        return ConfigurationError, f"the server does not speak TLS ({reason}); {_CHECK_PROTOCOL}"
    if word in _BROKEN or isinstance(error, (ssl.SSLEOFError, ssl.SSLSyscallError, ssl.SSLZeroReturnError)):
        return BrokerUnavailableError, f"the connection was closed during TLS ({reason}); {_CHECK_REACHABLE}"
    if word in _NO_COMMON:
        what = f"client and broker have no TLS version and cipher in common ({reason})"
        return AuthenticationError, f"{what}; check ssl.cipher.suites, the client's certificate and the broker's log"
    if alert:
        what = f"the broker did not accept our certificate, or requires one ({reason})"
        return AuthenticationError, f"{what}; check ssl.certificate.location, ssl.key.location and the broker's log"
    return AuthenticationError, f"TLS failed ({reason}); check the ssl.* properties and the broker's log"


def _no_answer(error: asyncio.IncompleteReadError) -> _Found:
    """Explain an incomplete answer: the bytes that were read as its length show which protocol the peer uses."""
    head = (error.expected or 0).to_bytes(8, "big")[4:]
    if head.startswith(_TLS_ALERT):
        return ConfigurationError, f"this listener requires TLS; {_CHECK_PROTOCOL}"
    if head.isascii() and head.decode().isprintable():
        return ConfigurationError, "the server does not speak Kafka's protocol; check the port in bootstrap.servers"
    return BrokerUnavailableError, f"the broker closed the connection; {_CHECK_REACHABLE}, and {_CHECK_PROTOCOL}"


def _words(error: BaseException) -> str:
    """Return the error's message, without the names that aiokafka puts before it."""
    return ", ".join(str(part) for part in error.args) or type(error).__name__
