"""aiokafka's connection, which logs and shows nothing of what it exchanges to authenticate.

aiokafka writes each request and each answer to its log at DEBUG. Those of SASL hold the password (PLAIN), the token
(OAUTHBEARER), or enough to try passwords (the salt and the proofs of SCRAM). Logging can be configured in too many ways
to prevent that there, so here the messages themselves have nothing to show.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from aiokafka.conn import AIOKafkaConnection
from aiokafka.protocol.admin import SaslAuthenticateRequest

from kafka_replica.broker.connection.security.bearer import CheckedBearer
from kafka_replica.broker.connection.security.oauth import TokenProvider
from kafka_replica.common.secret_values import HIDDEN, SecretBytes


class Connection(AIOKafkaConnection):  # type: ignore[misc] # aiokafka is not typed
    """A connection to one broker; what its SASL messages hold is never shown."""

    def send(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Send a request; those of SASL with their content hidden."""
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
        """Return our client of OAUTHBEARER, because aiokafka's takes a refusal for success."""
        provider = self._sasl_oauth_token_provider
        return CheckedBearer(provider) if isinstance(provider, TokenProvider) else super().authenticator_oauth()


class _HiddenRequest:
    """A request whose struct, and whose answer's, show nothing."""

    def __init__(self, request: Any) -> None:
        self._request = request

    def prepare(self, versions: Any) -> Any:
        struct = self._request.prepare(versions)
        kind: Any = type(struct)
        struct.__class__ = _hidden_kind(kind)
        return struct


@cache
def _hidden_kind(kind: Any) -> type[Any]:
    """Make the subclass of a message's class that shows nothing; of a request with such a class for its answer."""
    members: dict[str, Any] = {"__repr__": lambda _: f"{kind.__name__}({HIDDEN})"}
    if hasattr(kind, "RESPONSE_TYPE"):
        members["RESPONSE_TYPE"] = _hidden_kind(kind.RESPONSE_TYPE)
    return type(kind.__name__, (kind,), members)


def _hide_steps(authenticator: Any) -> Any:
    """Let an authenticator's messages hide themselves: asyncio shows results when it is in debug mode."""
    step = authenticator._step

    def hidden(answer: bytes | None) -> tuple[SecretBytes, bool] | None:
        found = step(answer)
        return None if found is None else (SecretBytes(found[0]), found[1])

    authenticator._step = hidden
    return authenticator
