"""A client of SASL OAUTHBEARER (RFC 7628) that recognizes a refusal."""

from __future__ import annotations

from kafka_replica.broker.connection.security.oauth import TokenProvider
from kafka_replica.common.secret_values import SecretBytes
from kafka_replica.errors import AuthenticationError

_SEPARATOR = "\x01"


class CheckedBearer:
    """The client side of OAUTHBEARER, called step by step by aiokafka's connection.

    A broker refuses a token in two steps: it sends the reason, waits for one byte, and only then returns an error.
    The client in aiokafka 0.14 treats any first answer as success.
    """

    def __init__(self, provider: TokenProvider) -> None:
        self._provider = provider
        self._sent = self._refused = False

    async def step(self, answer: bytes | None) -> tuple[bytes, bool] | None:
        """Return the next message (and that an answer is expected); None once the broker has accepted the token.

        Raises:
            AuthenticationError: the broker refused the token, or there is no token.
            BrokerUnavailableError: the token source does not answer.
        """
        if not self._sent:
            self._sent = True
            return await self._first_message(), True
        if self._refused:
            raise AuthenticationError("the broker refused our OAuth token without a reason; see its log")
        if answer:
            self._refused = True
            self._provider.forget()
            return _SEPARATOR.encode(), True
        return None

    async def _first_message(self) -> bytes:
        token = await self._provider.current()
        extensions = "".join(f"{name}={value}{_SEPARATOR}" for name, value in token.extensions.items())
        start = f"n,,{_SEPARATOR}auth=Bearer ".encode()
        return SecretBytes(b"".join((start, token.value.encode(), f"{_SEPARATOR}{extensions}{_SEPARATOR}".encode())))
