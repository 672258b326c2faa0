"""A subclass of aiokafka's connection that neither logs nor shows its authentication messages.

aiokafka logs each request and each answer at DEBUG. SASL messages hold the password (PLAIN), the token (OAUTHBEARER),
or enough data to try passwords (the salt and the proofs of SCRAM). Logging can be configured in too many ways to
prevent this in the logger, so the messages themselves hide their content.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import Any, Final

from aiokafka.conn import AIOKafkaConnection
from aiokafka.protocol.admin import SaslAuthenticateRequest

from kafka_replica.broker.connection.security.bearer import CheckedBearer
from kafka_replica.broker.connection.security.oauth import TokenProvider
from kafka_replica.common.secret_values import HIDDEN, SecretBytes


class _OnlyOnce(logging.Filter):
    """A filter that passes aiokafka's warning about an unencrypted password once, not for each connection."""

    _WARNING: Final = "Sending username and password in the clear"

    def __init__(self) -> None:
        super().__init__()
        self._has_passed = False

    def filter(self, record: logging.LogRecord) -> bool:
        if record.msg != self._WARNING:
            return True
        has_passed, self._has_passed = self._has_passed, True
        return not has_passed


logging.getLogger(AIOKafkaConnection.__module__).addFilter(_OnlyOnce())


class Connection(AIOKafkaConnection):  # type: ignore[misc] # aiokafka is not typed
    """A connection to a broker that never shows the content of SASL messages."""

    def send(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Send a request; hide the content of SASL requests."""
        if isinstance(request, SaslAuthenticateRequest):
            request = _HiddenRequest(request)
        return super().send(request, *args, **kwargs)

    def authenticator_plain(self) -> Any:
        """Return aiokafka's client of PLAIN."""
        return _hide_steps(super().authenticator_plain())

    def authenticator_scram(self) -> Any:
        """Return aiokafka's client of SCRAM."""
        return _hide_steps(super().authenticator_scram())

    def authenticator_gssapi(self) -> Any:
        """Return aiokafka's client of Kerberos."""
        return _hide_steps(super().authenticator_gssapi())

    def authenticator_oauth(self) -> Any:
        """Return our client of OAUTHBEARER, because aiokafka's treats a refusal as success."""
        provider = self._sasl_oauth_token_provider
        return CheckedBearer(provider) if isinstance(provider, TokenProvider) else super().authenticator_oauth()


class _HiddenRequest:
    """A request whose representation, like that of its answer, hides the content."""

    def __init__(self, request: Any) -> None:
        self._request = request

    def prepare(self, versions: Any) -> Any:
        struct = self._request.prepare(versions)
        kind: Any = type(struct)
        struct.__class__ = _hidden_kind(kind)
        return struct


@cache
def _hidden_kind(kind: Any) -> type[Any]:
    """Return a subclass of a message's class that hides the content; for a request, also the content of its answer."""
    members: dict[str, Any] = {"__repr__": lambda _: f"{kind.__name__}({HIDDEN})"}
    if hasattr(kind, "RESPONSE_TYPE"):
        members["RESPONSE_TYPE"] = _hidden_kind(kind.RESPONSE_TYPE)
    return type(kind.__name__, (kind,), members)


def _hide_steps(authenticator: Any) -> Any:
    """Make an authenticator's messages hide their content: asyncio shows results in debug mode."""
    step = authenticator._step

    def hidden(answer: bytes | None) -> tuple[SecretBytes, bool] | None:
        found = step(answer)
        return None if found is None else (SecretBytes(found[0]), found[1])

    authenticator._step = hidden
    return authenticator
