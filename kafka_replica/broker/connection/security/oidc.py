"""Tokens for OAUTHBEARER from an identity provider: OAuth 2 client credentials, through urllib."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import time
from collections.abc import Callable
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, HTTPSHandler, OpenerDirector, Request, build_opener

from kafka_replica.broker.connection.security.oauth import Token
from kafka_replica.broker.connection.security.properties import Properties, refused, wrong
from kafka_replica.broker.connection.security.tls import trust
from kafka_replica.common.secret_values import Secret, without_frames
from kafka_replica.errors import AuthenticationError, BrokerError, BrokerUnavailableError

_PREFIX = "sasl.oauthbearer."
_KNOWN = frozenset({
    "client.credentials.client.id", "client.credentials.client.secret", "client.id", "client.secret", "config",
    "extensions", "grant.type", "metadata.authentication.type", "method", "scope", "sub.claim.name",
    "token.endpoint.url",
})  # fmt: skip
_TIMEOUT_S = 20.0
_MAX_ANSWER = 1 << 20
_MAY_PASS = frozenset({408, 425, 429})
# librdkafka sends the scope unchanged; characters that cannot break the request stay unchanged here, too.
_SCOPE_SAFE = "%&+/=:,;~!$'()*@?"


def oidc_tokens(properties: Properties) -> Callable[[], Token]:
    """Return a source of tokens from the endpoint that the properties name.

    Raises:
        ConfigurationError: a property is missing or cannot be honoured.
    """
    for name in properties.names(_PREFIX):
        if name.removeprefix(_PREFIX) not in _KNOWN:
            raise refused(name, "it is not supported (an oauth_cb can provide any token)")
    if (grant := properties.text(_PREFIX + "grant.type") or "client_credentials") != "client_credentials":
        raise refused(
            _PREFIX + "grant.type",
            f"{grant} is not supported, only client_credentials (an oauth_cb can provide any token)",
        )
    if (kind := properties.text(_PREFIX + "metadata.authentication.type") or "none").lower() != "none":
        raise refused(
            _PREFIX + "metadata.authentication.type", f"{kind} is not supported (an oauth_cb can provide any token)"
        )
    url, client, secret = (_needed(properties, name) for name in ("token.endpoint.url", "client.id", "client.secret"))
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
        raise wrong(_PREFIX + "token.endpoint.url", "must be a URL such as https://host/path, without a user name")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trust(context, properties, "https.ca.location", "https.ca.pem")
    extensions = _pairs(properties.text(_PREFIX + "extensions") or "")
    scope = properties.text(_PREFIX + "scope")
    return _Endpoint(
        url, client, secret, scope, extensions, build_opener(HTTPSHandler(context=context), _NoRedirects())
    )


def _needed(properties: Properties, name: str) -> str:
    value = properties.text(_PREFIX + name)
    if value is None:
        raise wrong(_PREFIX + name, "is missing; sasl.oauthbearer.method=oidc needs it")
    return value


def _pairs(text: str) -> dict[str, str]:
    pairs = [pair.strip().partition("=") for pair in text.split(",") if pair.strip()]
    if not all(key and value for key, _, value in pairs):
        raise wrong(_PREFIX + "extensions", 'must have the form "key=value,other=value"')
    return {key: value for key, _, value in pairs}


class _NoRedirects(HTTPRedirectHandler):
    """A handler that follows no redirects, which would send the secret to another server."""

    def redirect_request(self, *_: Any) -> None:
        return None


class _Endpoint:
    def __init__(
        self, url: str, client: str, secret: str, scope: str | None, extensions: dict[str, str], opener: OpenerDirector
    ) -> None:
        basic = base64.b64encode(f"{client}:{secret}".encode()).decode()
        body = "grant_type=client_credentials" + (f"&scope={quote(scope, safe=_SCOPE_SAFE)}" if scope else "")
        self._request = Request(  # noqa: S310 - only http and https, see above
            url,
            body.encode(),
            {
                "Accept": "application/json",
                "Authorization": f"Basic {basic}",
                "Content-Type": "application/x-www-form-urlencoded",
            },
        )
        self._extensions, self._opener = extensions, opener
        parts = urlsplit(url)
        # Without the part after the path, which may hold a secret.
        self._doing = f"while getting an OAuth token from {parts.scheme}://{parts.netloc}{parts.path}"

    def __call__(self) -> Token:
        try:
            with self._opener.open(self._request, timeout=_TIMEOUT_S) as answer:
                token = _token_in(answer.read(_MAX_ANSWER), self._extensions)
        except HTTPError as error:
            raise self._refusal(error) from None
        except (OSError, http.client.HTTPException) as error:
            without_frames(error)
            raise self._failure(error) from error
        if token is None:
            raise AuthenticationError(
                f"{self._doing}: the answer holds no access_token; check {_PREFIX}token.endpoint.url"
            )
        return token

    def _refusal(self, error: HTTPError) -> BrokerError:
        with error:
            reason = _oauth_error(error)
        problem = f"{self._doing}: it answered {error.code}{reason}"
        if error.code >= 500 or error.code in _MAY_PASS:
            return BrokerUnavailableError(f"{problem}; it is queried again at the next connection")
        return AuthenticationError(f"{problem}; check {_PREFIX}client.id, client.secret, scope and token.endpoint.url")

    def _failure(self, error: Exception) -> BrokerError:
        cause = error.reason if isinstance(error, URLError) and isinstance(error.reason, Exception) else error
        if isinstance(cause, ssl.SSLCertVerificationError):
            return AuthenticationError(
                f"{self._doing}: its certificate was not accepted: {cause.verify_message}; check https.ca.location"
            )
        problem = "no answer in time" if isinstance(cause, TimeoutError) else type(cause).__name__
        if isinstance(cause, OSError) and cause.strerror:
            problem = cause.strerror
        return BrokerUnavailableError(f"{self._doing}: {problem}; check that it can be reached from here")


def _token_in(body: bytes, extensions: dict[str, str]) -> Token | None:
    """Return the token in an answer, or None. Raises nothing, since a traceback would show the answer."""
    try:
        answer = json.loads(body)
        value = Secret(answer["access_token"])
        expiry_s = _expiry_in(value) or time.time() + float(answer.get("expires_in", 0))
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return Token(value, expiry_s, extensions)


def _oauth_error(error: HTTPError) -> str:
    """Return the error code of RFC 6749, without free text, which could repeat the request."""
    try:
        code = str(json.loads(error.read(_MAX_ANSWER))["error"])
    except (ValueError, TypeError, KeyError, OSError, http.client.HTTPException):
        return ""
    return f" ({code})" if code.isascii() and code.replace("_", "").isalnum() and len(code) < 50 else ""


def _expiry_in(token: str) -> float | None:
    """Return the expiry time in the token, if the token is a JWT with such a claim."""
    try:
        payload = token.split(".")[1]
        return float(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["exp"])
    except (IndexError, ValueError, TypeError, KeyError):
        return None
