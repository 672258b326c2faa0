"""OAUTHBEARER tokens: unsecured, from a callback, from an identity provider; kept until they expire."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import threading
import time
import types
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from kafka_replica.broker.connection.security import connection_settings
from kafka_replica.broker.connection.security.oauth import Token, TokenProvider
from kafka_replica.errors import AuthenticationError, BrokerUnavailableError

SECRET = "do-not-tell"  # searched for in messages
OAUTH = {"bootstrap.servers": "b:1", "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER"}
UNSECURED = {**OAUTH, "enable.sasl.oauthbearer.unsecure.jwt": True}
OIDC = {
    **OAUTH,
    "sasl.oauthbearer.method": "oidc",
    "sasl.oauthbearer.client.id": "me",
    "sasl.oauthbearer.client.secret": SECRET,
}


def provider(config: Mapping[str, Any]) -> TokenProvider:
    """Return the token provider for a configuration."""
    made = connection_settings(config).kwargs["sasl_oauth_token_provider"]
    assert isinstance(made, TokenProvider)
    return made


def token(config: Mapping[str, Any]) -> Token:
    """Return the first token of a configuration."""
    return asyncio.run(provider(config).current())


def jwt(**claims: Any) -> str:
    """Return an unsigned token."""
    return f"h.{base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b'=').decode()}.s"


def test_unsecured_tokens_have_librdkafkas_claims() -> None:
    """The claims of unsecured tokens are those that librdkafka would write."""
    words = "principalClaimName=azp principal=admin scopeClaimName=roles scope=r1,r2,,r1 lifeSeconds=60 extension_tra=1"
    made = token({**UNSECURED, "sasl.oauthbearer.config": words})
    head, claims, signature = made.value.split(".")
    read = [json.loads(base64.urlsafe_b64decode(part + "===")) for part in (head, claims)]
    assert read[0] == {"alg": "none"}
    assert signature == ""
    assert read[1].keys() == {"azp", "iat", "exp", "roles"}
    assert (read[1]["azp"], read[1]["roles"]) == ("admin", ["r1", "r2"])
    assert read[1]["exp"] - read[1]["iat"] == pytest.approx(60)
    assert abs(read[1]["iat"] - time.time()) < 60
    assert (made.expiry_s, made.extensions) == (read[1]["exp"], {"tra": "1"})


def test_the_users_callback() -> None:
    """The callback is called as in confluent-kafka, in a thread; an invalid result is reported without a secret."""
    calls: list[Any] = []

    def give(config: str | None) -> tuple[Any, ...]:
        calls.append((config, threading.current_thread() is threading.main_thread()))
        return "t", time.time() + 60, "me", {"k": "v"}

    made = token({**OAUTH, "oauth_cb": give, "sasl.oauthbearer.config": "c"})
    assert (made.value, made.extensions, calls) == ("t", {"k": "v"}, [("c", False)])
    assert token({**OAUTH, "oauth_cb": lambda _: ("t", time.time() + 60)}).extensions == {}

    def fail(_: object) -> None:
        raise RuntimeError(SECRET)

    soon = time.time() + 60
    for callback, reason in (
        (fail, "oauth_cb raised RuntimeError"),
        (lambda _: SECRET, "has to return"),
        (lambda _: (SECRET, "soon"), "has to return"),
        (lambda _: (SECRET, time.time() - 1), "has already expired"),
        (lambda _: (SECRET + "\x01", soon), "characters that are not allowed in tokens"),
        (lambda _: ("", soon), "is empty"),
        (lambda _: (SECRET, soon, "", {"auth": "x"}), "the extension 'auth'"),
        (lambda _: (SECRET, soon, "", {"k": "\x01"}), "the extension 'k'"),
    ):
        with pytest.raises(AuthenticationError, match=reason) as caught:
            token({**OAUTH, "oauth_cb": callback})
        assert SECRET not in str(caught.value)


def test_a_token_is_renewed_after_four_fifths_of_its_lifetime(monkeypatch: pytest.MonkeyPatch) -> None:
    """A token serves all connections until four fifths of its lifetime, and until it expires if renewal fails."""
    now, made, broken = [1000.0], list[int](), [False]
    monkeypatch.setattr(
        "kafka_replica.broker.connection.security.oauth.time", types.SimpleNamespace(time=lambda: now[0])
    )

    def source() -> Token:
        if broken[0]:
            raise BrokerUnavailableError("gone")
        made.append(1)
        return Token(f"t{len(made)}", now[0] + 100, {})

    tokens = TokenProvider(source)

    async def many() -> set[str]:
        return set(await asyncio.gather(*(tokens.token() for _ in range(20))))

    assert asyncio.run(many()) == {"t1"}
    now[0] += 79
    assert asyncio.run(many()) == {"t1"}  # another event loop, too
    now[0] += 1
    assert asyncio.run(many()) == {"t2"}
    broken[0] = True
    now[0] += 99
    assert asyncio.run(many()) == {"t2"}
    now[0] += 1
    with pytest.raises(BrokerUnavailableError):
        asyncio.run(many())


class IdentityProvider(ThreadingHTTPServer):
    """An identity provider that gives scripted answers, and records its requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.answers: list[tuple[int, str, str]] = []
        self.requests: list[tuple[str, dict[str, str], str]] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class _Answers(BaseHTTPRequestHandler):
    server: IdentityProvider

    def do_POST(self) -> None:
        """Give the next answer of the list."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        self.server.requests.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        code, location, answer = self.server.answers.pop(0)
        self.send_response(code)
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(answer.encode())

    do_GET = do_POST  # noqa: N815 - the standard library's name

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def identity(monkeypatch: pytest.MonkeyPatch) -> Iterator[IdentityProvider]:
    """An identity provider on this machine."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = IdentityProvider()
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.thorough
def test_tokens_from_an_identity_provider(identity: IdentityProvider) -> None:
    """Requests are librdkafka's; the token's own lifetime counts, otherwise the answer's."""
    expiry_s = int(time.time()) + 600
    identity.answers += [
        (200, "", json.dumps({"access_token": jwt(exp=expiry_s), "expires_in": 5})),
        (200, "", json.dumps({"access_token": "opaque", "expires_in": 600})),
    ]
    config = {**OIDC, "sasl.oauthbearer.token.endpoint.url": f"{identity.url}/token?x=1"}
    more = {"sasl.oauthbearer.scope": "api://a/.default b%20c", "sasl.oauthbearer.extensions": "k=v, l=w"}
    made = token({**config, **more})
    assert (made.expiry_s, made.extensions) == (expiry_s, {"k": "v", "l": "w"})
    path, headers, body = identity.requests[0]
    assert path == "/token?x=1"
    assert base64.b64decode(headers["authorization"].removeprefix("Basic ")).decode() == f"me:{SECRET}"
    assert body == "grant_type=client_credentials&scope=api://a/.default%20b%20c"
    made = token(config)
    assert made.value == "opaque"
    assert 0 < made.expiry_s - time.time() <= 600
    assert identity.requests[1][2] == "grant_type=client_credentials"


@pytest.mark.thorough
def test_a_refusal_of_the_identity_provider_is_final(identity: IdentityProvider) -> None:
    """A refusal is final, an outage may pass; the secret is neither shown nor sent elsewhere."""
    for answer, kind, reason in (
        ((401, "", json.dumps({"error": "invalid_client", "error_description": SECRET})), AuthenticationError,
         r"answered 401 \(invalid_client\); check"),
        ((400, "", SECRET), AuthenticationError, "answered 400; check"),
        ((302, f"{identity.url}/elsewhere", ""), AuthenticationError, "answered 302"),
        ((503, "", ""), BrokerUnavailableError, "answered 503"),
        ((429, "", ""), BrokerUnavailableError, "answered 429"),
        ((200, "", "<html>"), AuthenticationError, "holds no access_token"),
        ((200, "", "[]"), AuthenticationError, "holds no access_token"),
        ((200, "", json.dumps({"id_token": "x"})), AuthenticationError, "holds no access_token"),
    ):  # fmt: skip
        identity.answers.append(answer)
        with pytest.raises(kind, match=reason) as caught:
            token({**OIDC, "sasl.oauthbearer.token.endpoint.url": f"{identity.url}/token?key={SECRET}"})
        assert SECRET not in str(caught.value)
        assert f"from {identity.url}/token: " in str(caught.value)
    assert not any(path == "/elsewhere" for path, _, _ in identity.requests)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        with pytest.raises(BrokerUnavailableError, match="Connection refused"):
            token({**OIDC, "sasl.oauthbearer.token.endpoint.url": url})
