"""Download jars from a Maven repository, and check the size and SHA-256 of each against the lock file."""

from __future__ import annotations

import hashlib
import http.client
import os
import socket
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from base64 import b64encode
from typing import TYPE_CHECKING, Final

from kafka_replica.embedded.errors import EmbeddedKafkaError
from kafka_replica.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from kafka_replica.embedded.lockfile import Jar

MAVEN_VARIABLE: Final = "KAFKA_REPLICA_MAVEN_ROOT"
_MAVEN_CENTRAL: Final = "https://repo.maven.apache.org/maven2"
_ATTEMPTS: Final = 3
_PAUSE_S: Final = 1.0
_SILENCE_S: Final = 60.0
"""The time after which a server that sends nothing is given up."""

_CAUSES: Final = (
    (socket.gaierror, "the server's name is not known"),
    (TimeoutError, "the server does not answer"),
    (ConnectionError, "no connection"),
)


class _TransferError(Exception):
    """The error of a failed attempt, after which another attempt may succeed."""


def download_jars(jars: Iterable[Jar], folder: Path, progress: Callable[[Jar], None]) -> None:
    """Download jars into a folder, one after the other; each resulting file is complete and matches the lock.

    The repository is Maven Central, unless the environment variable ``KAFKA_REPLICA_MAVEN_ROOT`` gives the root URL of
    another repository, which may contain a user and a password. The download uses the system's certificates and the
    proxies in the environment.

    Args:
        jars: the locked jars.
        folder: an existing folder.
        progress: is called with each jar when its download begins.

    Raises:
        MissingExtraError: truststore is not installed.
        EmbeddedKafkaError: a jar could not be downloaded, or does not match the lock.
        OSError: a file could not be written.
    """
    root, user = _without_user(os.environ.get(MAVEN_VARIABLE, "").rstrip("/") or _MAVEN_CENTRAL)
    opener = _opener()
    for jar in jars:
        progress(jar)
        content = _fetched(opener, f"{root}/{jar.repository_path}", user, jar.size_bytes)
        if len(content) != jar.size_bytes or hashlib.sha256(content).hexdigest() != jar.sha256:
            raise EmbeddedKafkaError(
                f"while fetching Kafka: the downloaded {jar.file_name} is not the locked one (its SHA-256 differs), so "
                "it is not used; try again, and if this persists, ask the operator of the repository or proxy "
                f"(or the one named by {MAVEN_VARIABLE})"
            )
        (folder / jar.file_name).write_bytes(content)


def _without_user(root: str) -> tuple[str, str | None]:
    """Return a URL without the user and password in it, and the header for both, if there are any."""
    try:
        parts = urllib.parse.urlsplit(root)
        _ = parts.port  # raises an error if it is not a number
        if parts.scheme != "file" and not _is_web_address(parts):
            raise ValueError
    except ValueError:
        # The reason is not shown: it may contain a part of the password.
        raise EmbeddedKafkaError(
            f"while fetching Kafka: {MAVEN_VARIABLE} is not a URL; use the form https://USER:PASSWORD@HOST:PORT/PATH, "
            "and write special characters of user and password as %40 for @, %2F for / and so on"
        ) from None
    user, at, host = parts.netloc.rpartition("@")
    if not at:
        return root, None
    name, _, password = user.partition(":")
    decoded = f"{urllib.parse.unquote(name)}:{urllib.parse.unquote(password)}"
    return parts._replace(netloc=host).geturl(), "Basic " + b64encode(decoded.encode()).decode()


def _is_web_address(parts: urllib.parse.SplitResult) -> bool:
    """Return whether a URL names a server, and no part of a password is taken for its path."""
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and "@" not in parts._replace(netloc="").geturl()


def _opener() -> urllib.request.OpenerDirector:
    try:
        import truststore  # noqa: PLC0415 - an optional package
    except ImportError:
        raise MissingExtraError("Fetching the embedded Kafka broker", "embedded") from None
    # Python's builds for macOS trust no authority by default; truststore uses those of the system on every platform.
    context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return urllib.request.build_opener(urllib.request.HTTPSHandler(context=context))


def _fetched(opener: urllib.request.OpenerDirector, url: str, user: str | None, size_bytes: int) -> bytes:
    """Return the server's response after up to three attempts; at most one byte more than the locked size is read."""
    for left in reversed(range(_ATTEMPTS)):
        try:
            return _attempt(opener, url, user, size_bytes)
        except _TransferError as error:
            if left == 0:
                raise EmbeddedKafkaError(
                    f"while fetching Kafka: {url} was not downloaded: {error}, or set a reachable Maven repository "
                    "with "
                    f"{MAVEN_VARIABLE}, or use a running Kafka with KAFKA_REPLICA_BOOTSTRAP_SERVERS"
                ) from error.__cause__
            time.sleep(_PAUSE_S)
    raise AssertionError


def _attempt(opener: urllib.request.OpenerDirector, url: str, user: str | None, size_bytes: int) -> bytes:
    try:
        request = urllib.request.Request(url)  # noqa: S310 - the scheme was checked
        if user is not None:
            # Not sent to an address to which the repository redirects: it may be another server, or without encryption.
            request.add_unredirected_header("Authorization", user)
        with opener.open(request, timeout=_SILENCE_S) as response:
            content: bytes = response.read(size_bytes + 1)
            announced = min(int(response.headers.get("Content-Length") or 0), size_bytes)
    except urllib.error.HTTPError as error:
        error.close()
        raise _TransferError(_advice(error)) from error
    except urllib.error.URLError as error:
        raise _TransferError(_advice(error.reason)) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _TransferError(_advice(error)) from error
    if len(content) < announced:
        raise _TransferError("the connection ended during the transfer; check the network")
    return content


def _advice(error: object) -> str:
    """Return a description of the error, followed by advice."""
    if " 407" in str(error):
        return "the proxy wants another user or password; https_proxy=http://USER:PASSWORD@HOST:PORT names them"
    if isinstance(error, urllib.error.HTTPError) and error.code == 401:
        return f"the server wants a user and password; {MAVEN_VARIABLE}=https://USER:PASSWORD@HOST/PATH names them"
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answers {error.code} {error.reason}; check the repository"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the server's certificate is not trusted ({error.verify_message}); add its authority to the system's"
    words = next((words for kind, words in _CAUSES if isinstance(error, kind)), str(error))
    return f"{words}; check the network"
