"""Tokens for OAUTHBEARER, unsecured or from the user's callback, and a cache that refreshes them before they expire."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from aiokafka.abc import AbstractTokenProvider

from kafka_replica.broker.connection.security.properties import wrong
from kafka_replica.common.secret_values import HIDDEN, Secret
from kafka_replica.errors import AuthenticationError, BrokerError

_REFRESH_AFTER = 0.8  # fraction of the token's lifetime, as in librdkafka
_VALUE = re.compile(r"[\x20-\x7e\t\r\n]+")  # RFC 7628: characters that cannot end a field of the message
_EXTENSION_NAME = re.compile(r"(?!auth$)[A-Za-z]+")
_UNSECURED_NAMES = frozenset({"principalClaimName", "principal", "scopeClaimName", "scope", "lifeSeconds"})
_UNSECURED_HEADER = {"alg": "none"}


class Token(NamedTuple):
    """A token with its expiry time (seconds since 1970; 0 means expired) and its SASL extensions."""

    value: str
    expiry_s: float
    extensions: Mapping[str, str]


_NONE = Token("", 0, {})


class TokenProvider:
    """A cache of one token for all connections, refreshed after four fifths of its lifetime. Thread-safe.

    Args:
        source: returns a new token; may block, and is called in a thread.
    """

    def __init__(self, source: Callable[[], Token]) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._token = _NONE
        self._refresh_at_s = 0.0

    async def current(self) -> Token:
        """Return a token that has not expired.

        Raises:
            AuthenticationError: no token is available.
            BrokerUnavailableError: the token source does not answer.
        """
        return await asyncio.get_running_loop().run_in_executor(None, self._current)

    async def token(self) -> str:
        """Return only the token, for aiokafka; errors as in `current`."""
        return (await self.current()).value

    def extensions(self) -> Mapping[str, str]:
        """Return the extensions of the last token, for aiokafka."""
        return self._token.extensions

    def forget(self) -> None:
        """Discard the last token, because the broker refused it; the next connection requests a new one."""
        self._refresh_at_s, self._token = 0.0, _NONE

    def _current(self) -> Token:
        with self._lock:
            now_s = time.time()
            if now_s >= self._refresh_at_s:
                try:
                    self._take(self._source(), now_s)
                except BrokerError:
                    if now_s >= self._token.expiry_s:
                        raise  # otherwise the old token is still valid
            return self._token

    def _take(self, token: Token, now_s: float) -> None:
        _check(token)
        self._token = token
        self._refresh_at_s = now_s + _REFRESH_AFTER * (token.expiry_s - now_s)


# Not a base class: aiokafka is not typed.
AbstractTokenProvider.register(TokenProvider)


def callback_tokens(callback: Any, config: str | None) -> Callable[[], Token]:
    """Return a source of tokens from the user's ``oauth_cb``, called as confluent-kafka does.

    Args:
        callback: given `config`, returns (token, expiry in seconds since 1970[, principal[, extensions]]).
        config: the property ``sasl.oauthbearer.config``.

    Raises:
        ConfigurationError: the callback is not callable.
    """
    if not callable(callback):
        raise wrong("oauth_cb", f"must be a function, not {type(callback).__name__}")

    def call() -> Token:
        try:
            result = callback(config)
        except Exception as error:
            # Only the exception's type: its message may hold a secret. The cause has all details.
            raise AuthenticationError(
                f"while getting an OAuth token: oauth_cb raised {type(error).__name__}; see that exception"
            ) from error
        made = _token_of(result)
        del result  # a traceback would show it
        if made is None:
            raise AuthenticationError(
                "while getting an OAuth token: oauth_cb has to return (token, expiry in seconds since 1970"
                "[, principal[, extensions]]), but returned something else; correct it"
            )
        if made.expiry_s <= time.time():
            raise AuthenticationError(
                "while getting an OAuth token: the token returned by oauth_cb has already expired; "
                "its second value is the time in seconds since 1970 at which it expires"
            )
        return made

    return call


def _token_of(result: Any) -> Token | None:
    """Return the token that a callback returned; None if the result has another form."""
    try:
        value, expiry_s, *more = result  # aiokafka has no use for the principal
        return Token(Secret(value), float(expiry_s), dict(more[1]) if len(more) > 1 else {})
    except (TypeError, ValueError):
        return None


def unsecured_tokens(config: str | None) -> Callable[[], Token]:
    """Return a source of unsigned tokens, for experiments.

    Args:
        config: in librdkafka's syntax, such as ``principal=admin scope=a,b lifeSeconds=600 extension_traceId=1``.

    Raises:
        ConfigurationError: the config cannot be parsed, or names no principal.
    """
    given, wrong_part = _parts(config or "")
    if wrong_part is not None:
        raise wrong("sasl.oauthbearer.config", f"has a part that is unknown, empty or duplicated: {wrong_part}")
    life = given.get("lifeSeconds", "3600")
    if "principal" not in given:
        raise wrong("sasl.oauthbearer.config", 'names no principal; write, for example, "principal=admin"')
    if not (life.isascii() and life.isdigit() and int(life) > 0):
        raise wrong("sasl.oauthbearer.config", "has lifeSeconds that is not a whole number above 0")
    extensions = {name.removeprefix("extension_"): v for name, v in given.items() if name.startswith("extension_")}

    def make() -> Token:
        now_s = time.time()
        claims: dict[str, Any] = {given.get("principalClaimName", "sub"): given["principal"]}
        claims |= {"iat": round(now_s, 3), "exp": round(now_s + int(life), 3)}
        scope = [name for name in dict.fromkeys(given.get("scope", "").split(",")) if name]
        if scope:
            claims[given.get("scopeClaimName", "scope")] = scope
        return Token(Secret(f"{_base64(_UNSECURED_HEADER)}.{_base64(claims)}."), claims["exp"], extensions)

    return make


def _parts(config: str) -> tuple[dict[str, str], str | None]:
    """Return the values by name, and the name of the first invalid part."""
    given: dict[str, str] = {}
    for word in config.split():
        name, equals, value = word.partition("=")
        if not value or name in given or not (name in _UNSECURED_NAMES or name.startswith("extension_")):
            return given, name if equals else HIDDEN
        given[name] = Secret(value)
    return given, None


def _base64(value: Mapping[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).rstrip(b"=").decode()


def _check(token: Token) -> None:
    """Check that nothing in the token can end a field of the message to the broker."""
    if not _VALUE.fullmatch(token.value):
        raise AuthenticationError(
            "while getting an OAuth token: it is empty or contains characters that are not allowed in tokens"
        )
    for name, value in token.extensions.items():
        if not (_EXTENSION_NAME.fullmatch(str(name)) and _VALUE.fullmatch(str(value))):
            raise AuthenticationError(
                f"while getting an OAuth token: the extension {name!r} cannot be sent; "
                "names are letters (not auth), values printable ASCII"
            )
