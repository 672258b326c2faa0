"""An SDMX REST service as a source.

Only complete, successful answers to all queries define the content. After any other answer, nothing is recorded, and so
nothing is deleted.
"""

from __future__ import annotations

import hashlib
import re
import ssl
from dataclasses import dataclass, field
from threading import Event
from typing import NamedTuple

from kafka_replica.common.secret_values import Secret, hide_password
from kafka_replica.errors import ConfigurationError, MissingExtraError
from kafka_replica.producer.changes.changes import Put, UnreadableKey
from kafka_replica.producer.errors import SourceError
from kafka_replica.producer.sources.contents import NOTHING, Contents, combine, contents_of
from kafka_replica.producer.sources.queries import Api, accept_of, path_of
from kafka_replica.sdmx.errors import SdmxError
from kafka_replica.sdmx.messages.format import unpacked

try:
    import httpx
    from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential
except ImportError as error:
    raise MissingExtraError("reading an SDMX service", "producer") from error

_FOOTER = re.compile(rb"<(?:[\w.-]+:)?Footer[\s>].*?</(?:[\w.-]+:)?Footer\s*>", re.DOTALL)
_NOTE = re.compile(rb"<(?:[\w.-]+:)?Message\b([^>]*)>")
_HARMLESS = re.compile(rb"""severity\s*=\s*["']Information["']""")
_MAY_PASS = {408, 425, 429, 500, 502, 503, 504}


@dataclass(frozen=True)
class ServiceSettings:
    """The service, the structures to request, and the interval."""

    url: str = field(repr=False)
    """The entry point of the service, before ``/structure`` (2.x) or ``/codelist`` (1.x)."""
    api: Api = "2"
    """The version of the REST interface: "1" (1.x, with SDMX 2.1) or "2" (2.x, with SDMX 3)."""
    structures: tuple[str, ...] = ("*",)
    """The queries, such as ``codelist/ECB,SDMX/*/*``: type, agency, id and version; ``*`` means all."""
    accept: str = ""
    """The header ``Accept``, if the service needs another one than the default."""
    interval_s: float = 60.0
    """The time between two reads of the service, in seconds."""
    timeout_s: float = 60.0
    """The timeout of a request, in seconds."""
    retries: int = 3
    """The number of retries of a request within one read, if a retry may help."""
    user: str | None = None
    """The name of the user (HTTP Basic)."""
    password: str | None = field(default=None, repr=False)
    """The password of this user."""
    token: str | None = field(default=None, repr=False)
    """A token, sent as ``Authorization: Bearer``."""
    ca_file: str | None = None
    """A file of certificates to trust instead of the system's."""
    allow_empty: bool = False
    """Take an empty service to mean that everything was deleted; otherwise it is an error."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", hide_password(self.url))
        for name in ("password", "token"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else Secret(value))


class _Answer(NamedTuple):
    """A complete answer to a query, with the validators for conditional requests."""

    etag: str | None
    modified: str | None
    digest: bytes
    contents: Contents


class _TryAgainError(Exception):
    """A failure for which a retry may help."""


class ServiceSource:
    """The structures of an SDMX REST service (1.x or 2.x), requested with ``If-None-Match`` if it provides ETags.

    Args:
        settings: the service, the structures to request, and the interval.
        media_type: the published format, which is the first choice in requests.

    Raises:
        ConfigurationError: the address or a query is invalid, or the certificates cannot be read.
    """

    def __init__(self, settings: ServiceSettings, media_type: str = "") -> None:
        self._settings = settings
        if settings.api not in {"1", "2"}:
            raise ConfigurationError(f'api={settings.api!r}: use "1" (with SDMX 2.1) or "2" (with SDMX 3)')
        url = _url(settings.url)
        self._display_url = str(url.copy_with(userinfo=b""))
        base = self._display_url.rstrip("/")
        self._addresses = [f"{base}/{path_of(query, settings.api)}" for query in settings.structures]
        self._answers: dict[str, _Answer] = {}
        self._is_taken = False
        self._client = _client(settings, url, settings.accept or accept_of(media_type, settings.api))

    def __repr__(self) -> str:
        return f"<ServiceSource {self._display_url}>"

    def read(self) -> list[Put | UnreadableKey] | None:
        """Return all requested structures of the service; None if nothing has changed.

        Raises:
            SourceError: the service does not answer all queries completely.
        """
        answers = {address: self._ask(address) for address in self._addresses}
        if not self._settings.allow_empty and not any(any(answer.contents) for answer in answers.values()):
            raise SourceError(
                f"reading {self._display_url}: the service answered without results; nothing is deleted: set "
                "allow_empty if this is intended"
            )
        is_same = self._is_taken and all(
            address in self._answers and answer.digest == self._answers[address].digest
            for address, answer in answers.items()
        )
        self._answers, self._is_taken = answers, True
        return None if is_same else combine({address: answer.contents for address, answer in answers.items()})

    def forget(self) -> None:
        """Make the next read return everything."""
        self._is_taken = False

    def wait(self, closing: Event) -> None:
        """Wait ``interval_s`` seconds."""
        closing.wait(self._settings.interval_s)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _ask(self, address: str) -> _Answer:
        previous = self._answers.get(address)
        response = self._get(address, previous)
        if response.status_code == httpx.codes.NOT_MODIFIED and previous is not None:
            return previous
        if response.status_code == httpx.codes.NOT_FOUND and self._settings.allow_empty:
            return _Answer(None, None, b"", NOTHING)  # SDMX's status for no results
        if response.status_code != httpx.codes.OK:
            raise self._refusal(address, response)
        digest = hashlib.sha256(response.content).digest()
        etag, modified = response.headers.get("etag"), response.headers.get("last-modified")
        if previous is not None and previous.digest == digest:
            return _Answer(etag, modified, digest, previous.contents)
        return _Answer(etag, modified, digest, self._contents(address, response))

    def _get(self, address: str, previous: _Answer | None) -> httpx.Response:
        headers: dict[str, str] = {}
        if previous is not None and previous.etag:
            headers["If-None-Match"] = previous.etag
        elif previous is not None and previous.modified:
            headers["If-Modified-Since"] = previous.modified
        tries = Retrying(
            retry=retry_if_exception_type((httpx.TransportError, _TryAgainError)),
            stop=stop_after_attempt(1 + self._settings.retries),
            wait=wait_exponential(multiplier=0.25, max=10),
            reraise=True,
        )
        response: httpx.Response | None = None

        def once() -> httpx.Response:
            nonlocal response
            response = self._client.get(address, headers=headers)
            if response.status_code in _MAY_PASS:
                raise _TryAgainError
            return response

        try:
            return tries(once)
        except _TryAgainError:
            assert response is not None  # noqa: S101
            return response
        except (httpx.HTTPError, UnicodeError) as error:  # UnicodeError: a host such as "a..b", also of a redirect
            raise SourceError(
                f"reading {address}: {type(error).__name__}: {error}; check the service; nothing is recorded until it "
                "answers"
            ) from error

    def _refusal(self, address: str, response: httpx.Response) -> SourceError:
        advice = {
            401: "check user, password or token",
            403: "check user, password or token",
            404: 'check url and api ("1" or "2"), and structures; set allow_empty if an empty answer is allowed',
            406: "set accept to a format that it supports",
        }.get(response.status_code, "see its log")
        shown = " ".join(response.text[:300].split())
        return SourceError(
            f"reading {address}: it answers {response.status_code} {response.reason_phrase}: {shown}; nothing is "
            "recorded "
            f"; {advice}"
        )

    def _contents(self, address: str, response: httpx.Response) -> Contents:
        content_type = response.headers.get("content-type")
        try:
            _check_complete(response.content)
            return contents_of(response.content, content_type)
        except SdmxError as error:
            raise SourceError(
                f"reading {address} ({content_type}): {error}; nothing is recorded until the answer can be read"
            ) from error


def _check_complete(body: bytes) -> None:
    """Raise SdmxError if the message has a footer that reports a problem.

    SDMX-ML 2.1 or newer has footers with codes and severities, such as code 510 if a size limit was exceeded.
    """
    plain = unpacked(body)
    if b"Footer" not in plain[-65536:]:
        return
    for footer in _FOOTER.findall(plain):
        notes = _NOTE.findall(footer)
        if not all(_HARMLESS.search(attributes) for attributes in notes):
            shown = " ".join(re.sub(rb"<[^>]*>", b" ", footer).decode(errors="replace").split())
            codes = b" ".join(notes).decode(errors="replace").strip()
            raise SdmxError(f"its footer reports a problem with the answer ({codes}: {shown[:300]})")


def _url(text: str) -> httpx.URL:
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise ConfigurationError(f"the service's url: {error}") from error
    if url.scheme not in {"http", "https"} or not url.host:
        raise ConfigurationError("the service's url should be like https://registry.example.org/sdmx/v2")
    return url.copy_with(query=None, fragment=None)


def _client(settings: ServiceSettings, url: httpx.URL, accept: str) -> httpx.Client:
    user, password = settings.user or url.username, Secret(settings.password or url.password)
    headers = {"Accept": accept, "User-Agent": "kafka-replica"}
    if settings.token:
        headers["Authorization"] = Secret(f"Bearer {settings.token}")
    try:
        return httpx.Client(
            auth=(user, password) if user else None, headers=headers, timeout=settings.timeout_s,
            follow_redirects=True, verify=_trust_settings(settings.ca_file),
        )  # fmt: skip
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"setting up the connection to {url.host}: {error}") from error


def _trust_settings(ca_file: str | None) -> ssl.SSLContext | bool:
    return True if ca_file is None else ssl.create_default_context(cafile=ca_file)
