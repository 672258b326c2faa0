"""Answers of the SDMX REST API ready to be sent: with all headers, and compressed if the request accepts it."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from starlette.responses import Response

from kafka_replica.server.answers.compression import compress, is_worth_compressing
from kafka_replica.server.answers.entity_tags import with_suffix
from kafka_replica.server.answers.versions import raw_headers
from kafka_replica.server.rest.request_and_answer import RestAnswer

_WITHOUT_BODY: Final = frozenset({204, 304})


class FinishedAnswer(NamedTuple):
    """An answer ready to be sent, without the headers that may change while the version stays the same."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    """Pairs of name and value, as in ASGI messages."""
    body: bytes
    problem: str | None = None
    """The error message for people; None if the answer is not an error."""


class FinishedResponse(Response):
    """A response whose headers are encoded already.

    Args:
        found: the answer.
        more: additional headers, encoded.
    """

    def __init__(self, found: FinishedAnswer, more: tuple[tuple[bytes, bytes], ...]) -> None:
        # The base class's constructor is not called, because it would encode all headers again for each request.
        self.status_code, self.body, self.background = found.status, found.body, None
        self.raw_headers = [*found.headers, *more]


def finish(
    answer: RestAnswer, version: tuple[tuple[bytes, bytes], ...], suffix: str, *, with_gzip: bool
) -> FinishedAnswer:
    """Return an answer ready to be sent.

    Args:
        answer: the answer. Its own headers take precedence, because an answer with asOf names its own version.
        version: the headers that name the version, encoded.
        suffix: the suffix of this incarnation's entity tags.
        with_gzip: whether the request accepts gzip.
    """
    body = answer.body
    is_compressed = with_gzip and is_worth_compressing(_content_type(answer), len(body))
    if is_compressed:
        body = compress(body)
    headers = _encoded(answer.headers, version, suffix, is_compressed)
    if answer.status not in _WITHOUT_BODY:
        headers = (*headers, (b"content-length", b"%d" % len(body)))
    return FinishedAnswer(answer.status, headers, body, answer.problem)


@lru_cache(maxsize=256)
def _encoded(
    own: tuple[tuple[str, str], ...],
    version: tuple[tuple[bytes, bytes], ...],
    suffix: str,
    is_compressed: bool,
) -> tuple[tuple[bytes, bytes], ...]:
    """Return all headers except the length of the body; answers from a version have few different ones."""
    headers = {name.lower(): value for name, value in own}
    if is_compressed:
        headers["content-encoding"] = "gzip"
    headers.setdefault("cache-control", "no-cache")  # clients may cache the answer, but must revalidate it
    vary = headers.get("vary")
    headers["vary"] = f"{vary}, Accept-Encoding" if vary else "Accept-Encoding"
    if "etag" in headers:
        headers["etag"] = with_suffix(headers["etag"], suffix, compressed=is_compressed)
    return tuple((dict(version) | raw_headers(headers)).items())


def _content_type(answer: RestAnswer) -> str:
    return next((value for name, value in answer.headers if name.lower() == "content-type"), "")
