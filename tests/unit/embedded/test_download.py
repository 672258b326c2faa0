"""Downloads from a repository that wants a user and password."""

from __future__ import annotations

import hashlib
import io
import urllib.request
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.response import addinfourl

import pytest

from kafka_replica.embedded import download as downloads
from kafka_replica.embedded.download import download_jars
from kafka_replica.embedded.errors import EmbeddedKafkaError
from kafka_replica.embedded.lockfile import Jar

CONTENT = b"a jar"
JAR = Jar("g", "a", "1", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())
AUTHORIZATION = "Basic " + b64encode("us@er:p/äss".encode()).decode()


class _Repository(BaseHTTPRequestHandler):
    """A repository that answers only its user, and redirects the path of another repository to a server."""

    elsewhere = ""
    wants = ""
    seen: list[str | None]

    def do_GET(self) -> None:
        """Send the jar, a redirection or a refusal."""
        self.seen.append(self.headers["Authorization"])
        if self.elsewhere:
            self.send_response(302)
            self.send_header("Location", self.elsewhere + self.path)
        else:
            allowed = self.headers["Authorization"] == AUTHORIZATION or self.path.startswith("/open/")
            self.send_response(200 if allowed and self.path.endswith(f"/repo/{JAR.repository_path}") else 401)
            if self.wants:
                self.send_header("WWW-Authenticate", self.wants)
        self.end_headers()
        self.wfile.write(CONTENT)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def repository(elsewhere: str = "", wants: str = "") -> Iterator[tuple[str, list[str | None]]]:
    """Yield the address of a repository, and the headers with users that it has received."""
    seen: list[str | None] = []
    handler = type("Handler", (_Repository,), {"seen": seen, "elsewhere": elsewhere, "wants": wants})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, args=(0.02,)).start()
        try:
            yield f"127.0.0.1:{server.server_port}", seen
        finally:
            server.shutdown()


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(downloads, "_PAUSE_S", 0.0)


def test_a_repository_with_a_user_and_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user and password in the URL are sent as HTTP's basic authentication, with their escapes decoded."""
    with repository() as (address, seen):
        monkeypatch.setenv("KAFKA_REPLICA_MAVEN_ROOT", f"http://us%40er:p%2F%C3%A4ss@{address}/repo/")
        download_jars([JAR], tmp_path, lambda _: None)
    assert (tmp_path / JAR.file_name).read_bytes() == CONTENT
    assert seen == [AUTHORIZATION]


def test_the_password_is_not_sent_to_another_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository that redirects to another server gets the user and password, and that server does not."""
    with repository() as (other, seen_by_other), repository(f"http://{other}/open") as (address, seen):
        monkeypatch.setenv("KAFKA_REPLICA_MAVEN_ROOT", f"http://us%40er:p%2F%C3%A4ss@{address}/repo")
        download_jars([JAR], tmp_path, lambda _: None)
    assert (seen, seen_by_other) == ([AUTHORIZATION], [None])


def test_the_password_is_sent_only_to_the_first_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A redirection below the repository's own address may be without its encryption."""
    encrypted = []

    def opened(self: urllib.request.HTTPHandler, request: urllib.request.Request) -> object:
        """Redirect from https to http on the same server, as a wrong configuration does, without any connection."""
        headers = Message()
        encrypted.append((request.type, request.get_header("Authorization")))
        if request.type == "https":
            headers["Location"] = "http:" + request.full_url.partition(":")[2]
        response = addinfourl(io.BytesIO(CONTENT), headers, request.full_url, 302 if headers else 200)
        response.msg = ""  # type: ignore[attr-defined]
        return response

    monkeypatch.setattr(urllib.request.HTTPSHandler, "https_open", opened)
    monkeypatch.setattr(urllib.request.HTTPHandler, "http_open", opened)
    monkeypatch.setenv("KAFKA_REPLICA_MAVEN_ROOT", "https://us%40er:p%2F%C3%A4ss@127.0.0.1/repo")
    download_jars([JAR], tmp_path, lambda _: None)
    assert encrypted == [("https", AUTHORIZATION), ("http", None)]


@pytest.mark.parametrize("scheme", ["Negotiate", 'Bearer realm="x"', 'Digest realm="x", nonce="1"', 'Basic realm="x"'])
@pytest.mark.parametrize("user", ["", "user:geheim@"])
def test_a_refusal_of_any_kind_names_the_setting(
    user: str, scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Servers may require something else than a password, for example if they know only users of a company."""
    with repository(wants=scheme) as (address, seen):
        monkeypatch.setenv("KAFKA_REPLICA_MAVEN_ROOT", f"http://{user}{address}/repo")
        with pytest.raises(EmbeddedKafkaError, match="the server wants a user and password; KAFKA_REPLICA_MAVEN_ROOT"):
            download_jars([JAR], tmp_path, lambda _: None)
    assert len(seen) == 3, "a request for each attempt"


@pytest.mark.parametrize(
    "root",
    [
        "user:geheim@127.0.0.1:1/repo", "https:/user:geheim@127.0.0.1:1/repo", "http//user:geheim@127.0.0.1:1/repo",
        "https://user:12/geheim@127.0.0.1:1/repo", "https://user:12?geheim@127.0.0.1:1/repo", "https://user:1#geheim@h",
        "https://user:geheim@", "https://user:geheim@:1/repo", "ftp://user:geheim@127.0.0.1:1/repo",
    ],
)  # fmt: skip
def test_an_address_in_a_wrong_form_is_not_shown(root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a scheme or with an unescaped character, a password is in another part of the URL than usual."""
    monkeypatch.setenv("KAFKA_REPLICA_MAVEN_ROOT", root)
    with pytest.raises(EmbeddedKafkaError, match="KAFKA_REPLICA_MAVEN_ROOT is not a URL; use the form") as refused:
        download_jars([JAR], tmp_path, lambda _: None)
    assert "geheim" not in str(refused.value)


def test_a_folder_may_have_an_at_sign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder has no password."""
    path = tmp_path / "us@er" / JAR.repository_path
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    monkeypatch.setenv("KAFKA_REPLICA_MAVEN_ROOT", f"file://{tmp_path}/us@er")
    download_jars([JAR], tmp_path, lambda _: None)
    assert (tmp_path / JAR.file_name).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("user", "expected_text"),
    [
        ("", "wants a user and password; KAFKA_REPLICA_MAVEN_ROOT=https://USER:PASSWORD@HOST/PATH names them"),
        ("user:geheim@", r"wants a user and password"),
        ("user:ge/heim@", r"KAFKA_REPLICA_MAVEN_ROOT is not a URL; use the form .* %2F for /"),
    ],
)
def test_a_refusal_does_not_show_the_password(
    user: str, expected_text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the repository and what to do, in a form that may be in a log."""
    with repository() as (address, _):
        monkeypatch.setenv("KAFKA_REPLICA_MAVEN_ROOT", f"http://{user}{address}/repo")
        with pytest.raises(EmbeddedKafkaError, match=expected_text) as refused:
            download_jars([JAR], tmp_path, lambda _: None)
    assert "heim" not in str(refused.value)


def test_an_unreachable_repository_does_not_show_the_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason is the true one, not that the whole address is an unknown name."""
    monkeypatch.setenv("KAFKA_REPLICA_MAVEN_ROOT", "http://user:geheim@127.0.0.1:1/repo")
    says = f"http://127.0.0.1:1/repo/{JAR.repository_path} was not downloaded: no connection"
    with pytest.raises(EmbeddedKafkaError, match=says) as refused:
        download_jars([JAR], tmp_path, lambda _: None)
    assert "geheim" not in str(refused.value)
